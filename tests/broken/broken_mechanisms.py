"""Word mechanisms with one fault each, and sound twins without it. Every fault is one that is easily made.

They share a base that is sound: `SoundWords` (noise on vectors) and `SoundBits` (flipped bits) pass all laws, so that it is
the fault, and nothing else, that the suite finds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from textveil.core import Adjacency, Event, MetricNoise, Shape, Unit
from textveil.core.params import positive
from textveil.noise import Source, seeded
from textveil.noise.bits import flip
from textveil.noise.multivariate import gamma, laplace
from textveil.text import tokens
from textveil.words.mechanism import WordMechanism

# ---- words as vectors ----------------------------------------------------------------------------------------------


class SoundWords(WordMechanism):
    """The nearest word to a vector with Laplace noise, by a tree; ties are drawn."""

    name = "sound.words"
    metric = "euclidean"
    source = "Feyisetan et al. 2020"
    rounding = "only words leave"

    def __init__(
        self,
        epsilon: float = 2.0,
        *,
        vectors: Any = None,
        oov: str = "draw",
        keep: Iterable[str] = (),
        case: str = "keep",
        seed: int | None = None,
    ):
        self.epsilon, self.vectors, self.oov, self.keep, self.case, self.seed = epsilon, vectors, oov, keep, case, seed

    def _prepare(self) -> None:
        self.points = np.vstack([self.vectors_.matrix, self.vectors_.fallback[None]]).astype(np.float64)
        places, group = np.unique(self.points[:-1], axis=0, return_inverse=True)
        group = group.reshape(-1)
        self.tree, self.sizes = cKDTree(places), np.bincount(group)
        self.members, self.starts = np.argsort(group, kind="stable"), np.cumsum(self.sizes) - self.sizes

    def diameter(self) -> float:
        return 2 * float(np.linalg.norm(self.points - self.points.mean(axis=0), axis=1).max())

    def shift(self, noise: Source, count: int, dimension: int) -> np.ndarray:
        return laplace(noise, count, dimension, self.epsilon, np.float64)

    def nearest(self, points: np.ndarray, noise: Source) -> np.ndarray:
        group = self.tree.query(points)[1]
        return self.members[self.starts[group] + noise.below(self.sizes[group], len(group))]

    def _draw(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        return self.nearest(self.points[rows] + self.shift(noise, len(rows), self.points.shape[1]), noise)


class InputExcluded(SoundWords):
    """Paper-mode Vickrey: never the word itself."""

    name = "broken.input_excluded"

    def _draw(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        noised = self.points[rows] + self.shift(noise, len(rows), self.points.shape[1])
        near = cKDTree(self.points[:-1]).query(noised, k=2)[1]
        return np.where(near[:, 0] == rows, near[:, 1], near[:, 0])


class LaplacePerCoordinate(SoundWords):
    """One Laplace draw per coordinate, which protects the L1 distance, with a promise in L2."""

    name = "broken.laplace_per_coordinate"

    def shift(self, noise: Source, count: int, dimension: int) -> np.ndarray:
        return (noise.exponentials((count, dimension)) - noise.exponentials((count, dimension))) / self.epsilon


class GammaShape(SoundWords):
    """A radius of another shape than the dimension."""

    def shape_for(self, dimension: int) -> int:
        raise AssertionError("named by the subclass")

    def shift(self, noise: Source, count: int, dimension: int) -> np.ndarray:
        direction = noise.normals((count, dimension))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        return direction * (gamma(noise, count, self.shape_for(dimension)) / self.epsilon)[:, None]


class ShapeOffByOne(GammaShape):
    name = "broken.shape_off_by_one"

    def shape_for(self, dimension: int) -> int:
        return max(1, dimension - 1)


class ShapeOne(GammaShape):
    name = "broken.shape_one"

    def shape_for(self, dimension: int) -> int:
        return 1


class ShapeTwo(GammaShape):
    """Right in two dimensions only."""

    name = "broken.shape_two"

    def shape_for(self, dimension: int) -> int:
        return min(2, dimension)


class HalfTheNoise(SoundWords):
    name = "broken.half_the_noise"

    def shift(self, noise: Source, count: int, dimension: int) -> np.ndarray:
        return super().shift(noise, count, dimension) / 2


class NoNoiseAboveTwenty(SoundWords):
    """Epsilon is taken for "as good as infinite" above a threshold."""

    name = "broken.no_noise_above_twenty"

    def _draw(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        if self.epsilon > 20:
            return self.nearest(self.points[rows], noise)
        return super()._draw(rows, noise)


class EpsilonFloor(SoundWords):
    """Below a floor, epsilon no longer adds noise."""

    name = "broken.epsilon_floor"

    def shift(self, noise: Source, count: int, dimension: int) -> np.ndarray:
        return laplace(noise, count, dimension, max(self.epsilon, 0.09), np.float64)


class NoiseNeverShrinks(SoundWords):
    name = "broken.noise_never_shrinks"

    def shift(self, noise: Source, count: int, dimension: int) -> np.ndarray:
        return laplace(noise, count, dimension, min(self.epsilon, 1.0), np.float64)


class SeedReused(SoundWords):
    """Every call draws with the same seed."""

    name = "broken.seed_reused"

    def apply(self, data: Iterable[str], *, noise: Source) -> list[str]:
        return super().apply(data, noise=seeded(7))


class SeedReusedPerBatch(SoundWords):
    """A seed from the source, used again for each batch (as workers do that are all sent the same one)."""

    name = "broken.seed_reused_per_batch"

    def draw(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        seed = int(noise.words(1)[0])
        batches = (rows[i : i + 4096] for i in range(0, len(rows), 4096))
        return np.concatenate([np.empty(0, np.int64), *(self._draw(batch, seeded(seed)) for batch in batches)])


class DrawnOncePerWord(SoundWords):
    """A cache of substitutes: all occurrences of a word share one draw, at the price of one."""

    name = "broken.drawn_once_per_word"

    def draw(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        distinct, which = np.unique(rows, return_inverse=True)
        return super().draw(distinct, noise)[which]


class GlobalNoise(SoundWords):
    name = "broken.global_noise"

    def shift(self, noise: Source, count: int, dimension: int) -> np.ndarray:
        direction = np.random.standard_normal((count, dimension))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        return direction * np.random.gamma(dimension, 1 / self.epsilon, (count, 1))


class OwnNoise(SoundWords):
    """A generator of its own, keyed by the system: good noise, but not from the source it was given."""

    name = "broken.own_noise"

    def apply(self, data: Iterable[str], *, noise: Source) -> list[str]:
        return super().apply(data, noise=seeded(int(np.random.default_rng().integers(2**32))))


class UnknownPasses(SoundWords):
    name = "broken.unknown_passes"

    def apply(self, data: Iterable[str], *, noise: Source) -> list[str]:
        data = list(data)
        self.kept_ = frozenset(tokens.fold(w) for text in data for w in tokens.words(text)) - set(self.rows_)
        try:
            return super().apply(data, noise=noise)
        finally:
            self.kept_ = frozenset()


class UnknownBySpelling(SoundWords):
    """Unknown words start from a vocabulary row that depends on their letters."""

    name = "broken.unknown_by_spelling"

    def apply(self, data: Iterable[str], *, noise: Source) -> list[str]:
        known = list(self.rows_)
        return super().apply([self._respell(text, known) for text in data], noise=noise)

    def _respell(self, text: str, known: list[str]) -> str:
        pieces, places = tokens.split(text)
        for place in places:
            word = tokens.fold(pieces[place])
            if word not in self.rows_:
                pieces[place] = known[sum(map(ord, word)) % len(known)]
        return "".join(pieces)


class SecretlyKeeps(SoundWords):
    """A built-in list of stop words that nobody is told about."""

    name = "broken.secretly_keeps"

    def _choose(self) -> None:
        super()._choose()
        self.kept_ = frozenset({"the", "and"})

    def assumes(self) -> tuple[str, ...]:
        return (self.rounding,)


class EditsInPlace(SoundWords):
    name = "broken.edits_in_place"

    def apply(self, data: Any, *, noise: Source) -> list[str]:
        out = super().apply(data, noise=noise)
        data[:] = out
        return out


class EventSeesData(SoundWords):
    """The number of texts it has seen decides the price."""

    name = "broken.event_sees_data"
    texts = 1

    def event(self, shape: Shape | None = None) -> Event:
        return replace(super().event(shape), times=self.texts)

    def apply(self, data: Any, *, noise: Source) -> list[str]:
        self.texts = max(1, len(data))
        return super().apply(data, noise=noise)


class EventCounts(SoundWords):
    """Each call of event() gives another event."""

    name = "broken.event_counts"
    calls = 0

    def event(self, shape: Shape | None = None) -> Event:
        self.calls += 1
        return Event(self._noise(), Unit.WORD, Adjacency.METRIC, self.calls, (), self.source, self.name)


class HidesItsSeed(SoundWords):
    """The ledger sees no seed, so the release is taken for a secure one."""

    name = "broken.hides_its_seed"

    def __init__(self, epsilon: float = 2.0, *, vectors: Any = None, seed: int | None = None):
        super().__init__(epsilon, vectors=vectors)
        self.own_seed = seed

    def apply(self, data: Iterable[str], *, noise: Source) -> list[str]:
        return super().apply(data, noise=noise if self.own_seed is None else seeded(self.own_seed))


class AnySignOfEpsilon(SoundWords):
    name = "broken.any_sign_of_epsilon"

    def _check(self) -> None:
        self.size = positive("epsilon", abs(self.epsilon))

    def _noise(self) -> MetricNoise:
        return MetricNoise(self.size, self.metric, self.metric_id(), self.diameter())

    def shift(self, noise: Source, count: int, dimension: int) -> np.ndarray:
        return laplace(noise, count, dimension, self.size, np.float64)


class RoundsItsParameter(SoundWords):
    name = "broken.rounds_its_parameter"

    def __init__(self, epsilon: float = 2.0, *, vectors: Any = None, seed: int | None = None):
        super().__init__(math.ceil(epsilon) + 0.5, vectors=vectors, seed=seed)


class DropsEmptyTexts(SoundWords):
    name = "broken.drops_empty_texts"

    def apply(self, data: Iterable[str], *, noise: Source) -> list[str]:
        return super().apply([text for text in data if text], noise=noise)


class FirstOfTheTied(SoundWords):
    """Of words with equal vectors always the first."""

    name = "broken.first_of_the_tied"

    def nearest(self, points: np.ndarray, noise: Source) -> np.ndarray:
        return self.members[self.starts[self.tree.query(points)[1]]]


class InputOfTheTied(SoundWords):
    """Of words with equal vectors the input, if it is among them."""

    name = "broken.input_of_the_tied"

    def _draw(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        drawn = super()._draw(rows, noise)
        equal = (self.points[drawn] == self.points[rows]).all(axis=1) & (rows < len(self.points) - 1)
        return np.where(equal, rows, drawn)


class KeepsLetterCase(SoundWords):
    """Capitals stay where they were, and `passes` is silent about it."""

    name = "broken.keeps_letter_case"

    def passes(self) -> tuple[str, ...]:
        return ("the number and the order of the words of each text",)


class PublishesItsSeed(SoundWords):
    name = "broken.publishes_its_seed"

    def public_params(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "generator": f"philox({self.seed})"}


class LogsAnArray(SoundWords):
    """What it publishes cannot be written."""

    name = "broken.logs_an_array"

    def public_params(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "points": np.zeros(2)}


class ValueErrorForZero(SoundWords):
    """A bad epsilon ends in a ValueError, not in a sentence."""

    name = "broken.value_error_for_zero"

    def _check(self) -> None:
        if not self.epsilon > 0:
            raise ValueError("epsilon")
        super()._check()


# ---- words as codes ------------------------------------------------------------------------------------------------


class SoundBits(SoundWords):
    """The nearest word to a code with flipped bits, by enumeration; for small vocabularies."""

    name = "sound.bits"
    metric = "hamming"

    def _prepare(self) -> None:
        self.codes_ = self.vectors_.codes
        packed = np.vstack([self.codes_.words64, self.codes_.fallback[None]])
        self.bits_table = self._unpack(packed)

    def metric_id(self) -> str:
        return self.codes_.fingerprint

    def diameter(self) -> float:
        return float(self.codes_.bits)

    @staticmethod
    def _unpack(packed: np.ndarray) -> np.ndarray:
        return np.unpackbits(np.ascontiguousarray(packed).view(np.uint8), axis=1, bitorder="little")

    def flipped(self, bits: np.ndarray, noise: Source) -> np.ndarray:
        packed = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
        return self._unpack(flip(noise, packed, self.codes_.bits, self.epsilon))

    def _draw(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        noised = 2.0 * self.flipped(self.bits_table[rows], noise).astype(np.float32) - 1
        agreement = noised @ (2.0 * self.bits_table[:-1].astype(np.float32) - 1).T
        agreement += noise.uniforms(agreement.shape) / 2  # ties are drawn
        return agreement.argmax(axis=1)


class FlipsTooFew(SoundBits):
    """p = 1 / (2 + e^epsilon)."""

    name = "broken.flips_too_few"

    def flipped(self, bits: np.ndarray, noise: Source) -> np.ndarray:
        return bits ^ (noise.uniforms(bits.shape) < 1 / (2 + math.exp(self.epsilon)))


class FlipsFirstBitsOnly(SoundBits):
    """The last bits of a code never flip (a mask one bit too short)."""

    name = "broken.flips_first_bits_only"

    def flipped(self, bits: np.ndarray, noise: Source) -> np.ndarray:
        noised = super().flipped(bits, noise)
        noised[:, -1] = bits[:, -1]
        return noised
