"""Measures of the study of use: what was foreseen against what was measured, and what a wording adds."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

from textveil.recipes.use.channel import Channel
from textveil.recipes.use.forecast import Curve, Table, forecast_at, table
from textveil.recipes.use.trial import Trial, foreseen
from textveil.reproduce.measures import by_name
from textveil.reproduce.study import CellResult, Results
from textveil.reproduce.use.law import arm_of, curve_in, fit_law, left_out_error, points_of, trial_points_of
from textveil.reproduce.verdicts import Measure, mean_of, shared_level

Arm = dict[str, Any]
ByDraw = tuple[Arm, dict[int, float]]  # the parameters of an arm, and a number for each draw
WORDINGS: dict[str, dict[str, Any]] = {
    "function words": {"keep": "function-words"},
    "once": {"once": True},
    "both": {"keep": "function-words", "once": True},
}


def curve_of(results: Results, name: str) -> Curve:
    """The learning curve of a collection's clear texts."""
    (cell,) = results.of("clear", name=name)
    return curve_in(cell.result)


def channel_of_arm(results: Results, parameters: Arm) -> CellResult:
    """What an arm does to public words."""
    return next(cell for cell in results.of("channel") if arm_of(cell.parameters) == arm_of(parameters))


def by_arm(
    results: Results, kind: str, name: str, documents: int, how: str = "tfidf"
) -> dict[str, tuple[Arm, dict[int, float]]]:
    """Accuracy by draw, of each arm."""
    found: dict[str, tuple[Arm, dict[int, float]]] = {}
    for cell in results.of(kind, name=name):
        for point in cell.result["points"]:
            if point["documents"] == documents:
                arm = found.setdefault(arm_of(cell.parameters), (cell.parameters, {}))
                arm[1][cell.parameters["draw"]] = float(point[how])
    return found


def foreseen_accuracy(results: Results, name: str, parameters: Arm, documents: int) -> float:
    """What a trial on so many texts of the collection foresees of them, with the growth of the table that ships."""
    (own,) = results.of("own", name=name, file=documents)
    trials = results.of("trial", name=name, file=documents)
    (trial,) = [cell for cell in trials if arm_of(cell.parameters) == arm_of(parameters)]
    return foreseen(Trial(**trial.result), curve_in(own.result), documents, table().growth)


def by_law(results: Results, name: str, parameters: Arm, documents: int) -> float:
    """What the law foresees without a trial, with the collection's own learning curve."""
    facts = channel_of_arm(results, parameters).result
    worth = table().worth(Channel(facts["stay"], facts["alike"]), documents)
    curve = curve_of(results, name)
    return curve.chance + curve.gain(worth)


def named(parameters: Arm) -> str:
    more = parameters.get("parameters") or {}
    setting = f"epsilon {parameters['epsilon']:g}" if "epsilon" in parameters else f"attack {parameters['attack']:g}"
    extras = "".join(f", {key} {value}" for key, value in sorted(more.items()))
    return f"{parameters['mechanism']}, {setting}{extras}"


def forecast_error(
    results: Results, *, kind: str, name: str, documents: int, mechanism: str = "", how: str = "trial"
) -> list[Measure]:
    """Foreseen less measured accuracy, one measure for each arm; the intervals are over draws and hold together."""
    foresee = {"trial": foreseen_accuracy, "law": by_law}[how]
    arms = [
        (parameters, values)
        for parameters, values in by_arm(results, kind, name, documents).values()
        if mechanism in ("", parameters["mechanism"])
    ]
    level = shared_level(len(arms))
    return [
        mean_of(
            f"{name}, {named(parameters)}",
            [foresee(results, name, parameters, documents) - value for value in values.values()],
            level=level,
        )
        for parameters, values in arms
    ]


def kept_in_range(results: Results, *, kind: str, name: str, documents: int) -> list[Measure]:
    """How far the share kept lies outside the range that the table gives without looking at the text; 0 is inside."""
    curve, outside = curve_of(results, name), []
    for parameters, values in by_arm(results, kind, name, documents).values():
        facts = channel_of_arm(results, parameters).result
        low, high = forecast_at(Channel(facts["stay"], facts["alike"]), documents).kept_range
        kept = sum(values.values()) / len(values) - curve.chance
        share = kept / curve.gain(documents)
        outside.append(Measure.exact(f"{name}, {named(parameters)}", max(0.0, low - share, share - high)))
    return outside


def left_out(results: Results, *, kind: str, name: str) -> list[Measure]:
    """How far the law misses a collection's accuracies if that one is left out of its making: root mean square."""
    points = points_of(_entries(results, "channel", "clear", kind), (kind,))
    own = [point for point in points if point.name == name]
    if not own:
        return []
    made = Table(*fit_law([point for point in points if point.name != name]), spread=0.0, curves={})
    missed = [p.curve.chance + p.curve.gain(made.worth(p.channel, p.documents)) - p.accuracy for p in own]
    return [Measure.exact(f"{name}, {len(own)} points", math.sqrt(sum(m * m for m in missed) / len(missed)))]


def growth_left_out(results: Results, *, kind: str, name: str) -> list[Measure]:
    """How far trials miss a collection's accuracies with the growth of the others: root mean square."""
    points = trial_points_of(_entries(results, "own", "trial", kind), kind)
    own = [point for point in points if point.name == name]
    return [Measure.exact(f"{name}, {len(own)} points", left_out_error(points, name))] if own else []


def _entries(results: Results, *kinds: str) -> list[dict[str, Any]]:
    """Finished cells as results.json has them."""
    return [
        {"cell": kind, "parameters": cell.parameters, "result": cell.result}
        for kind in kinds
        for cell in results.of(kind)
    ]


def wording_gain(
    results: Results, *, name: str, documents: int, wording: str, attack: float, how: str = "tfidf"
) -> list[Measure]:
    """Accuracy with a wording less that of today's default at the same attack success, draw by draw."""
    wordings = by_arm(results, "wording", name, documents, how).values()
    usual = by_arm(results, "frontier", name, documents, how).values()
    first = [values for arm, values in wordings if arm.get("parameters") == WORDINGS[wording]]
    second = [values for arm, values in usual if (arm["mechanism"], arm["attack"]) == ("brr", attack)]
    if not first or not second:
        return []
    same = sorted(set(first[0]) & set(second[0]))
    return [mean_of(f"{name}, {how}", [first[0][draw] - second[0][draw] for draw in same])]


def accuracies(results: Results, name: str, documents: int) -> dict[str, dict[float, list[float]]]:
    """By mechanism and attack success, for figures."""
    found: dict[str, dict[float, list[float]]] = defaultdict(dict)
    for parameters, values in by_arm(results, "frontier", name, documents).values():
        attack = channel_of_arm(results, parameters).result["attack"]["value"]
        found[f"words.{parameters['mechanism']}"][attack] = list(values.values())
    return {mechanism: dict(sorted(points.items())) for mechanism, points in found.items()}


MEASURES = by_name(forecast_error, growth_left_out, kept_in_range, left_out, wording_gain)
