"""Attacks and what they find. Nothing is imported here: the card needs `attacks.evidence` and nothing else."""
