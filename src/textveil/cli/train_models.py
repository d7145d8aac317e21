"""`textveil train tagger|classifier|lm`: models of private text. The three verbs share their options, written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.output import print_json
from textveil.cli.progress import bar

Source = Annotated[Path, typer.Argument(metavar="IN", help="Private examples.")]
Out = Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="The release folder to make.")]
Epsilon = Annotated[float | None, typer.Option(help="The loss of one unit, by the whole training.")]
Vectors = Annotated[str, typer.Option(help="Public word vectors: 'default' or a file.")]
EncoderName = Annotated[str | None, typer.Option(help="minilm, or a Hugging Face folder, instead.")]


def _shared(
    delta: Annotated[float, typer.Option(help="Chance that the bound fails: well below 1 / examples.")] = 1e-5,
    unit: Annotated[str, typer.Option(help="Whom it protects: example | user.")] = "example",
    epochs: Annotated[float | None, typer.Option(help="Times that each example is drawn, on average.")] = None,
    batch: Annotated[int | None, typer.Option(help="Expected batch; large ones drown the noise.")] = None,
    clip: Annotated[float | None, typer.Option(help="Largest gradient of one unit.")] = None,
    rate: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    optimiser: Annotated[str | None, typer.Option(help="adamw | sgd.")] = None,
    average: Annotated[float | None, typer.Option(help="Decay of the average of iterates.")] = None,
    examples: Annotated[int | None, typer.Option(help="Declared public number of units (else two digits).")] = None,
    sampling: Annotated[str | None, typer.Option(help="poisson | fixed.")] = None,
    micro_batch: Annotated[int | None, typer.Option(help="Examples in memory at once.")] = None,
    test: Annotated[Path | None, typer.Option(help="Score on this (public) file.")] = None,
    user_field: Annotated[str | None, typer.Option(help="The field that names the user.")] = None,
    format: Annotated[str | None, typer.Option(help="Input format, when the extension does not tell.")] = None,
    ledger: Annotated[Path | None, typer.Option(help="Charge this ledger (made if it is missing).")] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="Folder to stop in and go on from.")] = None,
    seed: Annotated[int | None, typer.Option(help="Draw with a seed: makes a draft without any promise.")] = None,
    other_data: Annotated[bool, typer.Option(help="Charge a ledger that belongs to another data set.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON result.")] = False,
) -> None:
    """The options that all three verbs have."""


_TRAINING = ("delta", "unit", "epochs", "batch", "clip", "rate", "optimiser", "average", "examples", "sampling")
_TRAINING += ("micro_batch", "seed")
_JOB = ("test", "user_field", "format", "ledger", "checkpoint", "other_data")


def _with_shared(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb with the shared options behind its own, as the command line sees it."""
    own = [p for p in inspect.signature(verb, eval_str=True).parameters.values() if p.kind is not p.VAR_KEYWORD]
    shared = list(inspect.signature(_shared, eval_str=True).parameters.values())
    verb.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    verb.__annotations__ = {p.name: p.annotation for p in (*own, *shared)} | {"return": None}
    return verb


@_with_shared
def tagger(
    source: Source,
    out: Out,
    epsilon: Epsilon = None,
    output: Annotated[str, typer.Option(help="crf (whole sentences) | softmax (word by word).")] = "crf",
    vectors: Vectors = "default",
    encoder: EncoderName = None,
    hidden: Annotated[int, typer.Option(help="Units of the LSTM, each way.")] = 100,
    layers: Annotated[int, typer.Option(help="Layers of the LSTM.")] = 1,
    **shared: Any,
) -> None:
    """Train a tagger (names, places ...) on conll or jsonl (tokens, tags) sentences.

    Example: textveil train tagger notes.conll -o tagger --epsilon 3 --delta 1e-5 --test public.conll --ledger notes.ledger
    """
    own = {"output": output, "vectors": vectors, "encoder": encoder, "hidden": hidden, "layers": layers}
    _run("tagger", source, out, epsilon, own, shared)


@_with_shared
def classifier(
    source: Source,
    out: Out,
    epsilon: Epsilon = None,
    vectors: Vectors = "default",
    encoder: EncoderName = None,
    max_words: Annotated[int, typer.Option(help="Read this much of a text.")] = 256,
    text_field: Annotated[str | None, typer.Option(help="The field or column that holds the text.")] = None,
    label_field: Annotated[str, typer.Option(help="The field or column that holds the label.")] = "label",
    **shared: Any,
) -> None:
    """Train a text classifier on jsonl, csv, tsv or parquet with a text and a label.

    Example: textveil train classifier letters.jsonl -o model --epsilon 2 --delta 1e-5 --text-field text --label-field topic
    """
    own = {"vectors": vectors, "encoder": encoder, "max_words": max_words}
    _run("classifier", source, out, epsilon, own, shared, text_field=text_field, label_field=label_field)


