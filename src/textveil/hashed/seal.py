"""The seal: every slot of the table gets weights, so that nobody can see which slots training had filled.

Two modes.

quiet (default)
    1. Gauge. Adding one number to all labels of a slot changes no decision (every path of a token gains the same). So
       each row is moved to mean 0, absent weights counting as the 0 that the model gives them. The decisions stay, and
       the pattern of absent labels and the mirror image between labels, both of which give trained rows away, are gone:
       every row has them now.
    2. Forgetting. A row stays only if `min_documents` (k) training documents or more hold its slot in plain words, that
       is in words that some documents write in lower case (plain_words.py). All other rows are forgotten and drawn
       anew, as if their slots had never been seen: those of names, places and amounts however frequent they are, and
       those of every term in fewer than k documents. Such a term keeps no row of its own: its rows have the same law as
       those of a term that never occurred. What is left of it is its small part in rows of other features that fall
       into the same slot, and its pull on other weights while training.
    3. Law. The rows that stay (zeros included) are fitted, and every other row is drawn from that law, times `spread`:
       independent, secure. Forgotten and unseen rows share one law whatever the spread is; a larger one hides ordinary
       words better among the drawn ones, and costs precision (docs/hashed-seal.md has figures). All drawn rows lean to the
       first label by `lean` deviations: where only drawn rows speak, the model finds nothing instead of tossing coins.
    4. Grid. All weights, kept and drawn, are rounded to one grid (1/256 of their spread): digits tell nothing either.
    Hidden: which names, amounts and rare terms there were. Not hidden: ordinary words in k documents or more.

paper
    Section 4.2 as written: genuine weights are copied bit by bit, the law is fitted to complete rows, whole rows are
    drawn for unseen slots and missing weights of partly filled rows are drawn given the others. Rare terms are NOT
    hidden: their rows stay.

Neither is differential privacy: `Measured` (cost.py), and the attacks of `textveil audit` beside it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from textveil.accounting.account import unrecorded
from textveil.core.errors import BadInput, BadParameter
from textveil.core.params import choice, non_negative, positive_integer
from textveil.hashed.kinds import TableKind, check_possible
from textveil.hashed.law import GaussianLaw, KernelLaw, Law, enough_rows
from textveil.hashed.table import WeightTable
from textveil.noise import Source

MODES, LAWS = ("quiet", "paper"), ("kernel", "gaussian")
MIN_DOCUMENTS, SPREAD, LEAN = 3, 0.1, 0.5
_LEVELS = 256  # grid steps per standard deviation
_BLOCK = 1 << 17


@dataclass(frozen=True)
class SealPlan:
    """Public settings of a seal. None: what suits the mode (quiet: kernel, a quarter; paper: gaussian, 1)."""

    mode: str = "quiet"
    law: str | None = None
    min_documents: int = MIN_DOCUMENTS
    spread: float | None = None  # quiet: drawn weights are multiplied by this (0 leaves unseen slots at zero)
    lean: float = LEAN  # quiet: drawn rows speak against all labels but the first, by this many deviations

    def __post_init__(self) -> None:
        choice("mode of the seal", self.mode, MODES)
        object.__setattr__(self, "law", choice("law", self.law or ("kernel", "gaussian")[self.mode == "paper"], LAWS))
        positive_integer("min_documents", self.min_documents)
        if self.spread is None:
            object.__setattr__(self, "spread", 1.0 if self.mode == "paper" else SPREAD)
        non_negative("spread", self.spread)
        non_negative("lean", self.lean)
        if self.mode == "paper" and self.spread != 1:
            raise BadParameter("spread", self.spread, "1 in paper mode")

    def to_json(self) -> dict[str, Any]:
        shown = asdict(self)
        if self.mode == "paper":
            del shown["min_documents"], shown["spread"], shown["lean"]
        return shown


@dataclass(frozen=True)
class Prepared:
    """What the seal keeps and fits, before anything is drawn: the cost is measured on `fitted`."""

    weights: np.ndarray  # float32 (R, d), gauge applied in quiet mode
    kept: np.ndarray  # bool (R,): rows that stay as they are (paper mode: rows with at least one weight)
    fitted: np.ndarray  # places of the rows that the law is fitted to
    columns: slice  # the free columns: the first one mirrors the rest in quiet mode

    @property
    def fitted_rows(self) -> np.ndarray:
        return self.weights[self.fitted][:, self.columns]


def prepare(table: WeightTable, plan: SealPlan) -> Prepared:
    """Decide which rows stay and which ones the law is fitted to."""
    check_possible(table.kind, "seal")
    table.require_weights()
    weights = np.asarray(table.weights)
    if plan.mode == "paper":
        fitted = np.flatnonzero(table.present.all(axis=1))
        return Prepared(weights, table.present.any(axis=1), enough_rows(fitted), slice(None))
    if table.documents is not None:
        kept = np.asarray(table.documents) >= plan.min_documents
    elif plan.min_documents > 1:
        raise BadInput(
            "the model does not say in how many documents each slot occurred, so names and rare terms cannot be found",
            possible="min_documents 1 (they are then not hidden), or a model trained by `textveil hashed train`",
        )
    else:
        kept = table.present.any(axis=1)
    return Prepared(centred(weights), kept, enough_rows(np.flatnonzero(kept)), slice(1, None))


def seal(
    table: WeightTable,
    plan: SealPlan | None = None,
    *,
    seed: int | None = None,
    noise: Source | None = None,
    **options: Any,
) -> WeightTable:
    """A sealed copy; the table itself is not changed. `options` are those of `SealPlan`.

    >>> weights = np.zeros((16, 2), np.float32); weights[:12, 1] = np.linspace(-1, 1, 12)
    >>> table = WeightTable(weights, weights != 0, ("O", "LAW"), np.zeros((2, 2)))
    >>> sealed = seal(table, min_documents=1, seed=1)
    >>> bool(sealed.present.all()), sealed.kind.value, sealed.documents is None
    (True, 'sealed', True)
    """
    plan = plan or SealPlan(**options)
    noise = noise or unrecorded(seed)
    ready = prepare(table, plan)
    weights = _paper(table, ready, plan, noise) if plan.mode == "paper" else _quiet(ready, plan, noise)
    return replace(
        table,
        weights=weights,
        present=np.broadcast_to(np.True_, weights.shape),
        documents=None,
        kind=TableKind.SEALED,
        facts={**table.facts, "seal": plan.to_json()},
    )


def centred(weights: np.ndarray) -> np.ndarray:
    """Rows moved to mean 0: no decision changes. The last labels are exact, the first one is what makes the sum 0.

    >>> centred(np.array([[1.0, 3.0], [0.0, 0.5]], np.float32)).tolist()
    [[-1.0, 1.0], [-0.25, 0.25]]
    """
    means = weights.mean(axis=1, keepdims=True, dtype=np.float64)
    out = (weights - means).astype(np.float32)
    out[:, 0] = -out[:, 1:].sum(axis=1)
    return out


def grid_step(rows: np.ndarray) -> float:
    """The power of two nearest below 1/256 of the spread of the weights that are not 0.

    >>> grid_step(np.array([[-1.0], [1.0], [0.0]]))
    0.00390625
    """
    moved = rows[rows != 0]
    spread = float(np.sqrt(np.mean(np.square(moved, dtype=np.float64)))) if len(moved) else 0.0
    return 2.0 ** math.floor(math.log2(spread / _LEVELS)) if spread > 0 else 2.0**-20


def fit_law(kind: str, rows: np.ndarray) -> Law:
    return KernelLaw.fit(rows) if kind == "kernel" else GaussianLaw.fit(rows)


def _quiet(ready: Prepared, plan: SealPlan, noise: Source) -> np.ndarray:
    rows = ready.fitted_rows
    step = grid_step(rows)
    law = fit_law(str(plan.law), rows)
    lean = plan.lean * rows.std(axis=0, dtype=np.float64)
    free = ready.weights[:, ready.columns].copy()
    places = np.flatnonzero(~ready.kept)
    for start in range(0, len(places), _BLOCK):
        some = places[start : start + _BLOCK]
        free[some] = plan.spread * (law.draw(len(some), noise) - lean)
    free = np.round(free / np.float32(step)) * np.float32(step)
    out = np.empty_like(ready.weights)
    out[:, 1:] = free
    out[:, 0] = -free.sum(axis=1)
    return out + np.float32(0)  # no negative zeros: they would tell where a 0 came from


def _paper(table: WeightTable, ready: Prepared, plan: SealPlan, noise: Source) -> np.ndarray:
    law = fit_law(str(plan.law), ready.fitted_rows)
    out = ready.weights.copy()
    present = np.asarray(table.present)
    empty = np.flatnonzero(~ready.kept)
    for start in range(0, len(empty), _BLOCK):
        some = empty[start : start + _BLOCK]
        out[some] = law.draw(len(some), noise)
    partly = np.flatnonzero(ready.kept & ~present.all(axis=1))
    for start in range(0, len(partly), _BLOCK):
        some = partly[start : start + _BLOCK]
        known = present[some]
        drawn = law.complete(out[some], known, noise)
        out[some] = np.where(known, out[some], drawn.astype(np.float32))  # genuine weights bit by bit
    return out
