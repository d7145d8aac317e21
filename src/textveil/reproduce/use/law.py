"""The law of the forecast, fitted to the cells of the study (see recipes/use/forecast.py).

Every veiled point of a collection that is learnt from gives a residual: the accuracy that its own learning curve has at the
foreseen worth, less the measured one, as a share of the collection's gain. Least squares over all of them, each collection
counting the same, give the law. The spread is the standard deviation of ln(worth) around it, of points whose accuracy lies
where the curve rises, collections again counting the same.

The growth of a trial (recipes/use/trial.py) is fitted to the same points. Each collection has the exponent at which what its
trials foresee is nearest to what was measured, in least squares over accuracies; the growth is the median of these, since one
collection with few, long texts would pull a common fit towards its noise. The error is the root mean square over the
collections, each foreseen with the median of the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from textveil.recipes.use.channel import Channel
from textveil.recipes.use.forecast import Curve, Table
from textveil.recipes.use.trial import Trial, foreseen
from textveil.reproduce.use.collections import LEARNT_FROM

NAMES = ("intercept", "stay", "alike", "documents")
_START = (1.0, 1.0, 0.0, 0.8)
_ARM = ("mechanism", "parameters", "attack", "epsilon")
Entry = dict[str, Any]  # of results.json: cell, parameters, result


class Point(NamedTuple):
    """One veiled measurement beside the learning curve of its collection."""

    name: str
    channel: Channel
    documents: int
    accuracy: float
    curve: Curve


class TrialPoint(NamedTuple):
    """One veiled measurement beside the trial on a file of its collection."""

    name: str
    trial: Trial
    documents: int
    accuracy: float
    curve: Curve

    def missed(self, growth: float) -> float:
        """Foreseen less measured accuracy."""
        return foreseen(self.trial, self.curve, self.documents, growth) - self.accuracy


def arm_of(parameters: dict[str, Any]) -> str:
    """What makes an arm one: cells of the same arm share a channel."""
    return repr(sorted((key, repr(parameters[key])) for key in _ARM if key in parameters))


def curve_in(result: dict[str, Any]) -> Curve:
    """The learning curve that a cell found."""
    documents, accuracy = zip(*result["curve"], strict=True)
    return Curve(tuple(map(float, documents)), tuple(map(float, accuracy)), float(result["chance"]))


def curves_of(cells: Iterable[Entry]) -> dict[str, Curve]:
    """Learning curves by collection."""
    return {cell["parameters"]["name"]: curve_in(cell["result"]) for cell in cells if cell["cell"] == "clear"}


def channels_of(cells: Iterable[Entry]) -> dict[str, Channel]:
    """What each arm does to public words."""
    return {
        arm_of(cell["parameters"]): Channel(cell["result"]["stay"], cell["result"]["alike"])
        for cell in cells
        if cell["cell"] == "channel"
    }


def points_of(cells: list[Entry], kinds: Iterable[str]) -> list[Point]:
    """All veiled points of some kinds of cells."""
    curves, channels, wanted = curves_of(cells), channels_of(cells), set(kinds)
    return [
        Point(
            cell["parameters"]["name"],
            channels[arm_of(cell["parameters"])],
            point["documents"],
            point["tfidf"],
            curves[cell["parameters"]["name"]],
        )
        for cell in cells
        if cell["cell"] in wanted and arm_of(cell["parameters"]) in channels
        for point in cell["result"]["points"]
    ]


def trial_points_of(cells: list[Entry], kind: str) -> list[TrialPoint]:
    """All veiled points of a kind of cells that have a trial of the same collection and arm, on the largest file."""
    files = sorted((cell["parameters"]["file"], cell["parameters"]["name"]) for cell in cells if cell["cell"] == "own")
    largest = {name: file for file, name in files}
    curves = {
        cell["parameters"]["name"]: curve_in(cell["result"])
        for cell in cells
        if cell["cell"] == "own" and cell["parameters"]["file"] == largest[cell["parameters"]["name"]]
    }
    trials = {
        (cell["parameters"]["name"], arm_of(cell["parameters"])): Trial(**cell["result"])
        for cell in cells
        if cell["cell"] == "trial"
    }
    return [
        TrialPoint(name, trials[name, arm], point["documents"], point["tfidf"], curves[name])
        for cell in cells
        if cell["cell"] == kind and (key := (cell["parameters"]["name"], arm_of(cell["parameters"]))) in trials
        for name, arm in [key]
        for point in cell["result"]["points"]
    ]


def fit_growth(points: list[TrialPoint]) -> float:
    """The median over collections of the exponent at which a collection's trials foresee best."""
    by_name: dict[str, list[TrialPoint]] = {}
    for point in points:
        by_name.setdefault(point.name, []).append(point)
    return float(np.median([_own_growth(own) for own in by_name.values()]))


