"""The plausible-deniability numbers of one word: S_w, how many different words it becomes; N_w, how often it stays."""

from __future__ import annotations

import math
from typing import Any

from textveil.attacks.evidence import lower_limit, upper_limit
from textveil.core import BadInput
from textveil.core.errors import nearest_first
from textveil.text import tokens
from textveil.words.mechanism import WordMechanism


def word_info(mechanism: WordMechanism, word: str, *, draws: int) -> dict[str, Any]:
    """Draw `draws` substitutes of one word and describe them; the numbers are estimates from these draws."""
    mechanism.event()  # fits it to the default vectors if it has none yet
    folded = tokens.fold(word)
    if folded not in mechanism.rows_:
        similar = [w for w in mechanism.rows_ if w[:2] == folded[:2]][:3000]
        raise BadInput(
            f"'{word}' is not in the vocabulary; it would be drawn from the public point of unknown words",
            possible=", ".join(nearest_first(folded, similar)[:5]) or "a word of the vocabulary",
        )
    counts = mechanism.substitutes(folded, draws=draws)
    odds = [(w, n / draws) for w, n in counts.most_common()]
    return {
        "word": folded,
        "mechanism": mechanism.name,
        "epsilon": mechanism.epsilon,
        "stay": counts[folded] / draws,
        "stay_interval": [limit(counts[folded], draws, 0.975) for limit in (lower_limit, upper_limit)],
        "entropy": -sum(p * math.log2(p) for _, p in odds),
        "distinct": len(counts),
        "N_w": counts[folded],  # the plausible-deniability numbers of Feyisetan et al. 2020, for this many draws
        "S_w": len(counts),
        "draws": draws,
        "substitutes": [[w, p] for w, p in odds],
    }
