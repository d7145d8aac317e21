"""What a server saw of one client in one round, as an exposure: from a live net, or from a file of an earlier run.

The file (server_view.npz, beside a release, for its owner only) holds the gradients that the attacks read and the row numbers
of the batch; it holds no text. Rows of the word embeddings without a gradient are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textveil.attacks.texthide.seen import BatchPlaces, BatchTokens, FirstLayer, GradientSeen, PlacesSeen
from textveil.core import BadInput

VIEW = "server_view.npz"
EMBEDDINGS = "encoder.embeddings."
ATTENTION = "encoder.encoder.layer.0.attention.self."
MATRICES = ("query", "key", "value")


@dataclass(frozen=True)
class ClientGradient:
    """The parts of one client's gradient that show its tokens."""

    layer: Any  # (3 width, width)
    word_rows: Any | None
    place_rows: Any | None

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> ClientGradient:
        """From gradients by parameter name; a frozen parameter has none."""
        missing = [name for name in MATRICES if f"{ATTENTION}{name}.weight" not in arrays]
        if missing:
            raise BadInput("the gradient has no first layer of BERT's kind", possible="an encoder that learns")
        layer = np.concatenate([np.asarray(arrays[f"{ATTENTION}{name}.weight"]) for name in MATRICES])
        rows = (arrays.get(f"{EMBEDDINGS}{name}_embeddings.weight") for name in ("word", "position"))
        words, places = (None if row is None else np.asarray(row) for row in rows)
        return cls(layer, words, places)

    def save(self, path: Path, rows: Sequence[int]) -> None:
        """Write it with the row numbers of the batch."""
        values: dict[str, Any] = {"layer": self.layer, "rows": np.asarray(rows, np.int64)}
        if self.word_rows is not None and self.place_rows is not None:
            present = np.flatnonzero(np.abs(self.word_rows).max(1))
            values |= {"tokens": present, "token_rows": self.word_rows[present], "places": self.place_rows}
            values["vocabulary"] = np.array(len(self.word_rows))
        np.savez_compressed(path, **values)

    @classmethod
    def load(cls, path: Path) -> tuple[ClientGradient, list[int]]:
        """What `save` wrote."""
        try:
            with np.load(path) as file:
                held = {name: file[name] for name in file.files}
        except (OSError, ValueError):
            raise BadInput("is no view of a server", where=path) from None
        words = None
        if "tokens" in held:
            words = np.zeros((int(held["vocabulary"]), held["layer"].shape[1]), np.float32)
            words[held["tokens"]] = held["token_rows"]
        return cls(held["layer"], words, held.get("places")), held["rows"].tolist()


def first_layer_of(net: Any) -> FirstLayer:
    """The embeddings of an encoder, as the server knows them."""
    parts = net.encoder.embeddings
    word, place, segment = (
        getattr(parts, f"{name}_embeddings").weight.detach().numpy() for name in ("word", "position", "token_type")
    )
    norm = parts.LayerNorm
    scale, shift = norm.weight.detach().numpy(), norm.bias.detach().numpy()
    return FirstLayer(word, place, segment[0], scale, shift, float(norm.eps))


def gradients_of(net: Any, loss: Any) -> dict[str, Any]:
    """The gradient of a loss, by parameter name."""
    net.zero_grad(set_to_none=True)
    loss.backward()
    return {name: p.grad.numpy() for name, p in net.named_parameters() if p.grad is not None}


def tokens_seen(net: Any, gradient: ClientGradient, texts: Sequence[Any] | None) -> GradientSeen:
    """The question which tokens stand in the batch; `texts` are the truth."""
    first = first_layer_of(net)
    inside = np.zeros(len(first.words), np.int64)
    for token, _ in _pairs(net, texts or ()):
        inside[token] = 1
    truth = None if texts is None else BatchTokens(inside)
    return GradientSeen(first, gradient.layer, net.max_pieces, gradient.word_rows, truth)


def places_seen(net: Any, gradient: ClientGradient, texts: Sequence[Any] | None) -> PlacesSeen:
    """The question which token stands where."""
    first = first_layer_of(net)
    inside = np.zeros((len(first.words), net.max_pieces), np.int64)
    for token, place in _pairs(net, texts or ()):
        inside[token, place] = 1
    truth = None if texts is None else BatchPlaces(inside.ravel())
    return PlacesSeen(first, gradient.layer, net.max_pieces, gradient.word_rows, gradient.place_rows, truth)


def _pairs(net: Any, texts: Sequence[Any]) -> set[tuple[int, int]]:
    """(token, place) of a batch, padding left out."""
    if not texts:
        return set()
    batch = net.pieces(texts)
    rows = zip(batch["input_ids"].tolist(), batch["attention_mask"].tolist(), strict=True)
    return {(t, p) for row, mask in rows for p, (t, on) in enumerate(zip(row, mask, strict=True)) if on}
