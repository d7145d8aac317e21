"""Randomness that everybody may know: groups drawn at random, starting points of a clustering, a projection.

It hides nothing, and it is published with the release (groups.npz), so it is no noise: it is drawn before the private counts
are looked at and never from the source of the noise, which a mechanism gets as the argument `noise`.
"""

from __future__ import annotations

from textveil.noise import Source, secure, seeded


def public_source(seed: int | None) -> Source:
    """A source for public choices: fresh ones, or those of a seed that makes them repeatable."""
    return secure() if seed is None else seeded(seed)
