"""Private classification: train a classifier, and ask one that belongs to somebody else."""
