"""The source of all randomness: uniform words turned into uniforms, normals, exponentials, integers, permutations.

`secure()` is the default everywhere; `seeded(seed)` repeats itself and therefore marks whatever it touches as a draft.
Numbers are made in blocks that stay in the processor's cache. Floating-point samples live on a grid (uniforms are
multiples of 2^-53), so events rarer than that never occur: mechanisms say so, and release choices rather than floats.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.core.errors import BadParameter

from .streams import POOL_WORDS, SecureStream, SeededStream, Stream, Words

Shape = int | tuple[int, ...]
Floats = npt.NDArray[np.float64]

_BLOCK = POOL_WORDS


class Source:
    """Uniform words and what can be made of them.

    >>> noise = seeded(7)
    >>> noise
    Source(seeded)
    >>> float(noise.uniforms(3).max()) < 1
    True
    >>> sorted(noise.permutation(4).tolist())
    [0, 1, 2, 3]
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    @property
    def seeded(self) -> bool:
        """Whether somebody who knows the seed could repeat every draw."""
        return self._stream.seeded

    @property
    def draft(self) -> bool:
        """What a seeded source makes is a draft, never a release."""
        return self.seeded

    def __repr__(self) -> str:
        return f"Source({'seeded' if self.seeded else 'secure'})"

    def spawn(self, n: int) -> list[Source]:
        """Independent children: fresh keys, or child seeds of the seed (other ones at every call)."""
        return [Source(stream) for stream in self._stream.spawn(n)]

    def fill(self, out: Words) -> None:
        """Overwrite a one-dimensional array of words, for those who work in blocks of their own."""
        self._stream.fill(out)

    def words(self, n: int) -> Words:
        """`n` uniform 64-bit words."""
        out: Words = np.empty(n, np.uint64)
        self._stream.fill(out)
        return out

    def uniforms(self, shape: Shape) -> Floats:
        """Uniform on the multiples of 2^-53 in [0, 1)."""
        return self._in_blocks(shape, _to_uniforms)

    def open_uniforms(self, shape: Shape) -> Floats:
        """Uniform on the odd multiples of 2^-53 in (0, 1): never 0, never 1, symmetric about 1/2."""
        return self._in_blocks(shape, _to_open_uniforms)

    def exponentials(self, shape: Shape) -> Floats:
        """Density exp(-x), x > 0."""
        return self._in_blocks(shape, _to_exponentials)

    def normals(self, shape: Shape, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
        """Standard normal, by Box and Muller; in single precision only the angle is (the tails come from doubles)."""
        return self._in_blocks(shape, partial(_to_normals, angles=np.dtype(dtype)), dtype)

    def below(self, bound: int | npt.NDArray[np.integer[Any]], size: Shape) -> npt.NDArray[np.int64]:
        """Uniform on 0 .. bound-1, without bias; `bound` is one number or an array that broadcasts to `size`.

        A word is kept if it is at least 2^64 mod bound: what remains is a whole number of rounds of `bound` values.

        >>> int(seeded(1).below(1, 5).sum())
        0
        """
        bounds = np.broadcast_to(_checked_bound(bound), size).ravel()
        lowest = (np.uint64(0) - bounds) % bounds  # 2^64 mod bound, in arithmetic modulo 2^64
        drawn = self.words(len(bounds))
        while len(again := np.flatnonzero(drawn < lowest)):
            drawn[again] = self.words(len(again))
        return (drawn % bounds).astype(np.int64).reshape(size)

    def permutation(self, n: int) -> npt.NDArray[np.int64]:
        """A uniform order of 0 .. n-1: the order of distinct random words (equal words would favour one order)."""
        while True:
            keys = self.words(n)
            order = np.argsort(keys)
            ranked = keys[order]
            if not (ranked[1:] == ranked[:-1]).any():
                return order.astype(np.int64, copy=False)

    def _in_blocks(
        self, shape: Shape, convert: Callable[[Words, Floats], None], dtype: npt.DTypeLike = np.float64
    ) -> npt.NDArray[Any]:
        out = np.empty(shape, dtype)
        flat = out.reshape(-1)
        words: Words = np.empty(_BLOCK, np.uint64)
        values = np.empty(_BLOCK)
        for start in range(0, flat.size, _BLOCK):
            count = min(_BLOCK, flat.size - start)
            even = count + count % 2  # normals come in pairs
            self._stream.fill(words[:even])
            convert(words[:even], values[:even])
            flat[start : start + count] = values[:count]
        return out


def secure() -> Source:
    """The default: keyed by the operating system, cryptographic, different in every process and thread.

    >>> secure()
    Source(secure)
    """
    return Source(SecureStream())


def seeded(seed: int) -> Source:
    """A source that repeats itself, for drafts and tests.

    >>> bool((seeded(3).words(4) == seeded(3).words(4)).all())
    True
    """
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or seed < 0:
        raise BadParameter("seed", seed, "a whole number of 0 or more")
    return Source(SeededStream(int(seed)))


def source_for(seed: int | None) -> Source:
    """The source behind a `seed` parameter: None is secure, any number makes a draft."""
    return secure() if seed is None else seeded(seed)


def _to_uniforms(words: Words, out: Floats) -> None:
    words >>= np.uint64(11)
    np.multiply(words.view(np.int64), 2.0**-53, out=out)


def _to_open_uniforms(words: Words, out: Floats) -> None:
    words >>= np.uint64(12)  # 52 bits, so that adding a half is exact
    np.add(words.view(np.int64), 0.5, out=out)
    out *= 2.0**-52


def _to_exponentials(words: Words, out: Floats) -> None:
    _to_open_uniforms(words, out)
    np.log(out, out=out)
    np.negative(out, out=out)


def _to_normals(words: Words, out: Floats, angles: np.dtype[Any]) -> None:
    """Box and Muller: with R^2 / 2 exponential and a uniform angle, R cos and R sin are independent standard normals."""
    half = len(words) // 2
    _to_open_uniforms(words, out)
    radius = np.sqrt(-2.0 * np.log(out[:half]))
    angle = ((2.0 * math.pi) * out[half:]).astype(angles)
    np.multiply(radius, np.cos(angle), out=out[:half])
    np.multiply(radius, np.sin(angle), out=out[half:])


def _checked_bound(bound: int | npt.NDArray[np.integer[Any]]) -> Words:
    bounds = np.asarray(bound)
    if bounds.dtype.kind not in "iu" or (bounds.size and not 1 <= bounds.min() <= bounds.max() <= 2**63 - 1):
        raise BadParameter("bound", bound, "whole numbers from 1 to 2^63 - 1")
    return bounds.astype(np.uint64)
