"""`textveil hashed seal`, `cost`, `update`: fill a trained model, measure what that costs, train it on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.output import print_json
from textveil.cli.progress import bar

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON result.")]
Mode = Annotated[
    str, typer.Option(help="quiet (names and rare terms are forgotten) | paper (genuine weights untouched).")
]
Law = Annotated[str | None, typer.Option(help="kernel | gaussian. Without: kernel if quiet, gaussian if paper.")]
MinDocuments = Annotated[int, typer.Option(help="Quiet: forget rows that fewer documents hold in plain words.")]
Delta = Annotated[float, typer.Option(help="At which the divergence is read as an epsilon.")]
Ledger = Annotated[Path | None, typer.Option(help="Charge this ledger (made if it is missing).")]
Half = Annotated[bool, typer.Option(help="Store weights in 16 bits.")]
Seed = Annotated[int | None, typer.Option(help="Draw with a seed: makes a draft without any promise.")]


def _bar(quiet: bool) -> Any:
    return lambda title, total, unit: bar(title, total, unit=unit, quiet=quiet)


def seal(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A release folder of hashed train.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="The release folder to make.")],
    mode: Mode = "quiet",
    law: Law = None,
    min_documents: MinDocuments = 3,
    spread: Annotated[float | None, typer.Option(help="Quiet: drawn weights times this (without: 0.1).")] = None,
    lean: Annotated[float, typer.Option(help="Quiet: drawn rows speak against finds by this many deviations.")] = 0.5,
    delta: Delta = 1e-5,
    half: Half = False,
    ledger: Ledger = None,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Fill every slot of a model, so that nobody can see which ones training had filled. Measured, not promised.

    Example: textveil hashed seal model -o sealed --min-documents 3 --ledger firm.ledger
    """
    from textveil.hashed.seal import SealPlan
    from textveil.recipes.hashed_seal import SealJob, seal_model

    plan = SealPlan(mode, law, min_documents, spread, lean)
    job = SealJob(model, out, plan, delta, "float16" if half else "float32", ledger, seed)
    result = seal_model(job, bar=_bar(as_json))
    if as_json:
        print_json(result)
        return
    typer.echo(f"{result['slots']:,} slots: {result['kept_rows']:,} kept, {result['drawn_rows']:,} drawn: {out}/model")
    _ranks(result["costs"], delta)
    typer.echo(f"promise: {result['promise']}")
    typer.echo(f"ledger:  {result['entry'] or 'not recorded (no --ledger)'}")
    typer.echo(f"read {out}/card.html")


def cost(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model, before sealing (or sealed: its recorded costs).")
    ],
    documents: Annotated[Path | None, typer.Option(help="The training documents: count each term's features.")] = None,
    term: Annotated[list[str] | None, typer.Option(help="A term to price (with --documents); may be repeated.")] = None,
    mode: Mode = "quiet",
    law: Law = None,
    min_documents: MinDocuments = 3,
    delta: Delta = 1e-5,
    text_field: Annotated[str | None, typer.Option(help="The field or column that holds the text.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what sealing costs: by frequency rank (Zipf), and for the terms of the training documents.

    Example: textveil hashed cost model --documents contracts.jsonl --term Delaware --mode paper
    """
    from textveil.hashed.seal import SealPlan
    from textveil.recipes.hashed_seal import cost_of_model

    result = cost_of_model(
        model, SealPlan(mode, law, min_documents), delta=delta, documents=documents, text_field=text_field,
        terms=term or (), bar=_bar(as_json),
    )  # fmt: skip
    if as_json:
        print_json(result)
        return
    if result["sealed"]:
        typer.echo(f"measured over {result['releases']} release(s), delta {delta:g}, larger direction:")
        for rank, epsilon in result["epsilon"].items():
            typer.echo(f"  rank {rank:>5}: {_short(epsilon)}")
        return
    typer.echo(f"law fitted to {result['rows']:,} rows; K by Zipf's law:")
    _ranks(result["zipf"], delta)
    if "kernel" in result:
        k = result["kernel"]
        typer.echo(
            f"kernel law, rank 100: {_short(k['searched'])} (largest of {k['sets']} sets, rounding {k['error']:.1e})"
        )
    if "counted" in result:
        typer.echo(f"{result['terms']:,} terms, {result['free']:,} of them without any fitted row; K counted:")
        _ranks(result["counted"], delta)
        for row in result["asked"]:
            typer.echo(
                f"  {row['term']}: {row['features']:,} features, {row['fitted']:,} fitted, epsilon {_short(row['epsilon'])}"
            )
        if "together" in result:
            typer.echo(f"  all of them together: epsilon {_short(result['together'])}")


def update(
    model: Annotated[Path, typer.Argument(metavar="SEALED", help="A release folder of hashed seal or update.")],
    source: Annotated[Path, typer.Argument(metavar="IN", help="New documents: jsonl with `id` and `text`.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="The release folder to make.")],
    spans: Annotated[Path | None, typer.Option(help="Their marked spans, as for hashed train.")] = None,
    label: Annotated[str | None, typer.Option(help="Which label, when the spans have several.")] = None,
    cap: Annotated[
        float | None, typer.Option(help="Refuse if the 100th term's summed epsilon would exceed this.")
    ] = None,
    delta: Delta = 1e-5,
    half: Half = False,
    text_field: Annotated[str | None, typer.Option(help="The field that holds the text.")] = None,
    ledger: Ledger = None,
    other_data: Annotated[bool, typer.Option(help="Charge a ledger that belongs to another data set.")] = False,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Train a sealed model on new documents and seal the change; costs of all releases are summed.

    Example: textveil hashed update sealed new.jsonl --spans marked.jsonl --label "Governing Law" -o sealed-2 --cap 0.5
    """
    from textveil.recipes.hashed_files import MarkedFiles
    from textveil.recipes.hashed_seal import UpdateJob, update_model

    files = MarkedFiles(source, spans, label, text_field)
    job = UpdateJob(model, files, out, cap, delta, "float16" if half else "float32", ledger, other_data, seed)
    result = update_model(job, bar=_bar(as_json))
    if as_json:
        print_json(result)
        return
    typer.echo(f"{result['documents']:,} new documents, release {result['releases']}: {out}/model")
    for rank, epsilon in result["epsilon"].items():
        typer.echo(f"  rank {rank:>5}: {_short(epsilon)}")
    typer.echo(f"promise: {result['promise']}")
    typer.echo(f"ledger:  {result['entry'] or 'not recorded (no --ledger)'}")


def _ranks(costs: dict[str, Any], delta: float) -> None:
    typer.echo(f"  epsilon at delta {delta:g}     paper's    with / without   larger")
    for rank, c in costs.items():
        row = (f"{_short(c[k]):>9}" for k in ("paper", "forward", "backward", "larger"))
        typer.echo(f"  rank {rank:>5} (K {c['count']:>7,})  {'  '.join(row)}")


def _short(value: Any) -> str:
    return str(value) if isinstance(value, str) else f"{value:.4g}"
