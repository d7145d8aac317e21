"""Paper 10: translations in pieces."""
