"""Attacks on releases of the counts room, one file each."""
