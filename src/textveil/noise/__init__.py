"""Randomness: a secure source by default, a seeded one for drafts, and the samplers of the mechanisms."""

from .source import Source, secure, seeded, source_for

__all__ = ["Source", "secure", "seeded", "source_for"]
