"""Attacks on private classification: on what a party sees, and on the model through its labels."""
