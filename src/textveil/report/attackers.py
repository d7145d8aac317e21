"""The section about attacks: a chart, a table, what each figure means, and which of them were scored with private text."""

from __future__ import annotations

from ..core.attack_needs import ASKS, attacks_on, needs_of
from .html import bullets, esc, pairs, percent, percent_up, table, tag
from .svg import Bar, success_chart
from .words import Finding

UPPER = "`upper`"
NOT_YET = "No attack on this release stands on its card yet."
PRIVATE = (
    "Attacks that its owner has run with the original are named here until their figures are published. How to run them: "
    "<code>textveil audit FOLDER</code>, with what each of them needs."
)


def attackers(found: list[Finding], unreadable: int) -> str:
    """What the attacks achieved, or how to run them."""
    if not found and not unreadable:
        return tag("p", NOT_YET)
    parts = [success_chart(bar_of(f, f.evidence.attack, f.asked) for f in found)]
    if found:
        head = ("Attack", "Success", "95 % interval", "Chance", "Rests on", "Is the promise refuted?")
        parts.append(table(head, [_row(f) for f in found]))
    parts.append(tag("div", _all_notes(found), "small"))
    if unreadable:
        parts.append(tag("p", f"{unreadable} entries of evidence could not be read and are not shown.", "alarm"))
    return "".join(parts)


def _all_notes(found: list[Finding]) -> str:
    """What to know about each attack; a note of several of them stands once, without their names."""
    attacks_of: dict[str, list[str]] = {}
    for finding in found:
        for note in _notes(finding):
            attacks_of.setdefault(note, []).append(finding.evidence.attack)
    own = [f"{names[0]}: {note}" for note, names in attacks_of.items() if len(set(names)) == 1]
    shared = [f"{note[:1].upper()}{note[1:]}" for note, names in attacks_of.items() if len(set(names)) > 1]
    return bullets([*own, *shared])


def not_attacked(mechanism: str, found: list[Finding]) -> str:
    """The shipped attacks that left no trace on this card, and what each of them needs."""
    ran = {f.evidence.attack for f in found}
    missing = [name for name in attacks_on(mechanism) if name not in ran]
    if not attacks_on(mechanism):
        return tag("p", "No attack on this kind of release ships with Textveil. That is no sign of safety.")
    if not missing:
        return tag("p", "All attacks that ship for this kind of release were run. Others may exist.")
    return pairs((name, _question(name)) for name in missing) + tag("p", PRIVATE, "small below")


def _question(attack: str) -> str:
    """What the attack tries to find out, and what it needs."""
    needs = needs_of(attack)
    return " ".join([ASKS.get(attack, ""), f"{needs[:1].upper()}{needs[1:]}."]).strip()


def bar_of(finding: Finding, name: str, detail: str) -> Bar:
    """One finding as a bar of the chart."""
    e = finding.evidence
    return Bar(name, detail, e.value, *e.interval(), e.chance, finding.allowed, finding.refuted)


def _row(finding: Finding) -> tuple[str, ...]:
    e = finding.evidence
    marks = [finding.asked, *(["scored with the private text"] if finding.with_truth else [])]
    return (
        f"{esc(e.attack)}<br>{tag('span', esc('; '.join(marks)), 'small')}",
        esc(percent(e.value)),
        "exact" if e.exact else esc(" to ".join(percent(limit) for limit in e.interval())),
        esc(percent(e.chance)),
        esc(finding.tries),
        tag("span", esc(finding.verdict), "alarm") if finding.refuted else esc(finding.verdict),
    )


def _notes(finding: Finding) -> list[str]:
    bound = finding.evidence.upper
    if bound is None:
        return list(finding.evidence.notes)
    notes = [note for note in finding.evidence.notes if UPPER not in note]  # said below, with the figure
    ceiling = f"no attacker of this kind can be right more often than {percent_up(bound)}"
    if finding.evidence.attack.startswith("words."):
        ceiling = (
            f"for words drawn from the public prior no attacker who sees one place at a time can be right more often than "
            f"{percent_up(bound)}; on a text of other words he may be"
        )
    return [*notes, ceiling]
