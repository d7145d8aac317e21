"""The section about the account: what the ledger held right after this release was charged, and what is left."""

from __future__ import annotations

from typing import Any

from ..core.facts import Facts, SpentSoFar
from ..core.losses import downward, upward
from .html import bound, esc, tag

NO_LEDGER = (
    "This release is in no ledger: nobody keeps account of it. If the same data is released again, what the releases "
    "show adds up, and no file says so."
)


def spent_section(manifest: dict[str, Any], facts: Facts) -> str:
    """What this data set has spent so far."""
    if not manifest.get("entry"):
        return tag("p", NO_LEDGER)
    if facts.spent is None:
        return tag("p", "Charged; <code>textveil ledger show LEDGER</code> says what the data set has spent in all.")
    return "".join(tag("p", esc(line)) for line in _sentences(facts.spent))


def spent_figure(spent: SpentSoFar) -> str:
    """In a few words, for a checklist: epsilon 1 of 2."""
    if spent.epsilon is None:
        return f"{_count(spent.unpriced, 'release')} without a price"
    of = "" if spent.budget is None else f" of {bound(spent.budget)}"
    return f"epsilon {bound(spent.epsilon)}{of}"


def _sentences(spent: SpentSoFar) -> list[str]:
    lines = []
    if spent.epsilon is None:
        lines.append("This release has no price: it is listed in the ledger beside the totals and is part of no sum.")
    else:
        slack = f" at delta {upward(spent.delta, 2)}" if spent.delta else ""
        lines.append(
            f"With this release the ledger '{spent.ledger}' has come to epsilon {bound(spent.epsilon)}{slack} {spent.what}, "
            f"in {_count(spent.charges, 'charge')}."
        )
        lines.append(_budget(spent))
    if spent.unpriced:
        listed = "This is one of them." if spent.epsilon is None else "They count in no total."
        lines.append(f"The ledger lists {_count(spent.unpriced, 'release')} without a price. {listed}")
    return lines


def _budget(spent: SpentSoFar) -> str:
    if spent.budget is None or spent.left is None:
        return "It has no budget for this unit: it keeps track and refuses nothing."
    return f"The budget is epsilon {bound(spent.budget)}; {downward(spent.left, 4)} is left of it."


def _count(number: int, what: str) -> str:
    return f"one {what}" if number == 1 else f"{number:,} {what}s"
