"""What the card of a masked file says: how it was made, what was counted, what nobody promises."""

from __future__ import annotations

from collections import Counter

from textveil.core.facts import DataFacts, Facts
from textveil.pii.masking.repeats import SHORTEST
from textveil.pii.recognisers import Recognisers
from textveil.recipes.pii.recall import MeasuredRecall

_HOW = {
    "redact": "every recognised value was replaced by one and the same sign",
    "tag": "every recognised value was replaced by the name of its kind",
    "hash": "every recognised value was replaced by its kind and a keyed hash of it (48 bits)",
    "pseudonym": "every recognised value was replaced by an invented one of its kind, the same throughout",
}
NOT_PROTECTED = (
    "a value that no recogniser marked: it stands as it was",
    "a person whom the rest of the text singles out: age, place, date, job, family, a turn of phrase",
    "whoever knows the original, or part of it, can line it up with the masked text",
)


def mask_facts(
    data: DataFacts,
    how: str,
    recogniser: Recognisers,
    masks: Counter[str],
    repeats: int,
    recall: MeasuredRecall | None,
    policy: tuple[str, ...] = (),
    *,
    keeps_key: bool = False,
    more: tuple[str, ...] = (),
) -> Facts:
    """The facts of a masked release. Counts of kinds only where the output shows the kinds anyway."""
    making = [
        f"recognisers: {recogniser.name}; of findings that overlap the surest stays, then the longest",
        f"looked for: {', '.join(recogniser.labels)}",
        _HOW[how],
        _count_line(how, masks),
        _key_line(how, keeps_key),
        *more,
        *policy,
    ]
    beware = [] if repeats == 0 else [repeats_line(repeats)]
    if recall is None:
        beware.append("nobody measured how much the recognisers miss in text like this (--reviewed FILE measures it)")
    else:
        making += [f"measured on {recall.file}, {line}" for line in recall.lines()[1:]]
    measured = () if recall is None else (f"what the recognisers miss: {recall.lines()[0]}",)
    return Facts(
        data=data,
        making=tuple(line for line in making if line),
        not_protected=(*measured, *NOT_PROTECTED, f"kinds that were not looked for ({len(recogniser.labels)} were)"),
        beware=tuple(beware),
    )


def repeats_line(repeats: int) -> str:
    """What is said of values that were recognised in one place and left in another."""
    return (
        f"{repeats:,} times a value that was recognised somewhere stands unmasked elsewhere (values of {SHORTEST} or more "
        "letters and digits, in any case)"
    )


def _count_line(how: str, masks: Counter[str]) -> str:
    total = f"{masks.total():,} values masked"
    if how == "redact" or not masks:
        return total
    return f"{total}: {', '.join(f'{count:,} {label}' for label, count in masks.most_common())}"


def _key_line(how: str, keeps_key: bool) -> str:
    if how not in ("hash", "pseudonym"):
        return ""
    if keeps_key:
        return "the key stands in a file of its owner: whoever has it can test guesses"
    return "the key was drawn for this release and forgotten"


__all__ = ["mask_facts", "repeats_line"]
