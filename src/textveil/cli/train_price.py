"""`textveil train price`: what a training plan would cost, without data."""

from __future__ import annotations

from typing import Annotated

from textveil.cli.choices import Accountant, PriceUnit
from textveil.cli.options import SAMPLINGS, AsJson, option
from textveil.cli.output import print_result
from textveil.core.losses import upward


def price(
    examples: Annotated[int, option("Public number of examples (or users, or documents).")],
    batch: Annotated[int | None, option("Examples in a step, on average.")] = None,
    noise: Annotated[float | None, option("Deviation of the noise, as a multiple of the clip.")] = None,
    epsilon: Annotated[float | None, option("Instead of --noise: find the least noise that keeps this.")] = None,
    epochs: Annotated[float | None, option("How often each example is drawn, on average.")] = None,
    steps: Annotated[int | None, option("Instead of --epochs: number of updates.")] = None,
    delta: Annotated[float, option("Chance that the bound fails; epsilon is the price at this delta.")] = 1e-5,
    sampling: Annotated[
        str,
        option("poisson: each unit joins by a coin; fixed: batches of one size, priced loosely.", metavar=SAMPLINGS),
    ] = "poisson",
    accountant: Annotated[
        Accountant,
        option(
            "Who adds up: best is the smaller of pld and rdp; rdp-classic is as in older papers; exact is for plain "
            "Gaussian noise."
        ),
    ] = Accountant.BEST,
    unit: Annotated[PriceUnit, option("Whom the price is about.")] = PriceUnit.EXAMPLE,
    shards: Annotated[int, option("Workers that each add noise of this multiplier.")] = 1,
    phase: Annotated[
        list[str] | None,
        option("A plan in phases: repeat for each, instead of --noise and --batch.", metavar="NOISE:BATCH:STEPS"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What a training plan would cost, without data.

    Example: textveil train price --noise 1 --batch 32 --examples 14041 --epochs 10 --delta 1e-5
    """
    from textveil.training.price import PriceJob, price_plan

    job = PriceJob(
        examples, batch, delta, noise, epsilon, epochs, steps, tuple(phase or ()), sampling, accountant.value,
        unit.value, shards,
    )  # fmt: skip
    result = price_plan(job)
    lines = [
        f"epsilon {upward(result['epsilon'])} at delta {delta:g}, per {result['unit']} ({result['adjacency']})",
        f"{result['steps']:,} steps, noise {result['noise']:.4g}, {sampling} batches; by {result['accountant']}",
        *(f"note: {note}" for note in result["notes"]),
    ]
    print_result(result, lines, as_json=as_json)
