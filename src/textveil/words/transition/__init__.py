"""Whole transition matrices of word mechanisms, where they can be written down, and the largest ratio in them."""
