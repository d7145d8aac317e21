"""What to check before signing: a short list that follows from this release, and a line for the signature.

Each item is a question that only the owner of the data can answer, or a step that has not been taken yet. Nothing is ticked
by the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core import Guarantee
from ..core.attack_needs import NEEDS, attacks_on
from ..core.facts import Facts
from ..core.losses import upward
from .data import columns_that_left
from .html import esc, tag
from .spending import spent_figure
from .use import utilities
from .words import Finding

LINES = ("Name and office", "Date", "Signature")


def signing(manifest: dict[str, Any], facts: Facts, promise: Guarantee, found: list[Finding]) -> str:
    """The checklist, with boxes to tick on paper."""
    items = "".join(tag("li", esc(item)) for item in dict.fromkeys(checks(manifest, facts, promise, found)))
    lines = "".join(f"<span>{esc(line)}</span>" for line in LINES)
    return tag("ul", items, "checks") + tag("div", lines, "sign")


def checks(manifest: dict[str, Any], facts: Facts, promise: Guarantee, found: list[Finding]) -> Iterator[str]:
    """What has to be looked at, the gravest first."""
    if manifest.get("draft") or promise.label == "seeded":
        yield "This is a draft. It must not be given to anybody: make the release again without a seed."
    if any(finding.refuted for finding in found):
        yield "An attack refutes the promise. Do not release it before that is explained."
    yield from (f"Beware: {line}" for line in facts.beware)
    yield from _about_the_promise(facts, promise)
    yield from _about_what_left(manifest)
    yield from _about_attacks(manifest, found)
    if not utilities(manifest)[0] and facts.scores is None:
        yield "What the release is good for has not been measured. Is it worth what it spends?"
    yield _about_the_ledger(manifest, facts)


def _about_the_promise(facts: Facts, promise: Guarantee) -> Iterator[str]:
    if promise.label != "guarantee":
        yield "No theorem bounds what this release gives away. Is it meant only for people who may read the original?"
        return
    yield f"The promise is about {promise.parts().protected}. Is that what has to be protected here?"
    if not promise.is_bounding and promise.unit.things != "words":
        yield "The bound lets an attacker be nearly certain. Is there a reason to accept that?"
    delta = getattr(promise.loss, "delta", 0.0)
    if delta:
        yield _about_delta(delta, facts, promise)


def _about_delta(delta: float, facts: Facts, promise: Guarantee) -> str:
    said = f"Delta is {upward(delta, 2)}: the chance that the promise fails."
    if facts.training is None:
        return f"{said} Is it far below one over the number of {promise.unit}s?"
    units = facts.training.examples
    return (
        f"{said} Declared are {units:,} {promise.unit}s, so that it should be far below {upward(1 / units, 2)}. Is it?"
    )


def _about_what_left(manifest: dict[str, Any]) -> Iterator[str]:
    passes = [str(name) for name in manifest.get("passes") or []]
    columns = columns_that_left(manifest)
    if columns is None:
        yield "What this release copied from its input is not known. Look into its data file."
    elif columns:
        yield f"These columns left as they were: {', '.join(columns)}. Is each of them harmless, also together?"
    if any(name.startswith("letter case") for name in passes):
        yield "Capitals left as they were: they show where names stand. Is that acceptable?"
    if any(name.startswith("kept words") for name in passes):
        yield "Kept words left as they were. Is each word of that list harmless wherever it stands?"
    if any("taken from the training file" in name for name in passes):
        yield "The list of tags or classes was taken from the private file. Is each of its names harmless?"
    if passes:
        yield "May everything under “Leaves unprotected” be public?"


def _about_attacks(manifest: dict[str, Any], found: list[Finding]) -> Iterator[str]:
    if not found and not attacks_on(str(manifest["mechanism"])):
        yield "No attack on this kind of release is known to Textveil. Is the promise enough by itself?"
    elif not found:
        yield "No attack stands on this card. Has its owner attacked it, and seen what an attacker gets?"
    elif any(finding.with_truth for finding in found):
        yield "Some figures were scored with the private text. May they be public?"
    names = {finding.evidence.attack for finding in found}
    with_truth = [a for a in attacks_on(str(manifest["mechanism"])) if a not in names and NEEDS.get(a)]
    if found and with_truth:
        yield "Some attacks need the original (see “Not attacked”). Has its owner run them, and are the results acceptable?"


def _about_the_ledger(manifest: dict[str, Any], facts: Facts) -> str:
    if not manifest.get("entry"):
        return "The release is in no ledger. Was this data never released before, and will it not be released again?"
    if facts.spent is None:
        return "What this data set has spent in all stands in its ledger. Is it still acceptable?"
    if facts.spent.epsilon is None:
        return f"The ledger of this data set lists {spent_figure(facts.spent)}: no figure sums them up. Is that acceptable?"
    limit = "" if facts.spent.budget is not None else " There is no budget."
    return f"This data set has spent {spent_figure(facts.spent)} so far.{limit} Is that still acceptable?"
