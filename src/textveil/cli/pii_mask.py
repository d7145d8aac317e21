"""`textveil pii mask`: replace personal data in a file, and release it with a card that promises nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from textveil.cli.choices import MaskHow
from textveil.cli.options import PASSING, AsJson, Out, Reading, Source, Spending, names_of, option, plain
from textveil.cli.output import print_release
from textveil.cli.pii_find import Recognising
from textveil.cli.progress import bars

SECRETS = "Secrets of the masking"


def mask(
    source: Source,
    out: Out,
    how: Annotated[
        MaskHow, option("What stands in a value's place: one sign for all, its kind, or its kind and a keyed hash.")
    ] = MaskHow.TAG,
    *,
    recognising: Recognising,
    reviewed: Annotated[
        Path | None,
        option(
            "Texts with marks that a person looked through (pii review --export jsonl): measures the recall for the card."
        ),
    ] = None,
    key_file: Annotated[
        Path | None,
        option(
            "The key of hashes, for its owner alone; made if it is missing. Without: a key is drawn and forgotten.",
            group=SECRETS,
        ),
    ] = None,
    reading: Reading,
    columns: Annotated[
        str | None,
        option("Only these other columns or fields leave with the text, e.g. id,date. Without: all do.", group=PASSING),
    ] = None,
    only_text: Annotated[
        bool, option("No other column, field or metadata leaves with the text.", "--only-text", group=PASSING)
    ] = False,
    spending: Spending,
    as_json: AsJson = False,
) -> None:
    """Mask personal data where a recogniser finds it. What it misses stands as it was: the result is not anonymous.

    Makes the folder OUT: the masked file, release.json, and card.html. What was recognised is written nowhere.

    Example: textveil pii mask letters.jsonl -o masked --model patterns --how tag --text-field text
    """
    from textveil.core import BadInput
    from textveil.recipes.pii.mask import MaskJob, mask_file

    if only_text and columns is not None:
        raise BadInput("--only-text and --columns exclude each other", possible="one of them")
    kept = () if only_text else None if columns is None else names_of(columns)
    job = MaskJob(
        source=source, out=out, choice=recognising.choice(), how=how.value, key_file=key_file, reviewed=reviewed,
        **plain(reading), columns=kept, **plain(spending),
    )  # fmt: skip
    result = mask_file(job, bar=bars(quiet=as_json))
    kinds = ", ".join(f"{count:,} {label}" for label, count in result["labels"].items()) or "nothing"
    lines = [f"{result['records']:,} records, {result['masks']:,} values masked: {out}/", f"masked:  {kinds}"]
    if result["repeats"]:
        lines.append(f"beware:  {result['repeats']:,} times a recognised value stands unmasked elsewhere")
    if result["recall"] is not None:
        low, high = result["recall"]["interval"]
        lines.append(f"recall:  {result['recall']['recall']:.1%} [{low:.1%}, {high:.1%}] on {result['recall']['file']}")
    print_release(result, out, lines, as_json=as_json)
