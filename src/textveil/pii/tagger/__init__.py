"""Taggers: a hashed chain that needs no torch, and networks; trained on spans, with what is known of their noise."""
