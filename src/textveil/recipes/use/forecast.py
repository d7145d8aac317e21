"""The use to expect of a setting, before anything is charged: a table made of public collections.

The law. A classifier that learns from n veiled documents does about as well as one that learns from w < n clear documents of
the same kind. On public collections w depends on the mechanism and on n, and far less on the collection:

    ln w = a + b ln(stay) + c alike + d ln n          (stay, alike: `channel`; w at most n)

while the accuracy that w documents give is the collection's own: its learning curve. So the table says what the text is
worth in clear documents. What share of the gain over chance that keeps is then read off the learning curves of the public
collections: a range, wide, because the table knows nothing of the text. Which words carry the label, and whether their near
words carry it too, decides more than the law can say (nouns of a product do, "good" and "bad" do not): where the owner names
a label, a trial on the owner's own text says it (`trial`), and the table only how use grows with the number of documents.

`forecast.json` holds the law, the spread of ln w around it, the growth with its error, and the curves;
`scripts/build_forecast.py` makes it of the results of `textveil reproduce use`.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from textveil.noise import seeded
from textveil.recipes.use.channel import Channel, channel_of
from textveil.words.mechanism import WordMechanism

TABLE = "forecast.json"
SIDE = 1.645  # standard deviations on each side: nine of ten collections
POOR = 0.25  # a share kept below which a warning is due
_SEED = 0  # of draws of public words


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

    def documents_for(self, accuracy: float) -> float:
        """The number of clear documents that give an accuracy.

        >>> round(Curve((10.0, 1000.0), (0.5, 0.9), 0.5).documents_for(0.7))
        100
        """
        heights = np.maximum.accumulate(self.accuracy) + 1e-9 * np.arange(len(self.accuracy))
        return float(np.exp(np.interp(accuracy, heights, np.log(self.documents))))

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
    growth: float = 1.0  # of the worth of a trial, by the number of documents (`trial`)
    error: float = 0.0  # of what a trial foresees: root mean square over collections that were left out

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
    grows = shown["growth"]
    return Table(**shown["law"], spread=shown["spread"], curves=curves, growth=grows["exponent"], error=grows["error"])


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
