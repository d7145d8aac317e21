"""`textveil train price`: what a training plan would cost, without data."""

from __future__ import annotations

from typing import Annotated

import typer

from textveil.cli.output import print_json


def price(
    examples: Annotated[int, typer.Option(help="Public number of examples (or users).")],
    batch: Annotated[int | None, typer.Option(help="Expected number of examples in a batch.")] = None,
    noise: Annotated[float | None, typer.Option(help="Noise multiplier, relative to the clip.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Instead of --noise: find the least noise for it.")] = None,
    epochs: Annotated[float | None, typer.Option(help="Passes over the data, on average.")] = None,
    steps: Annotated[int | None, typer.Option(help="Instead of --epochs: number of updates.")] = None,
    delta: Annotated[float, typer.Option(help="The delta at which epsilon is read.")] = 1e-5,
    sampling: Annotated[str, typer.Option(help="poisson | fixed (without replacement, replace-one).")] = "poisson",
    accountant: Annotated[
        str, typer.Option(help="best (the smaller of pld and rdp) | pld | rdp | rdp-classic.")
    ] = "best",
    unit: Annotated[str, typer.Option(help="example | document | user.")] = "example",
    shards: Annotated[int, typer.Option(help="Workers that each add noise of this multiplier.")] = 1,
    phase: Annotated[list[str] | None, typer.Option(help="NOISE:BATCH:STEPS, once for every phase.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON result.")] = False,
) -> None:
    """What a training plan would cost, without data.

    Example: textveil train price --noise 1 --batch 32 --examples 14041 --epochs 10 --delta 1e-5
    """
    from textveil.recipes.train_price import PriceJob, price_plan

    job = PriceJob(
        examples, batch, delta, noise, epsilon, epochs, steps, tuple(phase or ()), sampling, accountant, unit, shards
    )
    found = price_plan(job)
    if as_json:
        print_json(found)
        return
    typer.echo(f"epsilon {found['epsilon']:.4g} at delta {delta:g}, per {found['unit']} ({found['adjacency']})")
    typer.echo(f"{found['steps']:,} steps, noise {found['noise']:.4g}, {sampling} batches; by {found['accountant']}")
    for note in found["notes"]:
        typer.echo(f"note: {note}")
