"""Attacks on releases of the words room, one file each."""
