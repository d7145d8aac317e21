"""A hashed model's table as its adversary reads it, and how scores of terms become evidence.

The adversary has the file and knows how text becomes slots (both are public). It asks about candidates: terms that may or
may not have been in the training text. `TableView.touched` says which slots a candidate would have touched; the rest is
reading weights.

Bins. A law N(mean, covariance) is turned into the uniform law on the unit square (or cube) by whitening with its Cholesky
factor and by the normal distribution function. Equal bins of that square have equal chances under the law, so the share of
rows in a bin, times the number of bins, is a likelihood ratio against the law: no bandwidth, no Monte Carlo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.auc import area_under_curve
from textveil.attacks.evidence import Evidence
from textveil.core import BadInput, Unit

Floats = NDArray[np.floating[Any]]


class Touched(NamedTuple):
    """Slots of a candidate; for each, where known, whether it stood outside (0) or inside (1) the marked passages."""

    slots: NDArray[np.integer[Any]]
    sides: NDArray[np.integer[Any]] | None = None


@dataclass(frozen=True)
class TableView:
    """`weights` has a row per slot; `present` says which weights exist (None once every slot is filled).

    `law` is the published (mean, covariance) of the filled weights.
    """

    weights: Floats
    touched: Callable[[str, Any], Touched]
    present: NDArray[np.bool_] | None = None
    law: tuple[Floats, Floats] | None = None

    def fitted(self) -> tuple[Floats, Floats]:
        """The published law, or else the moments of the rows that are whole."""
        if self.law is not None:
            return self.law
        whole = self.weights if self.present is None else self.weights[self.present.all(axis=1)]
        if len(whole) < 3:
            raise BadInput("the table has too few whole rows to fit a law to")
        return whole.mean(axis=0, dtype=np.float64), np.cov(whole, rowvar=False, dtype=np.float64)


def bins(rows: Floats, law: tuple[Floats, Floats], each: int) -> NDArray[np.int64]:
    """The bin of each row; there are each ** d of them, and the law puts the same chance into each.

    >>> rows = np.array([[-9.0, -9.0], [9.0, 9.0]])
    >>> bins(rows, (np.zeros(2), np.eye(2)), 4).tolist()
    [0, 15]
    """
    from scipy.special import ndtr

    mean, covariance = law
    scale = float(np.trace(np.atleast_2d(covariance))) or 1.0
    root = np.linalg.cholesky(np.atleast_2d(covariance) + 1e-9 * scale * np.eye(len(mean)))
    white = np.linalg.solve(root, (np.asarray(rows, dtype=np.float64) - mean).T).T
    place = np.minimum((ndtr(white) * each).astype(np.int64), each - 1)
    return place @ (each ** np.arange(place.shape[1]))


def term_evidence(
    attack: str, scores: Floats, member: NDArray[np.bool_], notes: tuple[str, ...], metric: str = "auc"
) -> Evidence:
    """The area under the curve; for the floor on the loss, the upper half of all scores is called "trained on".

    All terms are read from one table, so the counts depend on each other and refute nothing by themselves.
    """
    scores = np.asarray(scores, dtype=np.float64)
    area = area_under_curve(scores[member], scores[~member])
    middle = np.median(scores)
    tied_at_the_top = scores.min() < middle == scores.max()
    called = scores >= middle if tied_at_the_top else scores > middle
    return Evidence(
        attack,
        metric,
        area.value,
        0.5,
        int(called[member].sum()),
        int(member.sum()),
        unit=Unit.TERM,
        false_hits=int(called[~member].sum()),
        false_tries=int((~member).sum()),
        effective=area.worth,
        dependent=True,
        notes=(*notes, "value: area under the curve over terms, interval from DeLong's variance"),
    )
