"""Made-up hashed models, on which attacks are checked: rows of trained terms stand out, or no rows do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from textveil.attacks.exposure import AnswersSeen, Labelled, Members
from textveil.attacks.hashed.seen import TableSeen
from textveil.attacks.hashed.table import TableView, Touched
from textveil.noise import secure

ROWS, TERMS, SLOTS = 4_096, 200, 4
INSIDE = slice(0, TERMS // 2)


def open_table_told(tells: str) -> TableSeen:
    """Where all is told, rows of trained terms share one lean, repeat the same numbers and are the only ones present."""
    rng, places = secure(), _places()
    weights, present = rng.normals((ROWS, 2)).astype(np.float32), np.zeros((ROWS, 2), bool)
    if tells == "all":
        weights[places[INSIDE]] = np.array([-2.5, 2.5], np.float32)
        present[places[INSIDE]] = True
    else:
        present[:] = rng.uniforms((ROWS, 1)) < 0.3
    view = TableView(weights, lambda term, label: Touched(places[int(term)]), present, (np.zeros(2), np.eye(2)))
    known = Touched(places[INSIDE].ravel() if tells == "all" else np.arange(500))
    return TableSeen(view, _terms(range(TERMS)), known, truth=_truth())


def sealed_table_told(tells: str) -> TableSeen:
    """The same with every slot filled; terms of two redactions."""
    seen = open_table_told(tells)
    return replace(seen, table=replace(seen.table, present=None), candidates=_terms(np.arange(TERMS) % 2))


def retrained_told(tells: str) -> TableSeen:
    """The adversary's own training repeats the rows of trained terms, or no rows."""
    rng, places = secure(), _places()
    weights, own = (rng.normals((ROWS, 2)).astype(np.float32) for _ in range(2))
    if tells == "all":
        own[places[INSIDE]] = weights[places[INSIDE]]
    view = TableView(weights, lambda term, label: Touched(places[int(term)]))
    return TableSeen(
        view,
        _terms(range(TERMS)),
        retrain=lambda term, label: (places[int(term)], own[places[int(term)]]),
        truth=_truth(),
    )


def scores_told(tells: str) -> AnswersSeen:
    """A model that scores trained terms higher, or not."""
    scores = secure().normals(TERMS) + (5.0 * _truth().ids if tells == "all" else 0.0)
    shown = np.column_stack([scores, scores > 2])
    return AnswersSeen(_terms(range(TERMS)), scores=lambda texts: shown[[int(t) for t in texts]], truth=_truth())


def spans_told(tells: str) -> AnswersSeen:
    """The same behind an API, three probes a term."""
    inside = scores_told(tells).scores
    texts = [str(i) for i in range(TERMS) for _ in range(3)]
    truth = Members(np.repeat(_truth().ids, 3))
    return AnswersSeen(Labelled(texts, texts), query=lambda asked: inside(asked)[:, 1], truth=truth)  # type: ignore[misc]


def _places() -> np.ndarray:
    return secure().permutation(ROWS)[: TERMS * SLOTS].reshape(TERMS, SLOTS)


def _terms(labels: Any) -> Labelled:
    return Labelled([str(i) for i in range(TERMS)], list(labels))


def _truth() -> Members:
    return Members.first(TERMS // 2, TERMS - TERMS // 2)
