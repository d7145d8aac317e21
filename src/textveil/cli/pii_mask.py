"""`textveil pii mask`: replace personal data in a file, and release it with a card that promises nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.choices import MaskHow, MaskNumbers
from textveil.cli.options import PASSING, AsJson, Out, PrivateOut, Reading, Source, Spending, names_of, option, plain
from textveil.cli.output import print_release, print_result
from textveil.cli.pii_find import RECOGNISERS, Recognising
from textveil.cli.progress import bars

SECRETS, PSEUDONYMS = "Secrets of the masking", "Pseudonyms"


def mask(
    source: Source,
    out: Out,
    how: Annotated[
        MaskHow,
        option("What stands in a value's place: one sign for all, its kind, a keyed hash too, or an invented value."),
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
            "The key of hashes, pseudonyms and the map, for its owner alone; made if it is missing. Without: a key is drawn "
            "and forgotten.",
            group=SECRETS,
        ),
    ] = None,
    map: Annotated[
        Path | None,
        option(
            "The encrypted map: one person keeps one pseudonym in all maskings that share it, and unmask can undo them. "
            "Made if it is missing; needs --key-file.",
            group=SECRETS,
        ),
    ] = None,
    person_field: Annotated[
        str | None,
        option(
            "The field that says whom a document is about: keeps people of one name apart, and their dates together.",
            group=PSEUDONYMS,
        ),
    ] = None,
    shift_days: Annotated[int, option("Dates move by at most so many days.", group=PSEUDONYMS)] = 365,
    numbers: Annotated[
        MaskNumbers, option("Whether invented numbers pass their checksum.", group=PSEUDONYMS)
    ] = MaskNumbers.INVALID,
    spans: Annotated[
        Path | None,
        option(
            "Mask these spans (jsonl: id, start, end, label), and what --model finds if it is given.",
            group=RECOGNISERS,
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
        source=source, out=out, choice=recognising.choice(by_default=() if spans else ("patterns",)), how=how.value,
        key_file=key_file, map=map, person_field=person_field, shift_days=shift_days, numbers=numbers.value, spans=spans,
        reviewed=reviewed,
        **plain(reading), columns=kept, **plain(spending),
    )  # fmt: skip
    result = mask_file(job, bar=bars(quiet=as_json))
    kinds = ", ".join(f"{count:,} {label}" for label, count in result["labels"].items()) or "nothing"
    lines = [f"{result['records']:,} records, {result['masks']:,} values masked: {out}/", f"masked:  {kinds}"]
    if result["people"] is not None:
        lines.append(f"people:  {result['people']:,}, each with one pseudonym")
    if result["repeats"]:
        lines.append(f"beware:  {result['repeats']:,} times a recognised value stands unmasked elsewhere")
    if result["recall"] is not None:
        low, high = result["recall"]["interval"]
        lines.append(f"recall:  {result['recall']['recall']:.1%} [{low:.1%}, {high:.1%}] on {result['recall']['file']}")
    print_release(result, out, lines, as_json=as_json)


def unmask(
    folder: Annotated[Path, typer.Argument(metavar="OUT", help="A release that pii mask made with --map.")],
    out: PrivateOut,
    map: Annotated[Path, option("The map that it was made with.", group=SECRETS)],
    key_file: Annotated[Path, option("The key file that it was made with.", group=SECRETS)],
    as_json: AsJson = False,
) -> None:
    """Undo a masking, with its map and its key. The result is as private as the original.

    Example: textveil pii unmask masked -o restored --map people.map --key-file mask.key
    """
    from textveil.recipes.pii.unmask import UnmaskJob, unmask_release

    result = unmask_release(UnmaskJob(folder, out, map, key_file), bar=bars(quiet=as_json))
    lines = [
        f"{result['values']:,} values in {result['records']:,} records put back: {out}/",
        f"{out} is as private as the original: only you can read it",
    ]
    print_result(result, lines, as_json=as_json)
