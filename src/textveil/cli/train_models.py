"""`textveil train tagger|classifier|lm`: models of private text. The three verbs share their options, written once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.choices import LmVocabMethod, Optimiser, TaggerOutput, TrainUnit
from textveil.cli.options import (
    INPUT,
    MODEL,
    PROMISE,
    SAMPLINGS,
    TRAINING,
    AllowLargeDelta,
    AsJson,
    Encoding,
    Format,
    LabelField,
    Out,
    Reading,
    Spending,
    UserField,
    VectorFile,
    given,
    names_of,
    option,
    plain,
)
from textveil.cli.output import Warner, command_line, print_release
from textveil.cli.progress import bars

PrivateExamples = Annotated[
    Path, typer.Argument(metavar="IN", help="Private examples: jsonl, csv, tsv, parquet, conll.")
]
EncoderName = Annotated[
    str | None,
    option("Start from a public encoder instead: minilm (comes with Textveil), or a Hugging Face folder.", group=MODEL),
]


@dataclass(frozen=True)
class PromiseOptions:
    """What is promised, and to whom."""

    epsilon: Annotated[
        float | None, option("The loss of one unit by the whole training; 1 to 8 is usual.", group=PROMISE)
    ] = None
    delta: Annotated[float, option("Chance that the bound fails; well below 1 / units.", group=PROMISE)] = 1e-5
    unit: Annotated[TrainUnit, option("Whom it protects: one example, or all that one user wrote.", group=PROMISE)] = (
        TrainUnit.EXAMPLE
    )
    allow_large_delta: AllowLargeDelta = False
    examples: Annotated[
        int | None,
        option("Declare how many units there are: a public figure. Without: their number, rounded.", group=PROMISE),
    ] = None


@dataclass(frozen=True)
class TrainingOptions:
    """How it is trained; None: what suits the model."""

    epochs: Annotated[
        float | None,
        option("How often each example is drawn, on average. More learn more, at more noise.", group=TRAINING),
    ] = None
    batch: Annotated[
        int | None, option("Examples in a step, on average; large batches drown the noise.", group=TRAINING)
    ] = None
    clip: Annotated[float | None, option("The longest pull (gradient) that one unit may have.", group=TRAINING)] = None
    rate: Annotated[float | None, option("Learning rate.", group=TRAINING)] = None
    optimiser: Annotated[Optimiser | None, option("How steps are taken.", group=TRAINING)] = None
    average: Annotated[
        float | None, option("Decay of the running mean of models that is released, e.g. 0.99.", group=TRAINING)
    ] = None
    sampling: Annotated[
        str | None,
        option(
            "poisson (default): each unit joins by a coin; fixed: batches of one size, priced loosely.",
            group=TRAINING,
            metavar=SAMPLINGS,
        ),
    ] = None
    micro_batch: Annotated[int | None, option("Examples in memory at once; changes no result.", group=TRAINING)] = None
    test: Annotated[
        Path | None, option("Score the model on this file, which is taken to be public.", group=TRAINING)
    ] = None


def tagger(
    source: PrivateExamples,
    out: Out,
    *,
    promise: PromiseOptions,
    output: Annotated[
        TaggerOutput, option("Tags are chosen for whole sentences (crf) or word by word (softmax).", group=MODEL)
    ] = TaggerOutput.CRF,
    vectors: VectorFile = "default",
    encoder: EncoderName = None,
    hidden: Annotated[int, option("Units of the LSTM, each way.", group=MODEL)] = 100,
    layers: Annotated[int, option("Layers of the LSTM.", group=MODEL)] = 1,
    tags: Annotated[
        str | None,
        option(
            "Declare the tags, divided by commas: O,B-PER,I-PER. Without: those in IN, which are then shown.",
            group=INPUT,
        ),
    ] = None,
    user_field: UserField = None,
    format: Format = None,
    encoding: Encoding = None,
    run: TrainingOptions,
    spending: Spending,
    as_json: AsJson = False,
) -> None:
    """Train a tagger, for names and places say, on conll or jsonl (tokens, tags) sentences.

    Example: textveil train tagger notes.conll -o tagger --epsilon 3 --delta 1e-5 --test public.conll --ledger notes.ledger
    """
    own: dict[str, Any] = {"output": output, "vectors": vectors, "encoder": encoder, "hidden": hidden, "layers": layers}
    own["tags"] = None if tags is None else list(names_of(tags))
    fields = {"user_field": user_field, "format": format, "encoding": encoding}
    _train("tagger", source, out, promise, own, run, spending, as_json, fields)


def classifier(
    source: PrivateExamples,
    out: Out,
    *,
    promise: PromiseOptions,
    vectors: VectorFile = "default",
    encoder: EncoderName = None,
    adapters: Annotated[
        int | None,
        option("With --encoder: let it rest and learn adapters (LoRA) of this rank; 0: the head alone.", group=MODEL),
    ] = None,
    max_words: Annotated[int, option("Read only so many words of a text.", group=MODEL)] = 256,
    classes: Annotated[
        str | None,
        option("Declare the labels, divided by commas. Without: those in IN, which are then shown.", group=INPUT),
    ] = None,
    label_field: LabelField = "label",
    user_field: UserField = None,
    reading: Reading,
    run: TrainingOptions,
    spending: Spending,
    as_json: AsJson = False,
) -> None:
    """Train a text classifier on jsonl, csv, tsv or parquet with a text and a label.

    Example: textveil train classifier letters.jsonl -o model --epsilon 2 --delta 1e-5 --text-field text --label-field topic
    """
    own: dict[str, Any] = {"vectors": vectors, "encoder": encoder, "max_words": max_words, "adapters": adapters}
    own["classes"] = None if classes is None else list(names_of(classes))
    fields: dict[str, Any] = {"label_field": label_field, "user_field": user_field, **plain(reading)}
    _train("classifier", source, out, promise, own, run, spending, as_json, fields)


def lm(
    source: PrivateExamples,
    out: Out,
    *,
    promise: PromiseOptions,
    encoder: EncoderName = None,
    words: Annotated[Path | None, option("A public list of words, one a line.", group=MODEL)] = None,
    size: Annotated[int, option("Words of the vocabulary.", group=MODEL)] = 10_000,
    private_vocabulary: Annotated[
        bool,
        option("Learn the words from IN too, under the same promise.", "--private-vocabulary", group=MODEL),
    ] = False,
    vocab_epsilon: Annotated[
        float | None, option("What these words may cost by themselves. Without: a quarter of --epsilon.", group=MODEL)
    ] = None,
    vocab_method: Annotated[
        LmVocabMethod, option("How these words are chosen; policy finds more of them.", group=MODEL)
    ] = LmVocabMethod.GAUSSIAN,
    max_words: Annotated[int, option("Read only so many words of a text.", group=MODEL)] = 40,
    user_field: UserField = None,
    reading: Reading,
    run: TrainingOptions,
    spending: Spending,
    as_json: AsJson = False,
) -> None:
    """Train a language model: a CIFG-LSTM of 1.3 million parameters, or a masked-word encoder.

    Example: textveil train lm letters.jsonl -o model --epsilon 4 --delta 1e-6 --private-vocabulary --text-field text
    """
    from textveil.text.examples import read_texts

    listed = read_texts(words, format="txt").inputs if words is not None else None
    own = {"encoder": encoder, "words": listed, "size": size, "max_words": max_words}
    vocabulary = {"vocab_epsilon": vocab_epsilon, "method": vocab_method.value} if private_vocabulary else None
    fields: dict[str, Any] = {"user_field": user_field, "private_vocabulary": vocabulary, **plain(reading)}
    _train("lm", source, out, promise, own, run, spending, as_json, fields)


def _train(
    kind: str, source: Path, out: Path, promise: PromiseOptions, own: dict[str, Any], run: TrainingOptions,
    spending: Spending, as_json: bool, fields: dict[str, Any],
) -> None:  # fmt: skip
    from textveil.recipes.training.models import ModelJob, train_model
    from textveil.recipes.training.scores import score_lines

    asked = {**vars(promise), **vars(run), "seed": spending.seed}
    test, allow_large_delta = asked.pop("test"), asked.pop("allow_large_delta")
    job = ModelJob(
        kind, source, out, {"epsilon": None, **given(**own, **asked)}, test, **fields, ledger=spending.ledger,
        other_data=spending.other_data, unpriced=spending.unpriced, allow_large_delta=allow_large_delta,
    )  # fmt: skip
    warner = Warner()
    result = train_model(job, bar=bars(quiet=as_json), warn=warner)
    lines = [f"{result['kind']}: {out}/model ({result['steps']:,} updates, noise {result['noise']:.4g})"]
    scores = [f"scores:  {line}" for line in score_lines(result["kind"], result["scores"])]
    audit = command_line("audit", out, "--truth", source, "--public", test) if test is not None else ""
    print_release(result, out, lines, as_json=as_json, more=scores, next=audit, said=warner)
