"""Masking: what stands in the place of a recognised value, and the secrets that make it consistent and reversible."""
