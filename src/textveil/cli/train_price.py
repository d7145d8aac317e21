"""`textveil train price`: what a training plan would cost, without data."""

from __future__ import annotations

from typing import Annotated, Any

from textveil.cli.choices import Accountant, PriceUnit
from textveil.cli.options import SAMPLINGS, AsJson, option
from textveil.cli.output import print_result
from textveil.core.errors import BadInput
from textveil.core.losses import upward

FEDERATED = "Federated plans"


def price(
    examples: Annotated[int | None, option("Public number of examples (or users, or documents).")] = None,
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
    users: Annotated[int | None, option("Federated: public number of users (or sites).", group=FEDERATED)] = None,
    per_round: Annotated[int | None, option("Federated: users in a round.", group=FEDERATED)] = None,
    rounds: Annotated[int | None, option("Federated: how many rounds.", group=FEDERATED)] = None,
    in_turn: Annotated[
        bool,
        option("Federated: no sampling, noise correlated over rounds (dp-ftrl).", "--in-turn", group=FEDERATED),
    ] = False,
    phase: Annotated[
        list[str] | None,
        option("A plan in phases: repeat for each, instead of --noise and --batch.", metavar="NOISE:BATCH:STEPS"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What a training plan would cost, without data.

    Example: textveil train price --noise 1 --batch 32 --examples 14041 --epochs 10 --delta 1e-5
    """
    from textveil.recipes.federated.price import FederatedPrice, price_rounds
    from textveil.training.price import PriceJob, price_plan

    if users is not None or per_round is not None or rounds is not None:
        own = {"--examples": examples, "--batch": batch, "--epochs": epochs, "--steps": steps, "--phase": phase}
        asked = FederatedPrice(users, per_round, rounds, delta, noise, epsilon, "in-turn" if in_turn else sampling)
        result = price_rounds(asked, tuple(name for name, value in own.items() if value is not None))
        print_result(result, price_lines(result), as_json=as_json)
        return
    if examples is None:
        raise BadInput("the number of examples is missing", possible="--examples N, or --users N for a federated plan")
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


def price_lines(result: dict[str, Any]) -> list[str]:
    """A federated price in two lines."""
    return [
        f"epsilon {upward(result['epsilon'])} at delta {result['delta']:g}, per {result['unit']} ({result['adjacency']})",
        f"{result['rounds']:,} rounds of {result['per_round']:,} of {result['users']:,} {result['unit']}s, "
        f"noise {result['noise']:.4g} times the clip, {result['sampling']}",
    ]
