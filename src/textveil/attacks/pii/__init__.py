"""Attacks on masked text: what is left of a person when the masks are on."""
