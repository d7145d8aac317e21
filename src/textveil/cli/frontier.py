"""`textveil frontier`: attack success against use, on a file of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.options import INPUT, RUNNING, AsJson, PrivateOut, Reading, names_of, option, plain
from textveil.cli.output import percent, print_result
from textveil.cli.progress import bar


def frontier(
    source: Annotated[
        Path | None, typer.Argument(metavar="IN", help="A labelled file. Without: the bundled letters.")
    ] = None,
    out: PrivateOut = Path("frontier"),
    label_field: Annotated[str | None, option("The field that holds the label to learn.", group=INPUT)] = None,
    test: Annotated[
        Path | None, option("A clear labelled file to test on. Without: a part of IN.", group=INPUT)
    ] = None,
    mechanism: Annotated[
        str, option("Mechanisms to try, divided by commas.", metavar="NAMES")
    ] = "words.brr,words.vickrey",
    attack_success: Annotated[
        str, option("How often the best attack may find a word, at each point of a curve.", metavar="LIST")
    ] = "0.05,0.1,0.2,0.3,0.5",
    target: Annotated[
        float, option("The attack success that is allowed: the best point below it is recommended.")
    ] = 0.2,
    draws: Annotated[int, option("How often each point is drawn, for its interval.", group=RUNNING)] = 5,
    most: Annotated[int, option("Documents that are veiled and learnt from, at most.", group=RUNNING)] = 4_000,
    *,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Try mechanisms on a file and say which is most useful where the best attack succeeds at most so often.

    Nothing is released and nothing charged: OUT holds figures about the private text (frontier.html, frontier.json) and is
    for its owner alone. A run that is stopped goes on when it is given again.

    Example: textveil frontier reviews.jsonl -o frontier --label-field label
    """
    from textveil.reproduce.frontier.page import recommendation
    from textveil.reproduce.frontier.run import FrontierJob, find_frontier

    job = FrontierJob(
        out=out, source=source, label_field=label_field, test=test, target=target, draws=draws, most=most,
        mechanisms=tuple(name.removeprefix("words.") for name in names_of(mechanism)),
        targets=numbers_of(attack_success), **plain(reading),
    )  # fmt: skip
    with bar("trying", None if as_json else 1.0, quiet=as_json) as advance:
        found = find_frontier(job, progress=lambda done, cells: advance(1 / cells))
    print_result(found, _lines(found, recommendation(found), out), as_json=as_json)


def numbers_of(listed: str) -> tuple[float, ...]:
    """Numbers divided by commas.

    >>> numbers_of("0.1, 0.2")
    (0.1, 0.2)
    """
    from textveil.core.errors import BadInput

    try:
        return tuple(float(number) for number in names_of(listed))
    except ValueError:
        raise BadInput("--attack-success is a list of numbers", possible="0.05,0.1,0.2") from None


def _lines(found: dict[str, Any], recommendation: str, out: Path) -> Iterator[str]:
    clear, chance = percent(found["accuracy"]), percent(found["chance"])
    yield f"classify by {found['label_field']}: accuracy of the clear text {clear}, by chance {chance}"
    for point in found["points"]:
        ends = point["accuracy"]["interval"]
        interval = f" [{percent(ends[0])}, {percent(ends[1])}]" if ends else ""
        yield (
            f"{point['mechanism']} at epsilon {point['epsilon']:g}: attack {percent(point['attack']['value'])}, accuracy "
            f"{percent(point['accuracy']['value'])}{interval}"
        )
    yield recommendation
    yield f"read {out}/frontier.html" + (" (about private text: for you alone)" if found["private"] else "")
