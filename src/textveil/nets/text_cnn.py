"""The text CNN as it is trained. An example is (text, class); its loss is the cross entropy of its own class.

Source of the architecture: Kim, "Convolutional Neural Networks for Sentence Classification" (2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ..core import BadInput
from ..text.vectors import Vectors
from .folders import save_folder
from .portable import text_cnn as portable
from .portable.text_cnn import FIRST, PADDING, UNKNOWN


class TextCNN(portable.Network):
    """Made by `TextCNN.of`; knows `collate` and `losses`."""

    def __init__(self, config: dict[str, Any], words: Sequence[str]):
        super().__init__(config, words)
        self._number = {name: n for n, name in enumerate(self.classes)}

    @classmethod
    def of(
        cls,
        classes: Sequence[Any],
        vectors: Vectors,
        *,
        channels: int = 64,
        widths: Sequence[int] = (2, 3, 4),
        max_words: int = 256,
    ) -> TextCNN:
        """A new one over public vectors, all of whose words it keeps."""
        config = {
            "kind": "text_cnn",
            "classes": list(classes),
            "dimensions": vectors.dimensions,
            "channels": channels,
            "widths": list(widths),
            "max_words": max_words,
        }
        net = cls(config, list(vectors.words))
        table = net.vectors.weight.data
        table[PADDING].zero_()
        table[UNKNOWN] = torch.from_numpy(vectors.fallback.copy())
        table[FIRST:] = torch.from_numpy(vectors.matrix.copy())
        return net

    def collate(self, examples: Sequence[tuple[str, Any]]) -> dict[str, Tensor]:
        try:
            classes = [self._number[name] for _, name in examples]
        except KeyError:
            known = ", ".join(map(repr, self.classes))
            raise BadInput("an example has a class that the net does not know", possible=known) from None
        return {**self.batch([text for text, _ in examples]), "classes": torch.tensor(classes, dtype=torch.long)}

    def length(self, example: tuple[str, Any]) -> int:
        """About the words read, so that examples of like length can share a micro-batch."""
        return min(self.config["max_words"], example[0].count(" ") + 1)

    def losses(self, batch: dict[str, Tensor]) -> Tensor:
        return nn.functional.cross_entropy(self(batch), batch["classes"], reduction="none")

    def save(self, folder: Path) -> None:
        """A folder that plain torch loads (`net.py` in it)."""
        save_folder(folder, self.config, dict(self.state_dict()), portable, self.row)

    def take(self, weights: dict[str, Tensor]) -> None:
        self.load_state_dict(weights)
