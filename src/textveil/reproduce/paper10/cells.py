"""Cells of paper 10: sizes of the data, and the risk of each policy."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.fragments.reassembly import GreedyAttack, ReassemblyAttack
from textveil.attacks.fragments.seen import FragmentsSeen, Numbers, OriginalPairs
from textveil.fragments.aligner import Aligner
from textveil.fragments.mechanism import Fragments, fitted
from textveil.noise import seeded
from textveil.reproduce.paper10.data import Pair, holds_source, others, pairs, rows, unique
from textveil.reproduce.paper10.general import general

POLICIES: dict[str, dict[str, Any]] = {
    "paper, 7 words": {"longest": 7},
    "paper, 4 words": {"longest": 4},
    "4 words, dropped by type": {"longest": 4, "drop_by": "type"},
    "4 words, as many decoys": {"longest": 4, "decoys": 1.0},
    "3 words": {"longest": 3},
    "apart, 7 words": {"longest": 7, "cut": "apart"},
    "apart, 4 words": {"longest": 4, "cut": "apart"},
    "apart, 4 words, all kept": {"longest": 4, "cut": "apart", "drop": 0.0},
    "apart, 3 words": {"longest": 3, "cut": "apart"},
    "apart, 3 words, all kept": {"longest": 3, "cut": "apart", "drop": 0.0},
    "paper, 7 words, hmm": {"longest": 7, "aligner": "hmm"},
    "apart, 4 words, hmm": {"longest": 4, "cut": "apart", "aligner": "hmm"},
}


def sizes(data: Path, *, domain: str) -> dict[str, Any]:
    """Table 1, and what it does not say: duplicates, leaks, and rows whose English holds the German."""
    shown: dict[str, Any] = {}
    for part in ("train", "valid", "test_a"):
        own = pairs(data, domain, part)
        shown[part] = {
            "sentences": len(own),
            "de": sum(len(s.split()) for s, _ in own),
            "en": sum(len(t.split()) for _, t in own),
            "unique": len(set(own)),
            "holds_source": sum(map(holds_source, own)) / len(own),
        }
    shown["test_in_train"] = sum(bool(row["pair_in_train"]) for row in rows(data, domain, "test_a"))
    return shown


def risk(data: Path, *, domain: str, policy: str, sentences: int, seed: int) -> dict[str, Any]:
    """What the attacks rebuild of unique sentence pairs (0: of all of them), cut by a policy.

    Public to the adversary are the other two domains and the general text that a baseline learns.
    """
    own, chosen = unique(data, domain, sentences or None), {**POLICIES[policy]}
    if "aligner" in chosen:
        chosen["aligner"] = fitted(Aligner(model=chosen["aligner"], table=20), own)
    fragments = Counter(map(tuple, Fragments(**chosen, seed=seed).transform(own)))
    seen = exposure(fragments, own, others(data, domain) + _general(data))
    found: dict[str, Any] = {"fragments": fragments.total(), "types": len(fragments)}
    for side in ("source", "target"):
        found[f"greedy {side}"] = shown(GreedyAttack(side).run(seen, rng=seeded(seed)))
    for variant in ReassemblyAttack.variants:
        try:
            evidence = ReassemblyAttack(**variant).run(seen, rng=seeded(seed))
        except ValueError:  # no such pair of names in this text
            continue
        found[f"{variant['counts']} {variant['side']}"] = shown(evidence)
    return found


@lru_cache(maxsize=1)
def _general(data: Path) -> list[Pair]:
    """Read once in a process that runs several cells."""
    return general(data)


def exposure(fragments: Counter[Any], own: list[tuple[str, str]], public: list[tuple[str, str]]) -> FragmentsSeen:
    """What the adversary has: fragments, and public text."""
    numbers = Numbers(), Numbers()
    sides = [numbers[n].of([pair[n].split() for pair in fragments]) for n in (0, 1)]
    for each in numbers:
        each.closed = True
    source, target = (numbers[n].of([pair[n].split() for pair in own]) for n in (0, 1))
    known = tuple(numbers[n].of([pair[n].split() for pair in public]) for n in (0, 1))
    truth = OriginalPairs(np.asarray(source.words), source.starts, target)
    return FragmentsSeen(*sides, np.array([*fragments.values()]), (known[0], known[1]), truth)


def shown(evidence: Evidence) -> dict[str, Any]:
    low, high = evidence.interval()
    return {"value": evidence.value, "low": low, "high": high, "tries": evidence.tries, "chance": evidence.chance}
