"""Word vectors: the public points between which word mechanisms measure distance.

A metric is its name and the fingerprint of the vectors it is measured on, so everything that decides a distance is
part of `Vectors` and of its fingerprint: the words, the float32 matrix exactly as used (after any quantisation), and
the public vector that stands for every word outside the vocabulary.

Rules:
- The vector for unknown words is the one the file gives, else the mean of all vectors (summed in float64).
- The prior is a public law over the words: the one the file gives, else uniform. Nothing private enters it.
- A zero vector is refused, because it has no direction and cosine has no meaning for it; `allow_zero=True` admits it
  for purely Euclidean use.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from textveil.core.errors import BadInput, BadParameter
from textveil.text.codes import Codes
from textveil.text.vocabulary import Vocabulary

_LANGUAGE = re.compile(r"(?=.{1,40}\Z)[A-Za-z]+(?:-[A-Za-z0-9]+)*")
DEFAULT = Path(__file__).parent / "default" / "english.tvv"


@dataclass(frozen=True, eq=False)
class Vectors:
    """Words and their vectors; all arrays are read-only. Build with `load` or `from_arrays`."""

    words: Vocabulary
    matrix: np.ndarray
    fallback: np.ndarray
    prior: np.ndarray
    codes: Codes | None = None
    name: str = "arrays"
    language: str = ""  # of the words, as whoever built the file named it; empty: not stated

    @property
    def dimensions(self) -> int:
        return self.matrix.shape[1]

    @cached_property
    def fingerprint(self) -> str:
        """Names this metric space; equal after any save and load that keeps the float32 values."""
        digest = hashlib.blake2b(f"textveil vectors {self.dimensions}\n".encode(), digest_size=16)
        digest.update(self.words.encode())
        for part in (self.matrix.astype("<f4", copy=False), self.fallback.astype("<f4")):
            digest.update(part.data)
        return digest.hexdigest()

    def index(self, word: str) -> int | None:
        """The word's row, or None.

        >>> from_arrays(["left", "right"], [[-1.0], [1.0]]).index("right")
        1
        """
        return self.words.index(word)

    def vector(self, word: str) -> np.ndarray:
        """The word's vector; the public fallback when it is unknown."""
        row = self.index(word)
        return self.fallback if row is None else self.matrix[row]

    def head(self, count: int) -> Vectors:
        """The first `count` words (the most frequent, in the usual files). It is a metric space of its own."""
        if count >= len(self):
            return self
        if count < 1:
            raise BadParameter("limit", count, "a whole number above 0")
        words = Vocabulary(list(self.words)[:count])
        codes = (
            None
            if self.codes is None
            else Codes.from_packed(words, self.codes.words64[:count], self.codes.bits, self.codes.fallback)
        )
        prior = frozen(self.prior[:count] / self.prior[:count].sum())
        return Vectors(words, self.matrix[:count], self.fallback, prior, codes, self.name, self.language)

    def with_codes(self, codes: Codes) -> Vectors:
        """The same vectors with binary codes for the same words."""
        if codes.words != self.words:
            raise BadInput("the codes belong to other words than the vectors")
        return replace(self, codes=codes)

    def in_language(self, language: str) -> Vectors:
        """The same vectors, named as those of a language. The name says nothing about distances, so the metric stays.

        >>> from_arrays(["links"], [[1.0]]).in_language("de").language
        'de'
        """
        if not _LANGUAGE.fullmatch(language):
            raise BadParameter("language", language, "a name such as german or de-CH: letters and hyphens, up to 40")
        return replace(self, language=language)

    def save(self, path: str | os.PathLike[str], *, dtype: str = "float32") -> None:
        """Write `.tvv` (memory-mapped; dtype float32, float16 or int8) or `.npz`. Only float32 keeps the fingerprint
        of any matrix; a narrower type rounds, and what is loaded back is a metric space of its own."""
        from textveil.text import store, vector_files

        if Path(path).suffix == ".npz":
            if dtype != "float32":
                raise BadParameter("dtype", dtype, "float32 for .npz files")
            vector_files.write_npz(path, self)
        elif Path(path).suffix == ".tvv":
            store.write_vectors(path, self, dtype)
        else:
            raise BadInput("cannot be written: unknown extension", where=path, possible=".tvv, .npz")

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Vectors({self.name}: {len(self)} words, {self.dimensions} dimensions, {self.fingerprint})"


def load(
    source: str | os.PathLike[str] = "default",
    *,
    limit: int | None = None,
    allow_zero: bool = False,
    verify: bool = True,
) -> Vectors:
    """The bundled English vectors ("default") or a file.

    Files: GloVe text, word2vec text or fastText (`.txt`, `.vec`, also `.gz`), `.npz` (arrays `words` and `matrix` or
    `vectors`), `.tvv` (our memory-mapped store). `limit` keeps the first words; files list the most frequent first.
    `verify=False` leaves the mapped part of a `.tvv` file unread until it is used.
    """
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise BadParameter("limit", limit, "a whole number above 0")
    if source == "default":
        vectors = _default()
        return vectors if limit is None else vectors.head(limit)
    from textveil.text import vector_files

    return vector_files.read(Path(source), limit=limit, allow_zero=allow_zero, verify=verify)