def _own_growth(points: list[TrialPoint]) -> float:
    from scipy.optimize import minimize_scalar

    def squares(growth: float) -> float:
        return sum(point.missed(growth) ** 2 for point in points)

    return float(minimize_scalar(squares, bounds=(0.0, 1.5), method="bounded").x)


def left_out_error(points: list[TrialPoint], name: str) -> float:
    """Root mean square of what a collection's trials miss, with the growth of the others."""
    growth = fit_growth([point for point in points if point.name != name])
    return float(np.sqrt(np.mean([point.missed(growth) ** 2 for point in points if point.name == name])))


def fit_table(cells: list[Entry]) -> dict[str, Any]:
    """The law, its spread and the curves, as they are shipped."""
    points = [point for point in points_of(cells, ("table",)) if point.name in LEARNT_FROM]
    law = fit_law(points)
    curves = {name: curve for name, curve in curves_of(cells).items() if name in LEARNT_FROM}
    made = Table(*law, spread=0.0, curves=curves)
    tried = [point for point in trial_points_of(cells, "table") if point.name in LEARNT_FROM]
    errors = [left_out_error(tried, name) for name in dict.fromkeys(point.name for point in tried)]
    return {
        "made_by": "python scripts/build_forecast.py",
        "law": dict(zip(NAMES, (round(float(v), 4) for v in law), strict=True)),
        "spread": round(spread_of(made, points), 4),
        "points": len(points),
        "growth": {
            "exponent": round(fit_growth(tried), 4),
            "error": round(float(np.sqrt(np.mean(np.square(errors)))), 4),
        },
        "curves": {
            name: {"chance": curve.chance, "curve": list(zip(curve.documents, curve.accuracy, strict=True))}
            for name, curve in curves.items()
        },
    }


def fit_law(points: list[Point]) -> np.ndarray:
    from scipy.optimize import least_squares

    weights = _weights(points)

    def residuals(law: np.ndarray) -> np.ndarray:
        made = Table(*law, spread=0.0, curves={})
        return weights * np.array([_missed(made, point) for point in points])

    found: np.ndarray = least_squares(residuals, np.array(_START)).x
    return found


def _weights(points: list[Point]) -> np.ndarray:
    """Each collection counts the same."""
    names = [point.name for point in points]
    return np.array([1 / math.sqrt(names.count(name)) for name in names])


def _missed(made: Table, point: Point) -> float:
    foreseen = point.curve.gain(made.worth(point.channel, point.documents))
    return (foreseen - (point.accuracy - point.curve.chance)) / point.curve.gain(point.documents)


def spread_of(made: Table, points: list[Point]) -> float:
    """The standard deviation of ln(worth) around the law."""
    kept = [p for p in points if 0.1 < (p.accuracy - p.curve.chance) / p.curve.gain(p.documents) < 0.95]
    weights = _weights(kept) ** 2
    errors = np.array([math.log(p.curve.documents_for(p.accuracy) / made.worth(p.channel, p.documents)) for p in kept])
    return float(np.sqrt((weights * errors**2).sum() / weights.sum()))
