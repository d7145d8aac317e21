"""The section about use: each task that was measured, with the release, with the original, and by chance."""

from __future__ import annotations

from typing import Any

from ..core import TextveilError
from ..core.facts import Facts
from ..core.utility import Utility
from .html import bullets, esc, number, percent, table, tag

NOT_YET = (
    "Nobody has measured yet what this release is good for. <code>textveil measure FOLDER --truth IN</code> does a task with "
    "it and with the original, for the owner alone; <code>--publish</code> puts the figures here."
)


OF_ROOMS = {  # where `measure` is not the way
    "hashed": "Nobody has measured yet what this model finds. <code>textveil hashed apply</code> uses it on new texts, and "
    "<code>textveil hashed score FOUND --spans MARKED</code> holds its finds against marked ones.",
    "training.vocab": "A list of words does no task by itself: what it is good for shows in what is made with it.",
    "pii": "What masked text is good for depends on the task; nobody has measured it.",
}


def _not_yet(mechanism: str) -> str:
    """How to find out what a release of this kind is good for."""
    return OF_ROOMS.get(mechanism) or OF_ROOMS.get(mechanism.partition(".")[0]) or NOT_YET


def utilities(manifest: dict[str, Any]) -> tuple[list[Utility], int]:
    """All readable lines of utility, and how many could not be read."""
    good, bad = [], 0
    for row in manifest.get("utility") or []:
        try:
            good.append(Utility.from_json(row))
        except (TextveilError, TypeError, ValueError, AttributeError):
            bad += 1
    return good, bad


def use_section(manifest: dict[str, Any], facts: Facts) -> str:
    """What it is good for, or how to find out."""
    rows, unreadable = utilities(manifest)
    parts = []
    if rows:
        head = ("Task", "With the release", "With the original", "By chance", "Kept")
        parts.append(table(head, [_row(use) for use in rows]))
    parts.append(_scores(facts))
    if not rows and facts.scores is None:
        parts.append(tag("p", _not_yet(str(manifest["mechanism"]))))
    notes = dict.fromkeys(f"{use.task}: {note}" for use in rows for note in use.notes)
    parts.append(tag("div", bullets(notes), "small") if notes else "")
    if rows:
        said = "Kept: of what the original gives beyond chance, the share that the release gives."
        if any(use.published for use in rows):
            said += " These figures were computed with the private text at hand, and its owner published them."
        parts.append(tag("p", said, "small"))
    if unreadable:
        parts.append(tag("p", f"{unreadable} lines of utility could not be read and are not shown.", "alarm"))
    return "".join(parts)


def shown(value: float | None, use: Utility) -> str:
    """A score as a reader expects it: shares in percent, anything else as a number.

    >>> shown(0.71, Utility("t", "accuracy", 0.71, 0.77)), shown(31.5, Utility("t", "perplexity", 31.5, 28.0))
    ('71.0 %', '31.5')
    """
    if value is None:
        return "not measured"
    figures = [v for v in (use.value, use.original, use.chance) if v is not None]
    return percent(value) if all(0 <= v <= 1 for v in figures) else number(value)


def _row(use: Utility) -> tuple[str, ...]:
    sizes = [f"{count:,} {name}" for name, count in use.sizes.items()]
    small = "; ".join(part for part in (use.metric, use.how, ", ".join(sizes)) if part)
    value = esc(shown(use.value, use))
    if use.interval is not None:
        limits = " to ".join(shown(limit, use) for limit in use.interval)
        value += f"<br>{tag('span', esc(limits), 'small')}"
    kept = use.kept()
    return (
        f"{esc(use.task)}<br>{tag('span', esc(small), 'small')}",
        value,
        esc(shown(use.original, use)),
        esc(shown(use.chance, use)),
        "" if kept is None else esc(percent(max(0.0, kept))),
    )


def _scores(facts: Facts) -> str:
    """Scores of a model on a test file."""
    if facts.scores is None:
        return ""
    lines = facts.scores.lines or tuple(f"{name}: {number(v)}" for name, v in facts.scores.values.items())
    where = f" ({facts.scores.test_file})" if facts.scores.test_file else ""
    said = f"On a test file{where} that its owner takes to be public: these figures are outside the promise."
    return bullets(line[:1].upper() + line[1:] for line in lines) + tag("p", esc(said), "small")
