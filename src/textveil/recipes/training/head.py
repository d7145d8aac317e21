"""A masked-word head for an encoder that has none, trained on text that its owner declares public. No noise, no promise."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

from textveil.core.params import needs
from textveil.core.release import check_free, new_folder
from textveil.text.examples import read_texts
from textveil.text.readers import ReadingOptions


def train_head(
    source: Path,
    out: Path,
    encoder: str = "minilm",
    *,
    epochs: int = 1,
    batch: int = 32,
    rate: float = 1e-3,
    whole: bool = False,
    max_pieces: int = 64,
    **reading: Unpack[ReadingOptions],
) -> dict[str, Any]:
    """Train and save a Hugging Face folder with a masked-word head; `whole` lets the encoder's own layers learn too."""
    needs("training", "torch", "transformers")
    check_free(out)
    texts = read_texts(source, **reading).inputs

    from textveil.nets.encoder import Encoder, encoder_folder
    from textveil.nets.folders import example_losses
    from textveil.nets.plain_fit import fit_plainly

    net = Encoder(encoder_folder(encoder), "lm", max_pieces=max_pieces, layers=None if whole else 0)
    net.output_bias().requires_grad_(True)
    sample = texts[:200]
    first = float(example_losses(net, sample).mean())
    fit_plainly(net, texts, epochs=epochs, batch=batch, rate=rate)
    last = float(example_losses(net, sample).mean())
    with new_folder(out) as hidden:
        net.save(hidden)
    return {"out": str(out), "texts": len(texts), "first": first, "last": last}