@_with_shared
def lm(
    source: Source,
    out: Out,
    epsilon: Epsilon = None,
    encoder: EncoderName = None,
    words: Annotated[Path | None, typer.Option(help="A public list of words, one a line.")] = None,
    size: Annotated[int, typer.Option(help="Words of the vocabulary.")] = 10_000,
    private_vocabulary: Annotated[bool, typer.Option(help="Learn the words too, under the same promise.")] = False,
    vocab_epsilon: Annotated[float | None, typer.Option(help="What these words may cost by themselves.")] = None,
    vocab_method: Annotated[str, typer.Option(help="gaussian | policy.")] = "gaussian",
    max_words: Annotated[int, typer.Option(help="Read this much of a text.")] = 40,
    text_field: Annotated[str | None, typer.Option(help="The field or column that holds the text.")] = None,
    **shared: Any,
) -> None:
    """Train a language model: a CIFG-LSTM of 1.3 million parameters, or a masked-word encoder.

    Example: textveil train lm letters.jsonl -o model --epsilon 4 --delta 1e-6 --private-vocabulary --text-field text
    """
    from textveil.recipes.train_data import read_texts

    listed = read_texts(words, format="txt").inputs if words is not None else None
    own = {"encoder": encoder, "words": listed, "size": size, "max_words": max_words}
    vocabulary = {"vocab_epsilon": vocab_epsilon, "method": vocab_method} if private_vocabulary else None
    _run("lm", source, out, epsilon, own, shared, text_field=text_field, private_vocabulary=vocabulary)


def _run(
    kind: str, source: Path, out: Path, epsilon: float | None, own: dict[str, Any], shared: dict[str, Any], **job: Any
) -> None:
    from textveil.recipes.train_models import TrainJob, train_model

    parameters = {**own, "epsilon": epsilon, **{name: shared[name] for name in _TRAINING}}
    asked = TrainJob(kind, source, out, parameters, **job, **{name: shared[name] for name in _JOB})
    quiet = shared["as_json"]
    result = train_model(asked, bar=lambda title, total, unit: bar(title, total, unit=unit, quiet=quiet))
    if quiet:
        print_json(result)
        return
    _print(result, out)


def _print(result: dict[str, Any], out: Path) -> None:
    from textveil.recipes.train_scores import score_lines

    typer.echo(f"{result['kind']}: {out}/model ({result['steps']:,} updates, noise {result['noise']:.4g})")
    typer.echo(f"promise: {result['promise']}")
    for line in score_lines(result["kind"], result["scores"]):
        typer.echo(f"scores:  {line}")
    typer.echo(f"ledger:  {result['entry'] or 'not recorded (no --ledger)'}")
    typer.echo(f"read {out}/card.html")


def head(
    source: Annotated[Path, typer.Argument(metavar="IN", help="PUBLIC texts: nothing about them is protected.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="The encoder's folder to make.")],
    encoder: Annotated[str, typer.Option(help="minilm, or a Hugging Face folder.")] = "minilm",
    epochs: Annotated[int, typer.Option(help="Passes over the texts.")] = 1,
    batch: Annotated[int, typer.Option(help="Texts a step.")] = 32,
    rate: Annotated[float, typer.Option(help="Learning rate.")] = 1e-3,
    whole: Annotated[bool, typer.Option(help="Train the encoder too, not only its head.")] = False,
    text_field: Annotated[str | None, typer.Option(help="The field or column that holds the text.")] = None,
    format: Annotated[str | None, typer.Option(help="Input format, when the extension does not tell.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON result.")] = False,
) -> None:
    """Give an encoder a masked-word head, tied to its embeddings and trained on PUBLIC text without any noise.

    Example: textveil train head public.txt -o minilm-mlm --encoder minilm --epochs 2
    """
    from textveil.recipes.train_head import train_head

    result = train_head(
        source, out, encoder, epochs=epochs, batch=batch, rate=rate, whole=whole, text_field=text_field, format=format
    )
    if as_json:
        print_json(result)
        return
    typer.echo(f"{result['texts']:,} public texts; loss {result['first']:.3f} to {result['last']:.3f}: {out}")
    typer.echo(f"next: textveil train lm PRIVATE -o OUT --encoder {out} --epsilon E --delta D")
