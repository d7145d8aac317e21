"""The page of a frontier: the recommended setting, the picture, the figures."""

from __future__ import annotations

import re
from typing import Any

from textveil.report.html import esc, number, percent, section, table, tag
from textveil.report.html import page as whole_page
from textveil.reproduce.figures import Figure, Panel, Series, svg

LEARNERS = {
    "tfidf": "TF-IDF and logistic regression",
    "vectors": "mean of public word vectors and logistic regression",
}
PRIVATE = (
    "These figures were computed with the private text and tell something of it: keep this folder as you keep the text."
)


def figure(found: dict[str, Any]) -> Figure:
    """Attack success across, use upwards, one curve per mechanism."""
    names = dict.fromkeys(point["mechanism"] for point in found["points"])
    series = [_series(name, [p for p in found["points"] if p["mechanism"] == name]) for name in names]
    lines = [("clear text", found["accuracy"]), ("by chance", found["chance"])]
    panel = Panel(
        f"classify by {found['label_field']}", "success of the best attack on a word", "accuracy", series, lines
    )
    return Figure("frontier", "Attack success against use", [panel], columns=1)


def _series(name: str, points: list[dict[str, Any]]) -> Series:
    points = sorted(points, key=lambda point: float(point["attack"]["value"]))
    values = [point["accuracy"]["value"] for point in points]
    ends = [point["accuracy"]["interval"] or [value, value] for point, value in zip(points, values, strict=True)]
    across = [point["attack"]["value"] for point in points]
    return Series(name, across, values, [end[0] for end in ends], [end[1] for end in ends])


def recommendation(found: dict[str, Any]) -> str:
    """One sentence, and the command that it leads to."""
    best = found["recommended"]
    kept = (
        ""
        if best["kept"] is None
        else f", {percent(max(0.0, best['kept']))} of what the clear text gives beyond chance"
    )
    near = best["not_told_apart"]
    others = ", ".join(f"{p['mechanism']} at epsilon {p['epsilon']:g}" for p in near)
    return (
        f"Most useful where the best attack succeeds in at most {percent(found['target'])} of words: {best['mechanism']} at "
        f"epsilon {best['epsilon']:g}, accuracy {percent(best['accuracy']['value'])}{kept}."
        + (f" Not told apart from it: {others}." if near else "")
    )


def wide(drawn: str) -> str:
    """A picture that fills the page, whatever its width.

    >>> wide('<svg viewBox="0 0 380 314" width="380" height="314">')
    '<svg viewBox="0 0 380 314" width="100%">'
    """
    return re.sub(r' width="\d+" height="\d+"', ' width="100%"', drawn, count=1)


def page(found: dict[str, Any]) -> str:
    """The page; it loads nothing."""
    best = found["recommended"]
    field = f" --text-field {found['text_field']}" if found.get("text_field") else ""
    command = (
        f"textveil veil {found['file']} -o OUT --mechanism {best['mechanism']} --epsilon {best['epsilon']:g}{field}"
    )
    about = (
        f"{found['train']:,} documents to learn from, {found['tested']:,} clear ones to test on, {found['labels']} labels; "
        f"{LEARNERS[found['learner']]}; {found['draws']} draws a point, intervals (95 %, Student's) over draws. Attack "
        "success: the best attack on one word, under the public prior."
    )
    body = [
        tag("header", tag("p", "Textveil frontier", "kicker") + tag("h1", esc(found["file"]))
            + tag("p", esc(recommendation(found)), "lead")),
        section("The command", tag("p", tag("code", esc(command)))),
        section("Attack success against use", wide(svg(figure(found))), tag("p", esc(about), "small")),
        section("The figures", table(("Mechanism", "Epsilon", "Attack", "Accuracy", "Kept"), map(_row, found["points"]))),
        section("Private", tag("p", esc(PRIVATE))) if found["private"] else "",
    ]  # fmt: skip
    return whole_page(f"Frontier: {found['file']}", "\n".join(body), "plain")


def _row(point: dict[str, Any]) -> tuple[str, ...]:
    accuracy = percent(point["accuracy"]["value"])
    if point["accuracy"]["interval"]:
        ends = " to ".join(percent(max(0.0, end)) for end in point["accuracy"]["interval"])
        accuracy += f"<br>{tag('span', esc(ends), 'small')}"
    kept = "" if point["kept"] is None else percent(max(0.0, point["kept"]))
    return esc(point["mechanism"]), number(point["epsilon"]), percent(point["attack"]["value"]), accuracy, kept
