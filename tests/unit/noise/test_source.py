"""The source: never the same stream twice unless a seed asks for it, grids as stated, integers without bias."""

from __future__ import annotations

import copy
import os
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from textveil.core.errors import BadParameter
from textveil.noise import Source, secure, seeded, source_for, streams
from textveil.noise.streams import POOL_WORDS

SOURCES = {"secure": secure, "seeded": lambda: seeded(11)}


@pytest.fixture(params=SOURCES)
def source(request) -> Source:
    return SOURCES[request.param]()


class FixedWords:
    """A stream that hands out the words it was given."""

    seeded = True

    def __init__(self, words):
        self.words = list(words)

    def fill(self, out):
        out[:] = np.array(self.words[: len(out)], np.uint64)
        del self.words[: len(out)]

    def spawn(self, n):
        return []


def shared_words(a, b) -> int:
    return len(set(a.tolist()) & set(b.tolist()))


def test_a_seed_repeats_and_is_a_draft():
    assert (seeded(5).words(100) == seeded(5).words(100)).all()
    assert shared_words(seeded(5).words(100), seeded(6).words(100)) == 0
    assert seeded(5).draft and seeded(5).seeded


def test_the_secure_source_neither_repeats_nor_is_a_draft():
    assert shared_words(secure().words(1000), secure().words(1000)) == 0
    assert not secure().draft and not secure().seeded


def test_source_for():
    assert not source_for(None).draft
    assert source_for(0).draft
    assert (source_for(9).words(3) == seeded(9).words(3)).all()


@pytest.mark.parametrize("seed", [True, False, 1.0, "1", -1, np.float64(3), [1]])
def test_seeds_are_whole_numbers(seed):
    with pytest.raises(BadParameter, match="seed must be"):
        seeded(seed)


def test_numpy_integers_are_seeds_too():
    assert (seeded(np.int64(4)).words(5) == seeded(4).words(5)).all()


def test_no_word_is_handed_out_twice_across_pool_borders(source):
    parts = [source.words(n) for n in (1, POOL_WORDS - 1, 3, 2 * POOL_WORDS, 0, 7, POOL_WORDS)]
    everything = np.concatenate(parts)
    assert len(np.unique(everything)) == len(everything)


def test_seeded_words_do_not_depend_on_how_they_are_asked_for():
    one, other = seeded(3), seeded(3)
    assert (one.words(30_000) == np.concatenate([other.words(n) for n in (1, 9_999, 20_000)])).all()


def test_the_cipher_is_aes_256_in_counter_mode(monkeypatch):
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    monkeypatch.setattr(streams.os, "urandom", lambda n: bytes(range(n)))
    encryptor = Cipher(algorithms.AES(bytes(range(32))), modes.CTR(bytes(16))).encryptor()
    expected = np.frombuffer(encryptor.update(bytes(8 * 3 * POOL_WORDS)), np.uint64)
    assert (secure().words(3 * POOL_WORDS) == expected).all()


def test_the_key_is_renewed(monkeypatch):
    keys = []
    true_urandom = os.urandom
    monkeypatch.setattr(streams.os, "urandom", lambda n: keys.append(n) or true_urandom(n))
    monkeypatch.setattr(streams, "_REFILLS_PER_KEY", 2)
    words = secure().words(5 * POOL_WORDS)
    assert keys == [32, 32, 32]
    assert len(np.unique(words)) == len(words)


def test_works_without_the_cipher_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers", None)
    drawn = []
    true_urandom = os.urandom
    monkeypatch.setattr(streams.os, "urandom", lambda n: drawn.append(n) or true_urandom(n))
    words = secure().words(2 * POOL_WORDS)
    assert len(np.unique(words)) == len(words)
    assert drawn == [8 * POOL_WORDS] * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_draws_its_own_stream():
    source = secure()
    source.words(10)  # the parent's pool now holds words that are still to come
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, source.words(100).tobytes())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        theirs = np.frombuffer(pipe.read(), np.uint64)
    os.waitpid(child, 0)
    assert len(theirs) == 100
    assert shared_words(theirs, source.words(200)) == 0


def test_a_process_id_that_comes_back_is_noticed(monkeypatch):
    source = secure()
    source.words(10)
    waiting = source._stream._pool._words.copy()
    streams._count_fork()  # what the system calls in a child, whatever its process id
    assert shared_words(waiting, source.words(POOL_WORDS)) == 0


def test_threads_never_share_words():
    source = secure()
    start = threading.Barrier(4)

    def draw(_):
        start.wait()
        return np.concatenate([source.words(37) for _ in range(500)])

    with ThreadPoolExecutor(4) as pool:
        words = np.concatenate(list(pool.map(draw, range(4))))
    assert len(np.unique(words)) == len(words)


