"""Attacks on TextHide: what the server sees, and what it gets from it."""
