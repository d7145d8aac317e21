"""Attacks on releases of the training room, one file each."""
