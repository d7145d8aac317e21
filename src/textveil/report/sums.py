"""What the releases of a folder come to together, by the ledger that each of them was charged to.

Every card keeps what its ledger held right after its own charge (`SpentSoFar`). Of several cards of one ledger about one
question (a unit and a way to count) the latest says the total, which also holds charges whose releases are not here.
Nothing is added up anew: losses of noise that an accountant composes have no simple sum.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from ..core.facts import Facts, SpentSoFar
from ..core.losses import downward, upward
from .html import bound, bullets, esc, table, tag

HEAD = ("Ledger", "Spent so far", "Budget", "Charges", "Releases here")


class LedgerSum(NamedTuple):
    """The latest total of one ledger for one question."""

    spent: SpentSoFar
    line: int  # of the ledger, right after the charge
    created: str
    releases: tuple[str, ...]  # in this folder, by name

    def to_json(self) -> dict[str, Any]:
        return {**self.spent.to_json(), "as_of": self.created, "releases": list(self.releases)}


def ledger_sums(manifests: dict[str, dict[str, Any]]) -> list[LedgerSum]:
    """One line for each ledger and question, from the release.json of each release by its name."""
    latest: dict[tuple[str, str], LedgerSum] = {}
    for name, manifest in manifests.items():
        spent = Facts.from_json(manifest.get("facts") or {}).spent
        if spent is None:
            continue
        key = (spent.ledger, spent.what)
        before = latest.get(key)
        line = _line_of(manifest)
        names = (*(before.releases if before else ()), name)
        if before is None or line >= before.line:
            latest[key] = LedgerSum(spent, line, str(manifest.get("created") or "")[:10], names)
        else:
            latest[key] = before._replace(releases=names)
    return [latest[key] for key in sorted(latest)]


def unsummed(manifests: dict[str, dict[str, Any]]) -> list[str]:
    """Sentences about releases that no ledger sums up: by the name of their data, since several of one file add up."""
    files: Counter[str] = Counter()
    for manifest in manifests.values():
        data = Facts.from_json(manifest.get("facts") or {}).data
        if not manifest.get("entry"):
            files["data that is not named" if data is None else data.file] += 1
    return [
        f"{_count(number, 'release')} of {name} {'is' if number == 1 else 'are'} in no ledger: "
        + ("nobody keeps account of it." if number == 1 else "what they show together adds up, and nobody sums it.")
        for name, number in sorted(files.items())
    ]


def sums_section(sums: list[LedgerSum], loose: list[str]) -> str:
    """The table of ledgers, and what is in none."""
    parts = [table(HEAD, [_cells(row) for row in sums])] if sums else []
    if sums:
        said = (
            "As the latest release of each ledger found it; later charges are in the ledger alone: "
            "<code>textveil ledger show LEDGER</code>. Lines of one ledger that count in different ways have no "
            "sum, but what they show adds up."
        )
        parts.append(tag("p", said, "small"))
    return "".join([*parts, bullets(loose)])


def _cells(row: LedgerSum) -> tuple[str, ...]:
    spent = row.spent
    if spent.epsilon is None:
        total, small = "no price", f"{_count(spent.unpriced, 'release')} without a price, in no sum"
    else:
        slack = f" at δ {upward(spent.delta, 2)}" if spent.delta else ""
        total, small = f"ε {bound(spent.epsilon)}{slack}", spent.what
    left = "none" if spent.budget is None or spent.left is None else f"ε {bound(spent.budget)}"
    small_left = "" if spent.left is None else f"{downward(spent.left, 4)} left"
    return (
        f"{esc(spent.ledger)}<br>{tag('span', esc(f'as of {row.created}' if row.created else ''), 'small')}",
        f"{esc(total)}<br>{tag('span', esc(small), 'small')}",
        f"{esc(left)}<br>{tag('span', esc(small_left), 'small')}",
        str(spent.charges if spent.epsilon is not None else spent.unpriced),
        esc(", ".join(row.releases)),
    )


def _line_of(manifest: dict[str, Any]) -> int:
    """The number of the ledger's line, from the head that the release keeps."""
    number = str(manifest.get("head") or "").partition(":")[0]
    return int(number) if number.isdecimal() else 0


def _count(number: int, what: str) -> str:
    return f"one {what}" if number == 1 else f"{number:,} {what}s"


__all__ = ["LedgerSum", "ledger_sums", "sums_section", "unsummed"]
