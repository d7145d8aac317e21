"""`textveil federate canaries`: put made-up secrets into the data of some users, to test afterwards what the model kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.options import AsJson, Reading, option, plain
from textveil.cli.output import print_result


def canaries(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The file of texts by user.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="Folder for data.jsonl and canaries.json.")],
    user_field: Annotated[str, option("The field that names the user of a text.")] = "user",
    sharers: Annotated[
        list[int] | None, option("How many users share a canary; repeat for several. Without: 1, 3 and 10.")
    ] = None,
    share: Annotated[
        list[float] | None,
        option("Which share of a sharer's texts it replaces; repeat for several. Without: .01, .1 and 1."),
    ] = None,
    each: Annotated[int, option("Canaries of each number of sharers and share.")] = 10,
    canary_users: Annotated[
        int, option("Users made of one canary; a fair coin decides who takes part, for the audit federated.one_run.")
    ] = 0,
    candidates: Annotated[int, option("Words that a canary is drawn from.")] = 2000,
    words: Annotated[Path | None, option("words.txt of the model to start from: canaries are drawn from it.")] = None,
    *,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Add canaries to the data of some users. Train on data.jsonl, then audit the model with --truth canaries.json.

    Example: textveil federate canaries letters.jsonl -o planted --user-field user --canary-users 200
    """
    from textveil.attacks.federated.sharers import SHARERS, SHARES
    from textveil.recipes.federated.canaries import SharedCanaryJob, plant_shared

    job = SharedCanaryJob(
        source, out, user_field, tuple(sharers or SHARERS), tuple(share or SHARES), each, canary_users, candidates,
        words, **plain(reading),
    )  # fmt: skip
    result = plant_shared(job)
    joined, made = result["canary_users"]
    lines = [
        f"{result['planted']} canaries planted {result['occurrences']:,} times, shared by {result['sharers']} users",
        f"train on {result['data']} ({result['users']:,} users, {joined} of {made} canary users among them)",
        f"keep {result['canaries']} apart: it names the secrets",
    ]
    print_result(result, lines, as_json=as_json)
