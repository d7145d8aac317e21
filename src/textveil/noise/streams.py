"""Where random words come from: a cryptographic generator keyed by the operating system, or a seed (drafts only).

Claim. Whoever sees the noise of a release learns nothing about any other noise, past or future, unless AES-256 is broken.
How. A 256-bit key from `os.urandom` drives AES-256 in counter mode; its output on zeros is the stream. The key is renewed
after 2^32 blocks, which keeps the distance between a permutation and a random function below 2^-64.
A stream is never used twice: each thread has a key of its own (two threads cannot be handed the same words), and a process
that was forked notices and draws a new key. Copies and pickles of a secure stream carry no key: they draw their own.
Where the package `cryptography` is absent, every word comes from `os.urandom` directly: slower, as safe.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

Words = np.ndarray[Any, np.dtype[np.uint64]]
Fill = Callable[[bytearray], None]

POOL_WORDS = 8192  # 64 KB: stays in the first or second cache
_POOL_BYTES = 8 * POOL_WORDS
_SPARE = 15  # older releases of `cryptography` ask for one block of room beyond the data
_REFILLS_PER_KEY = 2**32 * 16 // _POOL_BYTES
_ZEROS = bytes(_POOL_BYTES)

_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def _life() -> tuple[int, int]:
    """Changes in every forked process, even if the system hands out an old process id again."""
    return os.getpid(), _forks


class Stream(Protocol):
    """An endless supply of uniform 64-bit words."""

    seeded: bool

    def fill(self, out: Words) -> None: ...

    def spawn(self, n: int) -> list[Any]: ...


class SecureStream:
    """Words that nobody can predict or repeat."""

    seeded = False

    def __init__(self) -> None:
        self._pool = _Pool()

    def fill(self, out: Words) -> None:
        """Overwrite a one-dimensional array with fresh words."""
        self._pool.fill(out)

    def spawn(self, n: int) -> list[SecureStream]:
        return [SecureStream() for _ in range(n)]

    def __reduce__(self) -> tuple[type[SecureStream], tuple[()]]:
        return SecureStream, ()


class SeededStream:
    """Words that can be repeated by whoever knows the seed: for drafts and tests, never for a release."""

    seeded = True

    def __init__(self, seed: int | np.random.SeedSequence) -> None:
        self._sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
        self._generator = np.random.PCG64(self._sequence)

    def fill(self, out: Words) -> None:
        out[:] = self._generator.random_raw(len(out))

    def spawn(self, n: int) -> list[SeededStream]:
        return [SeededStream(child) for child in self._sequence.spawn(n)]


class _Pool(threading.local):
    """One thread's words in waiting. `threading.local` calls `__init__` anew in each thread that uses the pool."""

    def __init__(self) -> None:
        self._life: tuple[int, int] | None = None
        self._at = POOL_WORDS

    def fill(self, out: Words) -> None:
        if self._life != _life():
            self._begin()
        done = 0
        while done < len(out):
            if self._at == POOL_WORDS:
                self._refill()
            take = min(POOL_WORDS - self._at, len(out) - done)
            out[done : done + take] = self._words[self._at : self._at + take]
            self._at += take
            done += take

    def _begin(self) -> None:
        """Forget every waiting word and the key: they may belong to another process as well."""
        self._bytes = bytearray(_POOL_BYTES + _SPARE)
        self._words: Words = np.frombuffer(self._bytes, np.uint64, POOL_WORDS)
        self._at, self._left = POOL_WORDS, 0
        self._life = _life()

    def _refill(self) -> None:
        if self._left == 0:
            self._draw, self._left = _new_key(), _REFILLS_PER_KEY
        self._draw(self._bytes)
        self._left -= 1
        self._at = 0


def _new_key() -> Fill:
    """A function that overwrites the first bytes of a buffer with the next ones of a fresh random stream."""
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        return _from_system
    encryptor = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(bytes(16))).encryptor()

    def encrypt_zeros(buffer: bytearray) -> None:
        encryptor.update_into(_ZEROS, buffer)

    return encrypt_zeros


def _from_system(buffer: bytearray) -> None:
    buffer[:_POOL_BYTES] = os.urandom(_POOL_BYTES)