@lru_cache(maxsize=1)
def _default() -> Vectors:
    from textveil.text import store

    return store.read_vectors(DEFAULT).in_language("english")


def from_arrays(
    words: Iterable[str] | Vocabulary,
    matrix: np.ndarray | list[list[float]],
    codes: Codes | np.ndarray | None = None,
    prior: np.ndarray | list[float] | None = None,
    *,
    fallback: np.ndarray | list[float] | None = None,
    name: str = "arrays",
    allow_zero: bool = False,
    where: object = None,
    first_line: int | None = None,
) -> Vectors:
    """Vectors from arrays, checked and copied. `codes`: a `Codes`, or packed uint64 of shape (words, bits / 64).

    `where` and `first_line` name the file and the line of the first vector in error messages.

    >>> v = from_arrays(["left", "right"], [[-1.0, 1.0], [3.0, 1.0]])
    >>> v.fallback.tolist(), v.prior.tolist(), v.fingerprint == from_arrays(["left", "right"], v.matrix).fingerprint
    ([1.0, 1.0], [0.5, 0.5], True)
    """
    words = words if isinstance(words, Vocabulary) else Vocabulary(words, where=where)
    matrix = np.array(matrix, dtype=np.float32, order="C")
    if matrix.ndim != 2 or len(matrix) != len(words) or matrix.shape[1] == 0:
        raise BadInput(f"{len(words)} words need a matrix of {len(words)} rows, not shape {matrix.shape}", where=where)
    check_rows(matrix, allow_zero=allow_zero, where=where, first_line=first_line)
    if codes is not None and not isinstance(codes, Codes):
        codes = np.asarray(codes)
        codes = Codes.from_packed(words, codes, 64 * codes.shape[-1], where=where)
    vectors = Vectors(
        words=words,
        matrix=frozen(matrix),
        fallback=_fallback(matrix, fallback, where),
        prior=_prior(len(words), prior, where),
        name=name,
    )
    return vectors if codes is None else vectors.with_codes(codes)


def check_rows(matrix: np.ndarray, *, allow_zero: bool, where: object = None, first_line: int | None = None) -> None:
    """Refuse the first vector that is not finite, or is zero."""
    for start in range(0, len(matrix), 8192):
        part = matrix[start : start + 8192]
        finite = np.isfinite(part).all(axis=1)
        zero = np.logical_and(~np.any(part, axis=1), not allow_zero)
        bad = np.flatnonzero(~finite | zero)
        if len(bad):
            row = start + int(bad[0])
            what = "is a zero vector, which has no direction" if zero[bad[0]] else "holds a value that is not finite"
            line = None if first_line is None else first_line + row
            raise BadInput(what if line else f"row {row} of the matrix {what}", where=where, line=line)


def frozen(array: np.ndarray) -> np.ndarray:
    """The array, marked read-only."""
    array.flags.writeable = False
    return array


def _fallback(matrix: np.ndarray, given: np.ndarray | list[float] | None, where: object) -> np.ndarray:
    if given is None:
        return frozen((matrix.sum(axis=0, dtype=np.float64) / len(matrix)).astype(np.float32))
    vector = np.array(given, dtype=np.float32)
    if vector.shape != (matrix.shape[1],) or not np.isfinite(vector).all():
        raise BadInput(f"the vector for unknown words must be {matrix.shape[1]} finite numbers", where=where)
    return frozen(vector)


def _prior(count: int, given: np.ndarray | list[float] | None, where: object) -> np.ndarray:
    if given is None:
        return frozen(np.full(count, 1.0 / count))
    prior = np.array(given, dtype=np.float64)
    if prior.shape != (count,) or not np.isfinite(prior).all() or prior.min() < 0 or prior.sum() <= 0:
        raise BadInput(f"the prior must be {count} finite numbers, none negative, not all zero", where=where)
    total = prior.sum()
    return frozen(prior if abs(total - 1) < 1e-12 else prior / total)  # a prior that was saved comes back unchanged


def zipf_prior(count: int, *, exponent: float = 1.0, shift: float = 2.7) -> np.ndarray:
    """Zipf-Mandelbrot odds by rank: proportional to 1 / (rank + shift) ** exponent, rank from 1. The constants are the
    usual textbook fit for English; they are public and say nothing about a user's text.

    >>> p = zipf_prior(1000)
    >>> round(float(p.sum()), 9), bool(p[0] > p[1] > p[999])
    (1.0, True)
    """
    odds = (np.arange(1, count + 1) + shift) ** -exponent
    return odds / odds.sum()
