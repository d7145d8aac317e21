"""Counting mechanisms with one fault each, and the sound `SoundCount` and `SoundHistogram` that they differ from."""

from __future__ import annotations

import math

import numpy as np

from textveil.core import Adjacency, BadInput, Event, LaplaceNoise, Shape, Stated, Unit
from textveil.noise import Source


class SoundCount:
    """The sum of one number per user, each cut to 0 .. clip, with rounded Laplace noise of scale clip / epsilon."""

    name = "sound.count"
    epsilon, clip = 1.0, 1.0

    def event(self, shape: Shape) -> Event:
        noise = LaplaceNoise(1 / self.epsilon)
        return Event(noise, Unit.USER, Adjacency.ADD_REMOVE, source="Dwork et al. 2006", mechanism=self.name)

    def total(self, data: np.ndarray) -> float:
        return float(np.clip(data, 0, self.clip).sum())

    def noised(self, total: float, noise: Source) -> float:
        one, other = noise.exponentials(2)
        return total + round(float(one - other) * self.clip / self.epsilon)

    def apply(self, data: np.ndarray, *, noise: Source) -> float:
        return self.noised(self.total(data), noise)


class NoClip(SoundCount):
    name = "broken.no_clip"

    def total(self, data: np.ndarray) -> float:
        return float(data.sum())


class RoundsToTensFirst(SoundCount):
    """Rounding before the noise: from 4 to 5 the sum jumps by ten."""

    name = "broken.rounds_to_tens_first"

    def total(self, data: np.ndarray) -> float:
        return 10 * math.floor(super().total(data) / 10 + 0.5)


class RoundsNoiseTowardsZero(SoundCount):
    """Noise cut to whole numbers towards zero: the truth comes out twice as often as it may."""

    name = "broken.rounds_noise_towards_zero"

    def noised(self, total: float, noise: Source) -> float:
        one, other = noise.exponentials(2)
        return total + math.trunc(float(one - other) * self.clip / self.epsilon)


class LeaksTwice(SoundCount):
    """Noise for twice the epsilon that is charged."""

    name = "broken.leaks_twice"

    def noised(self, total: float, noise: Source) -> float:
        one, other = noise.exponentials(2)
        return total + round(float(one - other) * self.clip / (2 * self.epsilon))


class ClipsTheNoise(SoundCount):
    """The noise is cut, and not the sum: at its ends the truth shows."""

    name = "broken.clips_the_noise"

    def noised(self, total: float, noise: Source) -> float:
        one, other = noise.exponentials(2)
        return total + max(-2, min(2, round(float(one - other) * self.clip / self.epsilon)))


class RefusesEmpty(SoundCount):
    """One unit decides between a release and an error."""

    name = "broken.refuses_empty"

    def apply(self, data: np.ndarray, *, noise: Source) -> float:
        if len(data) == 0:
            raise BadInput("there is nothing to count")
        return super().apply(data, noise=noise)


class TellsAllNowAndThen(SoundCount):
    """One time in twenty the truth itself: delta is .05, and 0 is charged."""

    name = "broken.tells_all_now_and_then"

    def noised(self, total: float, noise: Source) -> float:
        return total + 0.5 if noise.uniforms(1)[0] < 0.05 else super().noised(total, noise)


class DeltaIgnored(SoundCount):
    """Gaussian noise, priced as if it were pure."""

    name = "broken.delta_ignored"

    def noised(self, total: float, noise: Source) -> float:
        return total + round(float(noise.normals(1)[0]) * self.clip / (2 * self.epsilon))


class RoundsItsWidth:
    """The share of epsilon that each of its columns takes is charged for as many columns as were declared."""

    name = "broken.rounds_its_width"

    def event(self, shape: Shape) -> Event:
        columns = shape.vocabulary or 4
        return Event(
            Stated(0.1 * columns), Unit.USER, Adjacency.ADD_REMOVE, source="Dwork et al. 2006", mechanism=self.name
        )

    def apply(self, data: np.ndarray, *, noise: Source) -> np.ndarray:
        return data.sum(axis=0) + (noise.exponentials(data.shape[1]) - noise.exponentials(data.shape[1])) / 0.1


class SoundHistogram:
    """Words that enough users have, one word per user: Laplace noise and a threshold."""

    name = "sound.histogram"
    epsilon, delta = 1.0, 1e-6

    def event(self, shape: Shape) -> Event:
        return Event(
            Stated(self.epsilon, self.delta),
            Unit.USER,
            Adjacency.ADD_REMOVE,
            source="Korolova et al. 2009",
            mechanism=self.name,
        )

    def threshold(self) -> float:
        return 1 + math.log(1 / (2 * self.delta)) / self.epsilon

    def apply(self, data: list[str], *, noise: Source) -> dict[str, float]:
        words, counts = np.unique(np.array(data, dtype=object), return_counts=True)
        noised = counts + (noise.exponentials(len(words)) - noise.exponentials(len(words))) / self.epsilon
        return {w: float(c) for w, c in zip(words.tolist(), noised, strict=True) if c >= self.threshold()}


class ThresholdForgotten(SoundHistogram):
    name = "broken.threshold_forgotten"

    def threshold(self) -> float:
        return -math.inf
