"""Whole-number noise: two-sided geometric (discrete Laplace) and discrete Gaussian.

Claim. P(k) ~ exp(-|k| / scale), and P(k) ~ exp(-k^2 / (2 scale^2)), over all whole numbers k. The first added to counts
of L1 sensitivity D is D/scale-DP; the second for L2 sensitivity D is D^2 / (2 scale^2)-zCDP.

A secure source leaves the draws to OpenDP, whose samplers are exact (rational arithmetic, its own system entropy); about
100,000 a second. A seeded source cannot steer them: drafts use the same laws computed in doubles.
- Two-sided geometric: the difference of two draws of floor(scale * E), E exponential, each of which is k or more with
  probability exp(-k / scale).
- Discrete Gaussian: Canonne et al. 2020, Algorithm 3: a two-sided geometric draw of whole scale t = floor(scale) + 1 is
  kept with probability exp(-(|k| - scale^2 / t)^2 / (2 scale^2)).
Values beyond 64 bits are cut to the ends of the range, which is post-processing.

OpenDP keeps these samplers behind its feature "contrib", a switch of the whole process. It is thrown while a sampler is
built and put back afterwards, so a program that never enabled the feature does not find it enabled.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.core.params import positive

from .source import Floats, Shape, Source, secure

Integers = npt.NDArray[np.int64]

_END = 2.0**63 - 1024  # the largest double within 64 bits
_switch = threading.Lock()


def geometric(size: Shape, scale: float, source: Source | None = None) -> Integers:
    """Draws of P(k) ~ exp(-|k| / scale); a new array of shape `size`.

    >>> from textveil.noise import seeded
    >>> geometric(3, 0.001, seeded(1))
    array([0, 0, 0])
    """
    scale = positive("scale", scale)
    source = source or secure()
    if source.seeded:
        return _as_integers(_draft_geometric(source, _count(size), scale), size)
    return _from_opendp("laplace", size, scale)


def discrete_gaussian(size: Shape, scale: float, source: Source | None = None) -> Integers:
    """Draws of P(k) ~ exp(-k^2 / (2 scale^2)); a new array of shape `size`.

    >>> from textveil.noise import seeded
    >>> discrete_gaussian((2, 2), 0.01, seeded(1)).tolist()
    [[0, 0], [0, 0]]
    """
    scale = positive("scale", scale)
    source = source or secure()
    if source.seeded:
        return _as_integers(_draft_gaussian(source, _count(size), scale), size)
    return _from_opendp("gaussian", size, scale)


def _draft_geometric(source: Source, count: int, scale: float) -> Floats:
    """Whole numbers, still as doubles: exact up to 2^53, and without overflow at huge scales."""
    steps = np.floor(source.exponentials((2, count)) * scale)
    return steps[0] - steps[1]


def _draft_gaussian(source: Source, count: int, scale: float) -> Floats:
    proposal = np.floor(scale) + 1.0
    kept = [np.empty(0)]
    missing = count
    while missing > 0:
        drawn = _draft_geometric(source, missing + missing // 2 + 16, proposal)
        excess = np.abs(drawn) / scale - scale / proposal
        kept.append(drawn[source.exponentials(len(drawn)) > excess**2 / 2][:missing])
        missing -= len(kept[-1])
    return np.concatenate(kept)


def _count(size: Shape) -> int:
    return math.prod(size) if isinstance(size, tuple) else size


def _as_integers(drawn: Floats, size: Shape) -> Integers:
    return np.clip(drawn, -_END, _END).astype(np.int64).reshape(size)


def _from_opendp(law: str, size: Shape, scale: float) -> Integers:
    zeros = np.zeros(size, np.int64)
    noised = _measurement(law, scale)(zeros.ravel().tolist())
    return np.array(noised, np.int64).reshape(zeros.shape)


def _measurement(law: str, scale: float) -> Any:
    """An OpenDP measurement that adds the noise to a list of whole numbers."""
    import opendp.prelude as dp

    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    with _contrib():
        if law == "laplace":
            return dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale)
        return dp.m.make_gaussian(domain, dp.l2_distance(T="i64"), scale)


@contextmanager
def _contrib() -> Iterator[None]:
    """OpenDP's feature "contrib", on for a moment; left on only if it was on before."""
    from opendp import mod

    with _switch:
        was_on = "contrib" in mod.GLOBAL_FEATURES
        mod.enable_features("contrib")
        try:
            yield
        finally:
            if not was_on:
                mod.disable_features("contrib")
