"""Paper 09: Hathurusinghe, Nejadgholi, Bolic 2021, "A Privacy-Preserving Approach to Extraction of Personal
Information"."""
