"""Vectors of texts from a public encoder that rests: one for a text (the mean of its pieces), or one for each piece.

"minilm" or any Hugging Face folder. A vector of a text is the mean of its last states over its pieces, scaled to length 1,
as sentence encoders are trained; the vector of a piece is its last state, scaled to length 1. Texts of equal length share a
batch, so that a text has the same vector alone and among others up to float rounding.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .encoder import _quietly, encoder_folder, most_pieces

MOST_PIECES = 256
_WEIGHTS = ("*.safetensors", "*.bin", "tokenizer.json", "vocab.txt", "config.json")


class SentenceEncoder:
    """A resting encoder. `name`: "minilm", or a folder."""

    def __init__(self, name: str = "minilm", most: int = MOST_PIECES):
        import transformers

        self.folder = encoder_folder(name)
        with _quietly():
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder, local_files_only=True)
            self._model = transformers.AutoModel.from_pretrained(self.folder, local_files_only=True).eval()
        self._most = min(most, most_pieces(self._model.config))
        self.dimensions = int(self._model.config.hidden_size)

    def vectors(
        self, texts: Sequence[str], batch: int = 64, progress: Callable[[int], None] = lambda done: None
    ) -> NDArray[np.float32]:
        """One row a text."""
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)

        def keep(places: Sequence[int], states: Any, mask: Any) -> None:
            sums = (states * mask).sum(1) / mask.sum(1).clamp(min=1)
            rows[list(places)] = (sums / sums.norm(dim=1, keepdim=True).clamp(min=1e-9)).numpy()

        self._run(texts, self._most, batch, keep, progress)
        return rows

    def pieces(
        self, texts: Sequence[str], length: int, batch: int = 64, progress: Callable[[int], None] = lambda done: None
    ) -> NDArray[np.float32]:
        """(texts, length, dimensions): the first `length` pieces of each, and zeros behind the last one."""
        rows = np.zeros((len(texts), length, self.dimensions), dtype=np.float32)

        def keep(places: Sequence[int], states: Any, mask: Any) -> None:
            scaled = states / states.norm(dim=2, keepdim=True).clamp(min=1e-9) * mask
            rows[list(places), : scaled.shape[1]] = scaled.numpy()

        self._run(texts, length, batch, keep, progress)
        return rows

    def _run(
        self,
        texts: Sequence[str],
        most: int,
        batch: int,
        keep: Callable[[Sequence[int], Any, Any], None],
        progress: Callable[[int], None],
    ) -> None:
        import torch

        coded = self._tokenizer(list(texts), truncation=True, max_length=most)["input_ids"] if len(texts) else []
        order = sorted(range(len(coded)), key=lambda place: len(coded[place]))
        with torch.no_grad():
            for start in range(0, len(order), batch):
                places = order[start : start + batch]
                padded = self._tokenizer.pad({"input_ids": [coded[p] for p in places]}, return_tensors="pt")
                states = self._model(
                    input_ids=padded["input_ids"], attention_mask=padded["attention_mask"]
                ).last_hidden_state
                keep(places, states, padded["attention_mask"].unsqueeze(2).to(states.dtype))
                progress(len(places))


def encoder_fingerprint(folder: Path) -> str:
    """A hash of an encoder's weights and pieces: equal hashes give equal vectors."""
    digest = hashlib.sha256()
    for pattern in _WEIGHTS:
        for path in sorted(folder.glob(pattern)):
            digest.update(path.name.encode() + b"\0")
            with open(path, "rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


__all__ = ["SentenceEncoder", "encoder_fingerprint"]
