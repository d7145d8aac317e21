"""The language model as it is trained. An example is a text; its loss is the mean over its own words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torch import Tensor, nn

from .cifg import CIFG
from .folders import save_folder
from .portable import language_model as portable
from .stacked import Weights, stacked_losses


class CIFGLanguageModel(portable.LanguageModel):
    """Made by `of`; knows `collate` and `losses`. With 10,000 words it has 1.3 million parameters.

    >>> net = CIFGLanguageModel.of(["the", "cat"], dimensions=4, hidden=5)
    >>> net.losses(net.collate(["the cat", "a dog barks"])).shape
    torch.Size([2])
    """

    @classmethod
    def of(
        cls, words: Sequence[str], *, dimensions: int = 96, hidden: int = 256, max_words: int = 40
    ) -> CIFGLanguageModel:
        """A new one over a public (or privately made) list of words."""
        config = {"kind": "language_model", "dimensions": dimensions, "hidden": hidden, "max_words": max_words}
        return cls(config, words)

    def _recurrent(self, width: int, hidden: int) -> nn.Module:
        return CIFG(width, hidden)

    def collate(self, examples: Sequence[str]) -> dict[str, Tensor]:
        return self.batch(examples)

    def length(self, example: str) -> int:
        """About the words read, so that examples of like length can share a micro-batch."""
        return min(self.config["max_words"], example.count(" ") + 1) + 1

    def losses(self, batch: dict[str, Tensor]) -> Tensor:
        return self.negative_logs(batch) / batch["lengths"]

    def stacked_losses(self, weights: Weights, units: int, batch: dict[str, Tensor]) -> Tensor:
        """The same for many units at once, each with its own weights (`stacked`)."""
        return stacked_losses(weights, units, batch)

    def save(self, folder: Path) -> None:
        """A folder that plain torch loads (`net.py` in it)."""
        save_folder(folder, self.config, dict(self.state_dict()), portable, self.names)

    def take(self, weights: dict[str, Tensor]) -> None:
        self.load_state_dict(weights)
