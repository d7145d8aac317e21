"""`textveil hashed`: train an extractor on marked documents and apply it; the other verbs stand in files of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli import hashed_probe, hashed_score, hashed_seal
from textveil.cli.choices import SoundMethod, SoundUnit, Widen
from textveil.cli.options import (
    INPUT,
    MODEL,
    TRAINING,
    AllowLargeDelta,
    AsJson,
    Half,
    IdField,
    Out,
    PrivateOut,
    Reading,
    Source,
    Spending,
    TextField,
    given,
    names_of,
    option,
    plain,
)
from textveil.cli.output import Warner, command_line, percent, print_release, print_result
from textveil.cli.progress import bars
from textveil.cli.verbs import Verbs
from textveil.core.errors import BadInput

app = Verbs("Extractors in a hash table: train, apply, score, seal, cost, update, probe.")

SOUND = "With a promise (the sound variant)"


@app.command()
def train(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Documents: jsonl with `id` and `text`.")],
    out: Out,
    spans: Annotated[
        Path | None,
        option("The marked spans: jsonl with `id`, `start`, `end`, `label`. Without: `spans` in IN.", group=INPUT),
    ] = None,
    label: Annotated[
        list[str] | None,
        option("Which label to learn, when the spans have several; repeat it for one model of several.", group=INPUT),
    ] = None,
    text_field: TextField = None,
    epsilon: Annotated[
        float | None, option("Train under this promise: the loss of one --unit. Without: no promise.", group=SOUND)
    ] = None,
    delta: Annotated[
        float | None, option("Chance that the bound fails; well below 1 / units, e.g. 1e-6.", group=SOUND)
    ] = None,
    unit: Annotated[SoundUnit | None, option("Whom the promise is about.", group=SOUND)] = None,
    method: Annotated[
        SoundMethod | None,
        option("descent (default): 15 noisy steps, better; output: one noisy result, quicker.", group=SOUND),
    ] = None,
    allow_large_delta: AllowLargeDelta = False,
    bits: Annotated[
        int | None, option("The table has 2^bits slots. Without: 21, or 18 with --epsilon.", group=MODEL)
    ] = None,
    families: Annotated[str, option("Kinds of features, divided by commas.", group=MODEL)] = "word,cluster,bigram,skip",
    clusters: Annotated[
        str, option("Groups of similar words: 'default', a vector file, or 'none'.", group=MODEL)
    ] = "default",
    fold: Annotated[bool, option("Read upper case as lower case.", group=MODEL)] = True,
    epochs: Annotated[int | None, option("Passes over the documents. Without: 10.", group=TRAINING)] = None,
    c: Annotated[float | None, option("The largest step of one update. Without: 0.001.", "--c", group=TRAINING)] = None,
    widen: Annotated[
        Widen | None, option("Finds become whole sentences (default), or stay as they are.", group=TRAINING)
    ] = None,
    share: Annotated[
        float | None,
        option("A sentence is taken when this share of its words is found. Without: 0.1.", group=TRAINING),
    ] = None,
    shuffle: Annotated[
        bool | None, option("Train in a secret random order. Without: as the file has them.", group=TRAINING)
    ] = None,
    *,
    spending: Spending,
    half: Half = False,
    as_json: AsJson = False,
) -> None:
    """Train a model that finds spans like the marked ones. Without --epsilon nothing is promised: seal it before sharing it.

    Example: textveil hashed train contracts.jsonl --spans marked.jsonl --label "Governing Law" -o model --ledger firm.ledger
    """
    from textveil.hashed.plan import FeaturePlan
    from textveil.recipes.hashed.train import ExtractorJob, train_model
    from textveil.text.marked import MarkedFiles

    slots = bits if bits is not None else (21 if epsilon is None else 18)
    plan = FeaturePlan(slots, names_of(families), None if clusters == "none" else clusters, fold)
    chosen = given(epochs=epochs, c=c, widen=widen, share=share, shuffle=shuffle)
    if epsilon is not None and chosen:
        raise BadInput(f"with --epsilon there is no --{next(iter(chosen))}", possible="--unit, --method, --bits")
    job = ExtractorJob(
        MarkedFiles(source, spans, tuple(label or ()) or None, text_field), out, plan, {**chosen, "seed": spending.seed},
        "float16" if half else "float32", spending.ledger, spending.other_data, spending.unpriced, allow_large_delta,
        epsilon=epsilon, delta=delta, **given(unit=unit, method=method),
    )  # fmt: skip
    warner = Warner()
    result = train_model(job, bar=bars(quiet=as_json), warn=warner)
    labels = ", ".join([result["label"]] if isinstance(result["label"], str) else result["label"])
    lines = [f"{labels}: {result['documents']:,} documents, {result['words']:,} words: {out}/model"]
    if "occupied" in result:
        filled, slots = result["occupied"], result["slots"]
        lines.append(f"table:   {filled:,} of {slots:,} slots hold weights ({percent(filled / slots)})")
    audit = command_line("audit", out, "--truth", source, "--spans", spans)
    print_release(result, out, lines, as_json=as_json, next=audit, said=warner)


@app.command()
def apply(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A release folder of hashed train, seal or update.")],
    source: Source,
    out: PrivateOut,
    page: Annotated[bool, option("Also write a page with the finds highlighted.")] = True,
    id_field: IdField = None,
    *,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Find spans in new documents: spans.jsonl with scores, and highlights.html.

    Example: textveil hashed apply model new.jsonl -o found
    """
    from textveil.recipes.hashed.apply import ApplyJob, apply_model
    from textveil.recipes.new_documents import NewDocuments

    job = ApplyJob(model, NewDocuments(source, id_field, **plain(reading)), out, page)
    result = apply_model(job, bar=bars(quiet=as_json))
    rate = f"{result['words_per_second']:,.0f} words a second"
    lines = [
        f"{result['finds']:,} finds in {result['documents_with_finds']:,} of {result['documents']:,} documents "
        f"({result['words']:,} words, {rate})",
        f"{out}/spans.jsonl",
        *([f"read {out}/highlights.html"] if page else []),
    ]
    print_result(result, lines, as_json=as_json)


for _verb in (hashed_score.score, hashed_seal.seal, hashed_seal.cost, hashed_seal.update, hashed_probe.probe):
    app.command()(_verb)
