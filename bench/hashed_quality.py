"""How well the unsealed extractor finds clauses of contracts it has not seen: `python bench/hashed_quality.py`.

Token-level F1 on the five clause types of CUAD by which the room is judged, four fifths of the contracts to train and one
fifth to test (the split of `textveil reproduce 01`), for tables of several sizes. Needs the evaluation data.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from textveil.hashed.corpus import Corpus, label_tokens
from textveil.hashed.decode import decode
from textveil.hashed.extractor import Extractor
from textveil.hashed.features import slots_of
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.segments import tokenize
from textveil.hashed.widening import widen
from textveil.reproduce.paper01.data import FIVE, contracts, split

BITS = (16, 18, 19, 21)


def quality(data: Path, clauses: Sequence[str], sizes: Sequence[int]) -> dict[str, dict[str, float]]:
    """Token-level F1 on unseen contracts, word by word and by whole sentences, for tables of three sizes."""
    every = contracts(data)
    training, unseen = split(len(every))
    tokens = [tokenize(text) for text in every.texts]
    marks = {
        c: [label_tokens(t, [(*s, 1) for s in spans]) for t, spans in zip(tokens, every.spans[c], strict=True)]
        for c in clauses
    }
    shown = {}
    for bits in sizes:
        plan = FeaturePlan(bits=bits)
        slots = [slots_of(t, plan) for t in tokens]
        occupied = len(np.unique(np.concatenate([slots[i].indices for i in training]))) / plan.slots
        bare, wide = [], []
        for clause in clauses:
            corpus = Corpus(plan)
            for i in training:
                corpus.add_tokens(tokens[i], slots[i], marks[clause][i])
            table = Extractor(plan=plan).trainer().train(corpus.blocks(), plan.slots, ("O", clause))
            found = [decode(slots[i], tokens[i].paragraphs, table).labels for i in unseen]
            truth = [marks[clause][i] for i in unseen]
            bare.append(f1(truth, found))
            wide.append(f1(truth, [widen(y, tokens[i].sentences) for y, i in zip(found, unseen, strict=True)]))
        shown[str(bits)] = {"collisions": occupied, "words": float(np.mean(bare)), "sentences": float(np.mean(wide))}
        shown[str(bits)] |= dict(zip(clauses, wide, strict=True))
    return shown


def f1(truth: list[np.ndarray], found: list[np.ndarray]) -> float:
    a, b = np.concatenate(truth) > 0, np.concatenate(found) > 0
    return 2 * float((a & b).sum()) / float(a.sum() + b.sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clause", action="append", choices=FIVE, help="only this one (may be repeated)")
    parser.add_argument("--bits", action="append", type=int, help="only this size (may be repeated)")
    options = parser.parse_args()
    named = os.environ.get("TEXTVEIL_DATA")
    data = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    for bits, row in quality(data, options.clause or FIVE, options.bits or BITS).items():
        print(f"2^{bits}: " + ", ".join(f"{name} {value:.3f}" for name, value in row.items()))


if __name__ == "__main__":
    main()
