"""Do the outputs of two words differ by more than the mechanism says?

Claim. A promise that holds is refuted with chance 1 - level at most. What is found is a floor on the loss between two known
words, beside what the promise allows at their distance; no other attack on words is aimed at the promise itself.

How. The mechanism is public, so it can be run as often as one likes. The channel proposes some pairs of words. A first part
of the draws chooses the pair, a second the question "is the output in S?" (leading words by their ratio), and fresh draws
answer it: they had no part in the choice, so their counts are binomial and the limits of `evidence` exact, whatever was tried
before. Where the algorithm itself rules an output out (paper mode of words.vickrey never returns its input), one such
output from the other word refutes every finite epsilon, and S is that word.

A release without a promise can still be told what its paper claims: `claimed` is the loss stated between the two words.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import Ids, TwoWorlds, check_exposure
from textveil.attacks.questions import Question, choose
from textveil.attacks.words.seen import unit_of
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import positive_integer

_MILD = 0.6  # confidence by which pairs are compared: a stricter one would favour near pairs, whose counts are large
_QUARTER = 4


class Pairs(NamedTuple):
    """Input words to be told apart, and their distance in the metric of the promise."""

    first: Ids
    second: Ids
    distance: np.ndarray


class TwoWorldsAttack(Estimator):
    """Tell two words apart by their outputs.

    The channel proposes pairs (`pairs(count, source)`), states its loss per unit of distance (`stated`), and may know that an
    input is never returned (`excludes_input`). In this one, a word is replaced by the other with odds 1 : e^2.

    Parameters
    ----------
    draws
        Outputs of each of the two words.
    pairs
        Pairs of words that are proposed, of which the most telling one is judged.

    Examples
    --------
    >>> class Channel:
    ...     stated, excludes_input = 1.0, False
    ...     def pairs(self, count, source):
    ...         return Pairs(np.array([0]), np.array([1]), np.array([1.0]))
    ...     def sample(self, ids, source):
    ...         return np.where(source.uniforms(len(ids)) < 1 / (1 + math.exp(2)), 1 - ids, ids)
    >>> from textveil.noise import secure
    >>> found = TwoWorldsAttack().run(TwoWorlds(Channel(), ["yes", "no"]), rng=secure())
    >>> 1.8 < found.epsilon_floor() < 2.1, found.claimed
    (True, 1.0)
    """

    name = "words.two_worlds"
    sees = TwoWorlds
    needs: tuple[str, ...] = ()

    def __init__(self, draws: int = 40_000, pairs: int = 48):
        self.draws, self.pairs = draws, pairs

    def run(self, exposure: TwoWorlds, *, rng: Any) -> Evidence:
        if positive_integer("draws", self.draws) < 100:
            raise BadInput(f"draws must be 100 or more, not {self.draws}")
        positive_integer("pairs", self.pairs)
        check_exposure(self, exposure)
        channel = exposure.channel
        if not hasattr(channel, "pairs"):
            raise BadInput(f"the attack {self.name} needs a channel that proposes pairs of words")
        words, size, pairs = exposure.vocabulary, len(exposure.vocabulary), channel.pairs(self.pairs, rng)
        excluded = bool(channel.excludes_input)
        place = self._best_pair(channel, pairs, size, excluded, rng)
        first, second, distance = (column[place] for column in pairs)

        def world(row: int) -> Ids:
            return channel.sample(np.full(self.draws, row), rng)

        question = excluded_input(int(first)) if excluded else choose(world(first), world(second), size)
        note = f"'{words[first]}' and '{words[second]}' at distance {distance:.4g}, {self.draws:,} fresh draws of each"
        return answer(
            question,
            world(first),
            world(second),
            attack=self.name,
            unit=unit_of(channel),
            distance=float(distance),
            claimed=float(channel.stated * distance),
            impossible=excluded or None,
            notes=(note, *((f"'{words[first]}' never becomes itself: one case refutes",) if excluded else ())),
        )

    def _best_pair(self, channel: Any, pairs: Pairs, size: int, excluded: bool, rng: Any) -> int:
        """The pair whose outputs seem to exceed what is stated by most: round by round a quarter stays and is drawn more."""
        left, draws = np.arange(len(pairs.first)), max(100, 2 * self.draws // len(pairs.first))
        while len(left) > 1:
            shown = []
            for first, second, distance in zip(*(column[left] for column in pairs), strict=True):
                one, other = (channel.sample(np.full(draws, row), rng) for row in (first, second))
                if excluded:
                    shown.append(float(np.count_nonzero(other == first)))
                else:
                    shown.append(_shown(one, other, size) - channel.stated * float(distance))
            left = left[np.argsort(shown)[::-1][: max(1, len(left) // _QUARTER)]]
            draws = min(self.draws, _QUARTER * draws)
        return int(left[0])

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.words.examples import responses_told

        return AttackExample(cls(draws=400, pairs=6), responses_told)


def excluded_input(first: int) -> Question:
    """What the first word never becomes: itself."""
    return Question(math.inf, np.array([first]), True)


def answer(
    question: Question, first: Ids, second: Ids, *, attack: str, unit: Unit = Unit.WORD, **known: Any
) -> Evidence:
    """Evidence from outputs that had no part in the choice of the question."""
    worlds = (second, first) if question.swapped else (first, second)
    right, wrong = (np.isin(world, question.asked) for world in worlds)
    return Evidence(
        attack,
        "share of one word's outputs in the set",
        float(right.mean()),
        float(wrong.mean()),  # the same share of the other word's outputs
        int(right.sum()),
        len(right),
        unit=unit,
        false_hits=int(wrong.sum()),
        false_tries=len(wrong),
        **known,
    )


def _shown(first: Ids, second: Ids, size: int) -> float:
    """The loss that a pair seems to show: one half of its draws chooses, the other answers, so that luck is not rewarded."""
    half = len(first) // 2
    question = choose(first[:half], second[:half], size, _MILD)
    return answer(question, first[half:], second[half:], attack="").epsilon_floor(_MILD)
