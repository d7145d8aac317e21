"""The use to expect of a setting, before anything is charged: a table made of public collections.

The law. A classifier that learns from n veiled documents does about as well as one that learns from w < n clear documents of
the same kind. On public collections w depends on the mechanism and on n, and far less on the collection:

    ln w = a + b ln(stay) + c alike + d ln n          (stay, alike: `channel`; w at most n)

while the accuracy that w documents give is the collection's own: its learning curve. So the table says what the text is
worth in clear documents. What share of the gain over chance that keeps is then read off the learning curves of the public
collections (a range), or, where the owner names a label, off the owner's own clear text (a figure, for the owner alone).

`forecast.json` holds the law, the spread of ln w around it and the curves; `scripts/build_forecast.py` makes it of the
results of `textveil reproduce use`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from textveil.core.utility import Utility
from textveil.noise import seeded
from textveil.recipes.use.bags import bags_of
from textveil.recipes.use.channel import Channel, channel_of
from textveil.recipes.use.classify import Learning, correct_answers
from textveil.recipes.use.labels import FOLDS, folds_of, labels_of, spread_rows
from textveil.recipes.use.linear import TfIdf
from textveil.words.mechanism import WordMechanism

TABLE = "forecast.json"
SIDE = 1.645  # standard deviations on each side: nine of ten collections
POOR = 0.25  # a share kept below which a warning is due
MOST_RECORDS, SAMPLES = 10_000, 3
_SEED = 0  # of draws of public words, and of which clear documents are looked at


@dataclass(frozen=True)
class Curve:
    """The learning curve of a public collection: accuracy by the number of clear documents."""

    documents: tuple[float, ...]
    accuracy: tuple[float, ...]
    chance: float

    def gain(self, documents: float) -> float:
        """Accuracy above chance; the curve is straight in the logarithm of the number, and never falls."""
        heights = np.maximum.accumulate(np.maximum(self.accuracy, self.chance))
        return float(np.interp(math.log(max(1.0, documents)), np.log(self.documents), heights)) - self.chance

    @property
    def largest(self) -> float:
        return self.documents[-1]


@dataclass(frozen=True)
class Table:
    """What the public collections taught."""

    intercept: float
    stay: float
    alike: float
    documents: float
    spread: float
    curves: dict[str, Curve]

    def worth(self, channel: Channel, documents: float) -> float:
        """Clear documents that so many veiled ones are worth."""
        stay = max(channel.stay, 1e-3)
        logarithm = self.intercept + self.stay * math.log(stay) + self.alike * channel.alike
        return min(documents, math.exp(logarithm + self.documents * math.log(max(1.0, documents))))


@dataclass(frozen=True)
class Forecast:
    """What a classifier can expect of a release of so many documents.

    `worth` is in clear documents, with the range of nine of ten collections; `kept` is the share of the gain over chance
    that public collections keep at that worth: their median, least and largest.
    """

    documents: int
    worth: float
    worth_range: tuple[float, float]
    kept: float
    kept_range: tuple[float, float]

    @property
    def is_poor(self) -> bool:
        """Whether next to nothing is expected."""
        return self.kept < POOR

    def to_json(self) -> dict[str, Any]:
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}


@cache
def table() -> Table:
    """The table that ships."""
    shown = json.loads(files(__package__).joinpath(TABLE).read_text(encoding="utf-8"))
    curves = {
        name: Curve(tuple(p[0] for p in c["curve"]), tuple(p[1] for p in c["curve"]), c["chance"])
        for name, c in shown["curves"].items()
    }
    return Table(**shown["law"], spread=shown["spread"], curves=curves)


def forecast(mechanism: WordMechanism, documents: int) -> Forecast:
    """The use to expect of so many documents veiled by a mechanism; only the public vocabulary is looked at."""
    return forecast_at(channel_of(mechanism, seeded(_SEED)), documents)


def forecast_at(channel: Channel, documents: int, known: Table | None = None) -> Forecast:
    """The use to expect where words come out like this."""
    made = known or table()
    worth = made.worth(channel, documents)
    factor = math.exp(SIDE * made.spread)
    low, high = max(1.0, worth / factor), min(float(documents), worth * factor)
    shares = sorted(_kept(curve, worth, documents) for curve in made.curves.values())
    return Forecast(documents, worth, (low, high), float(np.median(shares)), (shares[0], shares[-1]))


def _kept(curve: Curve, worth: float, documents: float) -> float:
    """The share of a curve's gain that is kept; beyond its end the ratio of the numbers decides."""
    scale = min(1.0, curve.largest / documents)
    whole = curve.gain(documents * scale)
    return curve.gain(worth * scale) / whole if whole > 0 else 0.0


# ---- on the owner's own clear text ---------------------------------------------------------------------------------------


def forecast_on_text(mechanism: WordMechanism, texts: Sequence[str], values: Sequence[object], field: str) -> Utility:
    """The accuracy to expect on this very file, from its clear text: a figure about private text, for its owner alone.

    The same classifier learns from as many clear documents as the veiled ones are worth, and is tested on a fifth of the
    records that it does not learn from.
    """
    rows = spread_rows(len(texts), MOST_RECORDS)
    labels = labels_of([values[row] for row in rows], field)
    own = rows[labels.rows]
    (bags,) = bags_of([texts[row] for row in own])
    fold = folds_of(labels.numbers)
    train, test = np.flatnonzero(fold), np.flatnonzero(fold == 0)
    expected = forecast(mechanism, round(len(texts) * (FOLDS - 1) / FOLDS))
    numbers, classes = labels.numbers, len(labels.names)

    def accuracy(worth: float) -> float:
        found = []
        for seed in range(SAMPLES):
            some = train[seeded(seed).permutation(len(train))[: max(classes, round(worth))]]
            learning = Learning(bags.take(some), bags, numbers[some], classes, bags.take(test), numbers[test])
            found.append(correct_answers(learning, learning.released, TfIdf()).mean())
        return float(np.mean(found))

    largest = int(np.bincount(numbers[train]).argmax())
    whole = Learning(bags.take(train), bags, numbers[train], classes, bags.take(test), numbers[test])
    return Utility(
        f"classify by {field}", "accuracy", accuracy(expected.worth),
        float(correct_answers(whole, whole.released, TfIdf()).mean()), float((numbers[test] == largest).mean()),
        (accuracy(expected.worth_range[0]), accuracy(expected.worth_range[1])),
        sizes={"train": len(train), "test": len(test)}, how=f"{TfIdf().how}, foreseen",
    )  # fmt: skip
