"""`textveil train head`: a masked-word head for an encoder, trained on public text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.options import TRAINING, AsJson, Reading, option, plain
from textveil.cli.output import print_result


def head(
    source: Annotated[Path, typer.Argument(metavar="IN", help="PUBLIC texts: nothing about them is protected.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="The encoder's folder to make.")],
    encoder: Annotated[str, option("minilm (comes with Textveil), or a Hugging Face folder.")] = "minilm",
    whole: Annotated[bool, option("Train the encoder too, not only its head.", "--whole", group=TRAINING)] = False,
    epochs: Annotated[int, option("Passes over the texts.", group=TRAINING)] = 1,
    batch: Annotated[int, option("Texts in one step.", group=TRAINING)] = 32,
    rate: Annotated[float, option("Learning rate.", group=TRAINING)] = 1e-3,
    *,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Give an encoder a masked-word head, tied to its embeddings and trained on PUBLIC text without any noise.

    Example: textveil train head public.txt -o minilm-mlm --encoder minilm --epochs 2
    """
    from textveil.recipes.training.head import train_head

    result = train_head(
        source,
        out,
        encoder,
        epochs=epochs,
        batch=batch,
        rate=rate,
        whole=whole,
        **plain(reading),
    )
    lines = [
        f"{result['texts']:,} public texts; loss {result['first']:.3f} to {result['last']:.3f}: {out}",
        f"next: textveil train lm PRIVATE -o OUT --encoder {out} --epsilon E --delta D",
    ]
    print_result(result, lines, as_json=as_json)