@pytest.mark.parametrize("duplicate", [lambda s: pickle.loads(pickle.dumps(s)), copy.copy, copy.deepcopy])
def test_a_copy_of_a_secure_source_has_its_own_key(duplicate):
    source = secure()
    source.words(10)
    twin = duplicate(source)
    assert not twin.seeded
    if duplicate is not copy.copy:  # a shallow copy is a second name of the same stream, which moves on for both
        assert twin._stream is not source._stream
    assert shared_words(twin.words(1000), source.words(1000)) == 0


def test_a_pickled_seeded_source_goes_on_where_it_was():
    source = seeded(8)
    source.words(5)
    twin = pickle.loads(pickle.dumps(source))
    assert twin.seeded
    assert (twin.words(10) == source.words(10)).all()


def test_children_are_independent_of_each_other_and_of_the_parent(source):
    first, second, third = source.spawn(2) + source.spawn(1)
    drawn = np.concatenate([s.words(500) for s in (source, first, second, third)])
    assert len(np.unique(drawn)) == len(drawn)
    assert first.seeded is source.seeded


def test_children_of_a_seed_repeat():
    assert (seeded(2).spawn(3)[1].words(9) == seeded(2).spawn(3)[1].words(9)).all()


def test_nothing_of_the_key_or_seed_is_shown():
    source = secure()
    source.words(1)
    assert repr(source) == "Source(secure)"
    assert repr(seeded(123456)) == "Source(seeded)"


EXTREMES = [0, 1, 2**11, 2**12, 2**63, 2**64 - 2**11, 2**64 - 1]


def test_uniforms_at_the_ends():
    drawn = Source(FixedWords([0, 2**64 - 1])).uniforms(2)
    assert drawn.tolist() == [0.0, 1 - 2.0**-53]


def test_open_uniforms_at_the_ends():
    drawn = Source(FixedWords([0, 2**64 - 1])).open_uniforms(2)
    assert drawn.tolist() == [2.0**-53, 1 - 2.0**-53]


def test_uniforms_are_on_their_grids(source):
    closed, open_ = source.uniforms(10_000) * 2.0**53, source.open_uniforms(10_000) * 2.0**53
    assert (closed == np.floor(closed)).all()
    assert (open_ % 2 == 1).all()


def test_exponentials_and_normals_are_finite_at_the_ends():
    for first in EXTREMES:
        for second in EXTREMES:
            assert (Source(FixedWords([first, second])).exponentials(2) > 0).all()
            for dtype in ("float32", "float64"):
                assert np.isfinite(Source(FixedWords([first, second])).normals(2, dtype)).all()


@pytest.mark.parametrize("shape", [0, 1, 5, (3, 7), (0, 4), (), (POOL_WORDS + 1,)])
@pytest.mark.parametrize("draw", ["uniforms", "open_uniforms", "exponentials", "normals"])
def test_shapes(source, shape, draw):
    drawn = getattr(source, draw)(shape)
    assert drawn.shape == (shape if isinstance(shape, tuple) else (shape,))
    assert drawn.dtype == np.float64


def test_normals_of_either_precision_are_the_same_draws():
    single, double = seeded(1).normals((100, 3), np.float32), seeded(1).normals((100, 3))
    assert single.dtype == np.float32
    assert np.allclose(single, double, atol=2e-6)


def test_below_rejects_exactly_the_incomplete_round():
    """2^64 = 3 * 6148914691236517205 + 1: only the word 0 would make the value 0 too likely."""
    drawn = Source(FixedWords([0, 1, 2, 3, 2**64 - 1])).below(3, 4)
    assert drawn.tolist() == [(2**64 - 1) % 3, 1, 2, 0]


def test_below_a_power_of_two_rejects_nothing():
    assert Source(FixedWords([0, 7, 9])).below(8, 3).tolist() == [0, 7, 1]


def test_below_with_many_bounds(source):
    bounds = np.array([[1, 2, 3], [10, 2**40, 2**63 - 1]])
    drawn = source.below(bounds, (2, 3))
    assert drawn.dtype == np.int64
    assert ((drawn >= 0) & (drawn < bounds)).all()
    assert source.below(np.array([1, 5]), (1000, 2))[:, 0].max() == 0


@pytest.mark.parametrize("bound", [0, -1, 2**63, 2.5, np.array([3, 0]), True])
def test_below_refuses_other_bounds(source, bound):
    with pytest.raises(BadParameter, match="bound must be"):
        source.below(bound, 2)


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_permutations_hold_everything_once(source, n):
    assert sorted(source.permutation(n).tolist()) == list(range(n))


def test_equal_words_are_drawn_again_for_a_permutation():
    assert Source(FixedWords([5, 5, 1, 9, 4, 2])).permutation(3).tolist() == [2, 1, 0]
