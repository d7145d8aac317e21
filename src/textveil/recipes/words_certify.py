"""Check a word mechanism: exactly where its transition matrix can be had, by a two-world audit elsewhere.

The audit draws from two inputs and asks whether the outputs differ by more than exp(epsilon d) allows. A fifth of the
draws choose the question "is the output in S?" (leading words by their ratio), the rest answers it, so its counts are
binomial and their limits exact. Three pairs are asked, the nearest, the farthest of a sample and a random one, each
at a third of the allowed error: a promise that holds is refuted with chance 1 - level at most. An audit that does not
refute proves nothing.

Paper mode of words.vickrey never returns the input: an output that is impossible from w and was seen from w' refutes
every finite epsilon.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.words_two_worlds import answer, choose
from textveil.core import BadInput
from textveil.core.params import open_fraction, positive_integer
from textveil.noise import Source, secure
from textveil.recipes.word_pairs import count_of, nearest_pair
from textveil.words import certify as exact
from textveil.words.mechanism import WordMechanism
from textveil.words.transition.metric import pair_distances
from textveil.words.transition.rays import ANGLES

NOT_REFUTED = "not refuted"
_LEARN = 5  # one in so many draws chooses the question
_SAMPLE = 4_000


def certify_words(
    mechanism: WordMechanism,
    *,
    words: int | None = None,
    angles: int = ANGLES,
    draws: int = 60_000,
    level: float = 0.99,
) -> dict[str, Any]:
    """The certificate, or the audit's verdict where there is none."""
    mechanism._ready()
    open_fraction("level", level)
    if positive_integer("angles", angles) % 4:
        raise BadInput(f"angles must be a multiple of 4, not {angles}")
    if positive_integer("draws", draws) < 100:
        raise BadInput(f"draws must be 100 or more, not {draws}")
    found = exact.certify(mechanism, words, angles=angles)
    result = {
        "mechanism": mechanism.name,
        "epsilon": float(mechanism.epsilon),
        "metric": mechanism.metric,
        "claim": f"P[M(a) = y] <= exp({mechanism.epsilon:g} * {mechanism.metric} distance of a and b) * P[M(b) = y]",
        **found.to_json(),
    }
    return result if found.verdict != exact.BEYOND else {**result, **audit(mechanism, draws, level, secure())}


class Pair(NamedTuple):
    name: str
    first: int
    second: int
    distance: float


def audit(mechanism: WordMechanism, draws: int, level: float, noise: Source) -> dict[str, Any]:
    """Two-world tests of some pairs; the false-alarm rate is that of all together."""
    pairs = choose_pairs(mechanism, noise)
    each = 1 - (1 - level) / len(pairs)
    shown = [ask(mechanism, pair, draws, each, noise) for pair in pairs]
    refuted = any(one["refuted"] for one in shown)
    note = f"two-world audit at confidence {level:g} over {len(pairs)} pairs; an audit can only refute, never prove"
    return {
        "verdict": "refuted" if refuted else f"{exact.BEYOND}, {NOT_REFUTED} by the audit",
        "method": "two-world audit",
        "level": level,
        "draws": draws,
        "pairs": shown,
        "notes": [exact.why_not(mechanism), note],
    }


def choose_pairs(mechanism: WordMechanism, noise: Source) -> list[Pair]:
    """The nearest pair of different points, the farthest of a sample, and a random one."""
    count = count_of(mechanism)
    first = noise.below(count, _SAMPLE)
    second = (first + 1 + noise.below(count - 1, _SAMPLE)) % count
    apart = pair_distances(mechanism, first, second)
    far = int(apart.argmax())
    near = nearest_pair(mechanism)
    named = (("nearest", *near), ("farthest of a sample", first[far], second[far]), ("random", first[0], second[0]))
    return [
        Pair(name, int(a), int(b), float(pair_distances(mechanism, np.array([a]), np.array([b]))[0]))
        for name, a, b in named
    ]


def ask(mechanism: WordMechanism, pair: Pair, draws: int, level: float, noise: Source) -> dict[str, Any]:
    """Compare the outputs of two words."""
    outputs = [mechanism.draw(np.full(draws, row), noise) for row in (pair.first, pair.second)]
    evidence = two_worlds(outputs[0], outputs[1], len(mechanism.vectors_), level, pair.distance)
    floor, allowed = evidence.epsilon_floor(level), float(mechanism.epsilon) * pair.distance
    words = mechanism.vectors_.words
    impossible = getattr(mechanism, "paper_mode", False) and int((outputs[1] == pair.first).sum())
    shown = {
        "pair": pair.name,
        "first": words[pair.first],
        "second": words[pair.second],
        "distance": pair.distance,
        "allowed": allowed,
        "floor": "inf" if impossible else floor,
        "refuted": bool(impossible or floor > allowed + 1e-9),
        "evidence": evidence.to_json(),
    }
    if impossible:
        shown["why"] = (
            f"'{words[pair.first]}' never becomes itself, but '{words[pair.second]}' became it {impossible:,} times in "
            f"{draws:,}: the ratio is infinite"
        )
    return shown


def two_worlds(first: np.ndarray, second: np.ndarray, size: int, level: float, distance: float) -> Evidence:
    """Evidence from outputs in two worlds: a part of them chooses the set of words to ask for, the rest counts."""
    cut = len(first) // _LEARN
    question = choose(first[:cut], second[:cut], size, 1 - (1 - level) / 2)
    return answer(question, first[cut:], second[cut:], attack="two_worlds", distance=distance)
