"""Attacks on fragments: how much of the sentences can be put together again."""
