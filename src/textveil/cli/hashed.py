"""`textveil hashed`: train an extractor on marked documents and apply it; the other verbs stand in files of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli import hashed_probe, hashed_seal
from textveil.cli.output import percent, print_json
from textveil.cli.progress import bar
from textveil.core.errors import BadInput

app = typer.Typer(help="Extractors in a hash table: train, apply, seal, cost, update, probe.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON result.")]


@app.command()
def train(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Documents: jsonl with `id` and `text`.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="The release folder to make.")],
    spans: Annotated[
        Path | None,
        typer.Option(help="jsonl with `id`, `start`, `end`, `label` (or `clause`). Without: `spans` in IN."),
    ] = None,
    label: Annotated[str | None, typer.Option(help="Which label to learn, when the spans have several.")] = None,
    bits: Annotated[int | None, typer.Option(help="2^bits slots. Default: 21, or 18 with --epsilon.")] = None,
    families: Annotated[str, typer.Option(help="Features, divided by commas.")] = "word,cluster,bigram,skip",
    clusters: Annotated[str, typer.Option(help="Word clusters: 'default', a vector file, or 'none'.")] = "default",
    fold: Annotated[bool, typer.Option(help="Upper case as lower case.")] = True,
    epochs: Annotated[int | None, typer.Option(help="Passes over the documents. Default: 10.")] = None,
    c: Annotated[float | None, typer.Option("--c", help="The largest step of one update. Default: 0.001.")] = None,
    widen: Annotated[str | None, typer.Option(help="Whole sentences: sentence (default) | none.")] = None,
    share: Annotated[float | None, typer.Option(help="Words to find in a sentence to take it. Default: 0.1.")] = None,
    shuffle: Annotated[bool | None, typer.Option(help="Train in a secret random order. Default: no.")] = None,
    half: Annotated[bool, typer.Option(help="Store weights in 16 bits.")] = False,
    epsilon: Annotated[float | None, typer.Option(help="Train the sound variant, under this promise.")] = None,
    delta: Annotated[float | None, typer.Option(help="Sound variant: chance that the bound fails.")] = None,
    unit: Annotated[str | None, typer.Option(help="Sound variant protects: paragraph | document.")] = None,
    method: Annotated[str | None, typer.Option(help="Sound variant: how; see docs/hashed-sound.md.")] = None,
    text_field: Annotated[str | None, typer.Option(help="The field that holds the text.")] = None,
    ledger: Annotated[Path | None, typer.Option(help="Charge this ledger (made if it is missing).")] = None,
    other_data: Annotated[bool, typer.Option(help="Charge a ledger that belongs to another data set.")] = False,
    seed: Annotated[int | None, typer.Option(help="Order (--shuffle) and noise (--epsilon) from a seed.")] = None,
    as_json: AsJson = False,
) -> None:
    """Train a model that finds spans like the marked ones. Without --epsilon nothing is promised: seal it before sharing it.

    Example: textveil hashed train contracts.jsonl --spans marked.jsonl --label "Governing Law" -o model --ledger firm.ledger
    """
    from textveil.hashed.plan import FeaturePlan
    from textveil.recipes.hashed_files import MarkedFiles
    from textveil.recipes.hashed_train import TrainJob, train_model

    slots = bits if bits is not None else (21 if epsilon is None else 18)
    plan = FeaturePlan(slots, tuple(families.split(",")), None if clusters == "none" else clusters, fold)
    chosen = {"epochs": epochs, "c": c, "widen": widen, "share": share, "shuffle": shuffle}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if epsilon is not None and chosen:
        raise BadInput(f"with --epsilon there is no --{next(iter(chosen))}", possible="--unit, --method, --bits")
    parameters: dict[str, Any] = {**chosen, "seed": seed}
    job = TrainJob(
        MarkedFiles(source, spans, label, text_field), out, plan, parameters, "float16" if half else "float32",
        ledger, other_data, epsilon, delta, unit, method,
    )  # fmt: skip
    result = train_model(job, bar=lambda title, total, unit: bar(title, total, unit=unit, quiet=as_json))
    if as_json:
        print_json(result)
        return
    typer.echo(f"{result['label']}: {result['documents']:,} documents, {result['words']:,} words: {out}/model")
    if "occupied" in result:
        filled, slots = result["occupied"], result["slots"]
        typer.echo(f"table:   {filled:,} of {slots:,} slots hold weights ({percent(filled / slots)})")
    for sentence in result.get("warnings", ()):
        typer.echo(f"beware:  {sentence}", err=True)
    typer.echo(f"promise: {result['promise']}")
    typer.echo(f"ledger:  {result['entry'] or 'not recorded (no --ledger)'}")
    typer.echo(f"read {out}/card.html")


@app.command()
def apply(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A release folder of hashed train, seal or update.")],
    source: Annotated[Path, typer.Argument(metavar="IN", help="Documents, in any format that veil reads.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="The folder to make.")],
    page: Annotated[bool, typer.Option(help="Also write a page with the finds highlighted.")] = True,
    text_field: Annotated[str | None, typer.Option(help="The field or column that holds the text.")] = None,
    format: Annotated[str | None, typer.Option(help="Input format, when the extension does not tell.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find spans in new documents: spans.jsonl with scores, and highlights.html.

    Example: textveil hashed apply model new.jsonl -o found
    """
    from textveil.recipes.hashed_apply import ApplyJob, apply_model

    job = ApplyJob(model, source, out, text_field, format, page)
    result = apply_model(job, bar=lambda title, total, unit: bar(title, total, unit=unit, quiet=as_json))
    if as_json:
        print_json(result)
        return
    rate = f"{result['words_per_second']:,.0f} words a second"
    typer.echo(f"{result['finds']:,} finds in {result['documents']:,} documents ({result['words']:,} words, {rate})")
    typer.echo(f"{out}/spans.jsonl")
    if page:
        typer.echo(f"read {out}/highlights.html")


for _verb in (hashed_seal.seal, hashed_seal.cost, hashed_seal.update, hashed_probe.probe):
    app.command()(_verb)
