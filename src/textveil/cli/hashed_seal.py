"""`textveil hashed seal`, `cost`, `update`: fill a trained model, measure what that costs, train it on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.choices import SealLaw, SealMode
from textveil.cli.options import INPUT, AsJson, Half, Out, Reading, Spending, TextField, option, plain, value_of
from textveil.cli.output import print_release, print_result
from textveil.cli.progress import bars
from textveil.core.losses import upward

Mode = Annotated[
    SealMode,
    option("quiet: names and rare terms are forgotten; paper: as published, which leaves every true weight."),
]
Law = Annotated[
    SealLaw | None,
    option("What drawn rows are like: the rows that stay, smoothed (kernel), or a bell curve (gaussian)."),
]
MinDocuments = Annotated[int, option("Quiet: forget what fewer than so many documents say in plain words.")]
Delta = Annotated[float, option("The measured figure is an (epsilon, delta) pair: give delta, and epsilon is printed.")]


def seal(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A release folder of hashed train.")],
    out: Out,
    mode: Mode = SealMode.QUIET,
    law: Law = None,
    min_documents: MinDocuments = 3,
    spread: Annotated[
        float | None,
        option("Quiet: drawn weights are multiplied by this. More hides more, and finds less. Without: 0.1."),
    ] = None,
    lean: Annotated[
        float, option("Quiet: drawn rows speak against a find by this many deviations, so that noise finds nothing.")
    ] = 0.5,
    delta: Delta = 1e-5,
    *,
    spending: Spending,
    half: Half = False,
    as_json: AsJson = False,
) -> None:
    """Fill every slot of a model, so that nobody can see which ones training had filled. Measured, not promised.

    Example: textveil hashed seal model -o sealed --min-documents 3 --ledger firm.ledger
    """
    from textveil.hashed.seal import SealPlan
    from textveil.recipes.hashed.seal import SealJob, seal_model

    plan = SealPlan(mode.value, value_of(law), min_documents, spread, lean)
    job = SealJob(model, out, plan, delta, "float16" if half else "float32", **plain(spending))
    result = seal_model(job, bar=bars(quiet=as_json))
    rows = f"{result['kept_rows']:,} kept, {result['drawn_rows']:,} drawn"
    lines = [f"{result['slots']:,} slots: {rows}: {out}/model", *_ranks(result["costs"], delta)]
    print_release(result, out, lines, as_json=as_json)


def cost(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model, before sealing (or sealed: its recorded costs).")
    ],
    documents: Annotated[
        Path | None, option("The training documents: count each term's features in them.", group=INPUT)
    ] = None,
    term: Annotated[
        list[str] | None, option("A term to price (with --documents); repeat for several.", group=INPUT)
    ] = None,
    mode: Mode = SealMode.QUIET,
    law: Law = None,
    min_documents: MinDocuments = 3,
    delta: Delta = 1e-5,
    *,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Measure what sealing costs: by frequency rank (Zipf), and for the terms of the training documents.

    Example: textveil hashed cost model --documents contracts.jsonl --term Delaware --mode paper
    """
    from textveil.hashed.seal import SealPlan
    from textveil.recipes.hashed.seal import cost_of_model

    result = cost_of_model(
        model, SealPlan(mode.value, value_of(law), min_documents), delta=delta, documents=documents,
        terms=term or (), bar=bars(quiet=as_json), **plain(reading),
    )  # fmt: skip
    print_result(result, _cost_lines(result, delta), as_json=as_json)


def _cost_lines(result: dict[str, Any], delta: float) -> Iterator[str]:
    if result["sealed"]:
        yield f"measured over {result['releases']} release(s), delta {delta:g}, larger direction:"
        yield from _epsilons(result["epsilon"])
        return
    yield f"law fitted to {result['rows']:,} rows; K by Zipf's law:"
    yield from _ranks(result["zipf"], delta)
    if "kernel" in result:
        k = result["kernel"]
        yield f"kernel law, rank 100: {_short(k['searched'])} (largest of {k['sets']} sets, rounding {k['error']:.1e})"
    if "counted" in result:
        yield f"{result['terms']:,} terms, {result['free']:,} of them without any fitted row; K counted:"
        yield from _ranks(result["counted"], delta)
        for row in result["asked"]:
            features = f"{row['features']:,} features, {row['fitted']:,} fitted"
            yield f"  {row['term']}: {features}, epsilon {_short(row['epsilon'])}"
        if "together" in result:
            yield f"  all of them together: epsilon {_short(result['together'])}"


def update(
    model: Annotated[Path, typer.Argument(metavar="SEALED", help="A release folder of hashed seal or update.")],
    source: Annotated[Path, typer.Argument(metavar="IN", help="New documents: jsonl with `id` and `text`.")],
    out: Out,
    spans: Annotated[Path | None, option("Their marked spans, as for hashed train.", group=INPUT)] = None,
    label: Annotated[
        list[str] | None, option("Which label, when the spans have several; repeat it for several.", group=INPUT)
    ] = None,
    text_field: TextField = None,
    cap: Annotated[
        float | None, option("Refuse if the summed epsilon of the 100th commonest term would exceed this.")
    ] = None,
    delta: Delta = 1e-5,
    *,
    spending: Spending,
    half: Half = False,
    as_json: AsJson = False,
) -> None:
    """Train a sealed model on new documents and seal the change; costs of all releases are summed.

    Example: textveil hashed update sealed new.jsonl --spans marked.jsonl --label "Governing Law" -o sealed-2 --cap 0.5
    """
    from textveil.recipes.hashed.seal import UpdateJob, update_model
    from textveil.text.marked import MarkedFiles

    files = MarkedFiles(source, spans, tuple(label or ()) or None, text_field)
    job = UpdateJob(model, files, out, cap, delta, "float16" if half else "float32", **plain(spending))
    result = update_model(job, bar=bars(quiet=as_json))
    lines = [
        f"{result['documents']:,} new documents, release {result['releases']}: {out}/model",
        *_epsilons(result["epsilon"]),
    ]
    print_release(result, out, lines, as_json=as_json)


def _epsilons(by_rank: dict[str, Any]) -> Iterator[str]:
    for rank, epsilon in by_rank.items():
        yield f"  rank {rank:>5}: {_short(epsilon)}"


def _ranks(costs: dict[str, Any], delta: float) -> Iterator[str]:
    yield f"  epsilon at delta {delta:g}     paper's    with / without   larger"
    for rank, c in costs.items():
        row = (f"{_short(c[k]):>9}" for k in ("paper", "forward", "backward", "larger"))
        yield f"  rank {rank:>5} (K {c['count']:>7,})  {'  '.join(row)}"


def _short(value: Any) -> str:
    return str(value) if isinstance(value, str) else upward(value)
