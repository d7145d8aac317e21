"""The use to expect on the owner's own labelled text: a trial on some of it, and the table for the rest.

The trial is a simulation. At most 1,000 documents are veiled by the mechanism itself, a classifier learns from the result,
and it is tested on clear documents of the same file. Nothing of it is kept, and what comes out is a
figure about private text, for its owner alone. The table (`forecast`) says how use grows with the number of documents, which
a trial on some cannot say: the clear documents that the veiled ones are worth grow as a power of their number,

    w(n) = w(m) (n / m) ** growth          (w at most n; growth: of public collections)

where w(m) is read off the file's own learning curve, at the accuracy of the trial, and the foreseen accuracy off the same
curve at w(n). Up to m documents the trial itself is the answer.

One draw of the noise tells little: what is learnt from the same documents differs by some hundredths from draw to draw,
because a classifier that learnt from veiled text may lean towards one label on clear text. So there are ten draws, two for
each fold: the documents of the other folds are veiled, learnt from, and tested on the clear ones of this fold. Drawing takes
time: one draw has at most 200,000 words, and a trial takes fewer documents where they are long. (To draw each distinct
word some times and deal the draws to its occurrences would be quicker, and is wrong: it foresaw up to .18 too much on long
notes, because what a frequent word becomes is then spread over a dozen words and not over thousands.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from textveil.core.utility import Utility
from textveil.noise import seeded
from textveil.recipes.use.bags import Bags, bags_of
from textveil.recipes.use.classify import Learning, correct_answers
from textveil.recipes.use.forecast import SIDE, Curve, Table, table
from textveil.recipes.use.labels import FOLDS, folds_of, labels_of, spread_rows
from textveil.recipes.use.linear import TfIdf
from textveil.words.mechanism import WordMechanism

MOST_RECORDS = 10_000
TRIED, WORDS = 1_000, 200_000  # documents of a trial and their words, at most
DRAWS = 10  # a multiple of the folds, so that each is tested as often
CURVE = (15, 30, 60, 120, 250, 500, 1_000, 2_000, 4_000, 8_000)
FITS = ((1_000, FOLDS), (2_000, 2), (10**9, 1))  # up to so many documents, folds that are tested


@dataclass(frozen=True)
class OwnText:
    """The labelled clear texts of a file, their bags and their folds."""

    texts: list[str]
    bags: Bags
    numbers: np.ndarray
    classes: int

    @property
    def fold(self) -> np.ndarray:
        return folds_of(self.numbers)

    @property
    def chance(self) -> float:
        return float((self.numbers == np.bincount(self.numbers).argmax()).mean())


@dataclass(frozen=True)
class Trial:
    """What a classifier gave that learnt from so many veiled documents."""

    learnt: int
    accuracy: float


Cut = Callable[[Sequence[str]], list[str]]
Advance = Callable[[float], None]


def own_text(texts: Sequence[str], values: Sequence[object], field: str, cut: Cut | None = None) -> OwnText:
    """The records with a label; of many, evenly spread ones. `cut` masks what is masked before words are drawn."""
    rows = spread_rows(len(texts), MOST_RECORDS)
    labels = labels_of([values[row] for row in rows], field)
    chosen = [texts[row] for row in rows[labels.rows]]
    chosen = chosen if cut is None else cut(chosen)
    (bags,) = bags_of(chosen)
    return OwnText(chosen, bags, labels.numbers, len(labels.names))


# ---- the simulation ------------------------------------------------------------------------------------------------------


def try_out(mechanism: WordMechanism, own: OwnText, *, seed: int = 0, advance: Advance = lambda step: None) -> Trial:
    """Veil some documents, learn from them and test on clear ones, fold by fold; `advance` is told of each draw."""
    tried, noise, fold = _tried(own), seeded(seed), own.fold
    learnt, right = [], []
    for draw in range(DRAWS):
        kept, test = tried[fold[tried] != draw % FOLDS], np.flatnonzero(fold == draw % FOLDS)
        veiled, clear = _over_one_vocabulary(mechanism.apply([own.texts[row] for row in kept], noise=noise), own.bags)
        right.append(_right(veiled, own.numbers[kept], clear.take(test), own.numbers[test], own))
        learnt.append(len(kept))
        advance(1)
    return Trial(round(float(np.mean(learnt))), float(np.concatenate(right).mean()))


def _tried(own: OwnText) -> np.ndarray:
    """The documents of the trial, evenly spread."""
    words = max(1.0, float(own.bags.counts.sum()) / len(own.bags))
    return spread_rows(len(own.bags), max(FOLDS * own.classes, min(TRIED, int(WORDS / words))))


def _over_one_vocabulary(drawn: list[str], clear: Bags) -> tuple[Bags, Bags]:
    """Bags of what was drawn, and clear bags with their own words first and those that were drawn behind them."""
    words, veiled = bags_of(clear.words, drawn)
    return veiled, Bags(sparse.csr_array(clear.counts @ words.counts), words.words)


# ---- the file's own learning curve ---------------------------------------------------------------------------------------


def own_curve(own: OwnText, most: float = math.inf) -> Curve:
    """Accuracy by the number of clear documents, up to the first number that is `most` or more."""
    largest = int((own.fold != 0).sum())
    sizes = sorted({min(size, largest) for size in (*CURVE, largest)})
    enough = next((place for place, size in enumerate(sizes) if size >= most), len(sizes) - 1)
    sizes = sizes[: enough + 1]
    return Curve(tuple(map(float, sizes)), tuple(_clear_accuracy(own, size) for size in sizes), own.chance)


def _clear_accuracy(own: OwnText, size: int) -> float:
    right, fold = [], own.fold
    for number in range(next(folds for most, folds in FITS if size <= most)):
        others, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        rows = others[seeded(number).permutation(len(others))[:size]]
        right.append(_right(own.bags.take(rows), own.numbers[rows], own.bags.take(test), own.numbers[test], own))
    return float(np.concatenate(right).mean())


def _right(train: Bags, numbers: np.ndarray, test: Bags, asked: np.ndarray, own: OwnText) -> np.ndarray:
    """Which clear texts are labelled rightly."""
    return correct_answers(Learning(train, test, numbers, own.classes, test, asked), train, TfIdf())


# ---- the forecast --------------------------------------------------------------------------------------------------------


def foreseen(trial: Trial, curve: Curve, documents: float, growth: float) -> float:
    """The accuracy of so many veiled documents, from a trial on fewer."""
    if documents <= trial.learnt:
        return trial.accuracy
    return curve.chance + curve.gain(grown_worth(trial, curve, documents, growth))


def grown_worth(trial: Trial, curve: Curve, documents: float, growth: float) -> float:
    """Clear documents that so many veiled ones are worth, from a trial on fewer."""
    return min(documents, curve.documents_for(trial.accuracy) * (documents / trial.learnt) ** growth)


def forecast_on_text(
    mechanism: WordMechanism,
    texts: Sequence[str],
    values: Sequence[object],
    field: str,
    *,
    cut: Cut | None = None,
    known: Table | None = None,
    advance: Advance = lambda step: None,
) -> Utility:
    """The accuracy to expect on this very file, from its clear text: a figure about private text, for its owner alone.

    It foresees what `measure` finds with the file's own folds: a classifier that learns from four of five veiled documents.
    """
    from_public, own = known or table(), own_text(texts, values, field, cut)
    documents = round(len(texts) * (FOLDS - 1) / FOLDS)
    trial, curve = try_out(mechanism, own, advance=advance), own_curve(own)
    value = foreseen(trial, curve, documents, from_public.growth)
    away = SIDE * from_public.error
    return Utility(
        f"classify by {field}", "accuracy", value, curve.accuracy[-1], curve.chance,
        (max(0.0, value - away), min(1.0, value + away)),
        sizes={"train": documents, "test": len(own.numbers), "tried": trial.learnt}, how=f"{TfIdf().how}, foreseen",
    )  # fmt: skip
