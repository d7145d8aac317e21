"""Attacks on releases of the hashed room, one file each."""
