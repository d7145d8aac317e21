"""Check a word mechanism: exactly where its transition matrix can be had, by the two-worlds attack elsewhere.

The attack (attacks/words/two_worlds.py) draws from pairs of words, chooses the pair and the question that seem to show
most, and answers on fresh draws: a promise that holds is refuted with chance 1 - level at most. An audit that does not
refute proves nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.attacks.exposure import TwoWorlds
from textveil.attacks.words.two_worlds import TwoWorldsAttack
from textveil.core import BadInput
from textveil.core.params import open_fraction, positive_integer
from textveil.noise import Source, secure
from textveil.recipes.words.channel import WordChannel
from textveil.words import certify as exact
from textveil.words.mechanism import WordMechanism
from textveil.words.transition.rays import ANGLES

NOT_REFUTED = "not refuted"


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
    certificate = exact.certify(mechanism, words, angles=angles)
    result = {
        "mechanism": mechanism.name,
        "epsilon": float(mechanism.epsilon),
        "metric": mechanism.metric,
        "claim": f"P[M(a) = y] <= exp({mechanism.epsilon:g} * {mechanism.metric} distance of a and b) * P[M(b) = y]",
        **certificate.to_json(),
    }
    return result if certificate.verdict != exact.BEYOND else {**result, **audit(mechanism, draws, level, secure())}


def audit(mechanism: WordMechanism, draws: int, level: float, noise: Source) -> dict[str, Any]:
    """The two-worlds attack, held against the loss that the mechanism states, with or without a promise."""
    channel = WordChannel(mechanism, np.asarray(mechanism.vectors_.prior))
    evidence = TwoWorldsAttack(draws=draws).run(TwoWorlds(channel, list(mechanism.vectors_.words)), rng=noise)
    stated, floor = float(evidence.claimed or 0.0), evidence.epsilon_floor(level)
    refuted = floor > stated + 1e-9 * (1 + stated)
    return {
        "verdict": "refuted" if refuted else f"{exact.BEYOND}, {NOT_REFUTED} by the audit",
        "method": "two-world audit",
        "level": level,
        "draws": draws,
        "evidence": evidence.to_json(),
        "notes": [
            exact.why_not(mechanism),
            f"loss shown: at least {floor:.3g}; stated: {stated:.3g} (confidence {level:g})",
            *evidence.notes,
            "an audit can only refute, never prove",
        ],
    }
