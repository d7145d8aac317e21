"""How promises and releases look in a notebook: a self-contained piece of HTML, every value escaped.

It takes the colours of the page around it, so that it can be read on light and on dark. The released value itself is never
shown: it may be long, and somebody else's text should not stand in a notebook by accident.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from .losses import Metric

if TYPE_CHECKING:
    from .guarantee import Guarantee
    from .release import Release

_BOX = "border:1px solid rgba(128,128,128,.5);border-radius:6px;padding:10px 14px;max-width:46em;line-height:1.45"
_BADGE = "display:inline-block;border-radius:4px;padding:1px 8px;color:#fff;font-weight:600;background:"
_TONES = {  # as on cards: names, and green only where something is bounded
    "guarantee": ("Guarantee", "#1a7f37"),
    "measured": ("Measured", "#57606a"),
    "cryptographic": ("Cryptographic", "#0969da"),
    "heuristic": ("Heuristic", "#57606a"),
    "broken": ("Broken", "#cf222e"),
    "seeded": ("Seeded draft", "#cf222e"),
}
_AMBER, _RED = "#9a6700", "#cf222e"
MOST_ROWS = 12  # of parameters and evidence


def guarantee_html(promise: Guarantee) -> str:
    """A promise: badge, what is bounded, under which assumptions, and what is not protected.

    >>> from .guarantee import Guarantee
    >>> from .losses import NoPromise
    >>> from .units import Adjacency, Unit
    >>> "&lt;b&gt;" in guarantee_html(Guarantee(NoPromise("<b>"), Unit.WORD, Adjacency.REPLACE))
    True
    """
    return _box(_badge(promise) + _promise_rows(promise))


def release_html(release: Release, folder: str = "") -> str:
    """A release: what made it, its promise, what left unprotected, what attacks achieved, and where its card is."""
    stamp = release.stamp
    refuted = any(str(row.get("verdict", "")).startswith("refuted") for row in release.evidence)
    head = f"<b>{escape(stamp.mechanism)}</b> {_badge(release.guarantee, refuted=refuted, draft=stamp.draft)}"
    where = {"folder": folder, "card": f"{folder}/card.html"} if folder else {}
    facts = {
        "made": stamp.created.replace("T", " "),
        "value": described(release.value),
        "ledger": release.entry or "not recorded",
        **where,
    }
    parts = [
        head,
        _rows(facts),
        _promise_rows(release.guarantee),
        _list("Left unprotected", release.passes),
        _folded("Parameters", _rows(dict(list(stamp.parameters.items())[:MOST_ROWS])), opened=""),
        _list("Attacks", (attack_line(row) for row in release.evidence[:MOST_ROWS])),
    ]
    return _box("".join(parts))


def described(value: Any) -> str:
    """What a value is, without its content.

    >>> described(["a", "b"]), described({"a": 1})
    ('2 texts', 'a dict')
    """
    if (shape := getattr(value, "shape", None)) is not None:
        return "a table of " + " x ".join(f"{n:,}" for n in shape)
    if (path := getattr(value, "path", None)) is not None:
        return f"the file {getattr(value, 'name', '') or path.name}"
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return f"{len(value):,} texts"
    return f"a {type(value).__name__}"


def attack_line(row: Mapping[str, Any]) -> str:
    """
    >>> attack_line({"attack": "words.bayes", "metric": "success", "value": 0.31, "chance": 0.01})
    'words.bayes: success 31.0 %, by chance 1.0 %'
    """
    return f"{row['attack']}: {row['metric']} {row['value']:.1%}, by chance {row['chance']:.1%}".replace("%", " %")


def _promise_rows(promise: Guarantee) -> str:
    parts = promise.parts()
    rows = {
        "protected": parts.protected,
        "bound": parts.bound,
        "how sure": parts.how_sure,
        "unit": f"{promise.unit} ({promise.adjacency})",
        "source": promise.source,
    }
    lists = _list("Assumes", parts.assumptions) + _list("Not protected", parts.not_protected)
    return _rows({name: value for name, value in rows.items() if value}) + lists


def _badge(promise: Guarantee, *, refuted: bool = False, draft: bool = False) -> str:
    name, colour = badge(promise, refuted=refuted, draft=draft)
    return f'<span style="{_BADGE}{colour}">{escape(name)}</span>'


def badge(promise: Guarantee, *, refuted: bool = False, draft: bool = False) -> tuple[str, str]:
    """The name and the colour of a promise: those of its card."""
    name, colour = _TONES[promise.label]
    if refuted:
        return f"{name}, refuted", _RED
    if draft and promise.label != "seeded":
        return "Draft", _RED
    if promise.label != "guarantee" or promise.is_bounding:
        return name, colour
    return (
        f"Guarantee for near {promise.unit.things}" if isinstance(promise.loss, Metric) else "Weak guarantee"
    ), _AMBER


def _rows(values: Mapping[str, Any]) -> str:
    cell = "padding:2px 12px 2px 0;vertical-align:top;text-align:left;background:transparent"
    rows = (
        f'<tr style="background:transparent"><td style="{cell};opacity:.7;white-space:nowrap">{escape(str(name))}</td>'
        f'<td style="{cell}">{escape(str(value))}</td></tr>'
        for name, value in values.items()
    )
    return f'<table style="border:0;margin:6px 0;font-size:inherit">{"".join(rows)}</table>' if values else ""


def _list(title: str, lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(str(line))}</li>" for line in lines)
    return _folded(title, f'<ul style="margin:4px 0">{items}</ul>') if items else ""


def _folded(title: str, content: str, opened: str = " open") -> str:
    return f"<details{opened}><summary>{escape(title)}</summary>{content}</details>" if content else ""


def _box(content: str) -> str:
    return f'<div style="{_BOX}">{content}</div>'


__all__ = ["guarantee_html", "release_html"]
