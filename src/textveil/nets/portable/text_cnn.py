"""A text CNN: public word vectors, windows of several widths, the largest answer of each, one linear layer.

Needs torch and numpy only; load(folder) reads a saved one.

    net = load("model")
    net.label(["a fine film", "a dull one"])        # ["good", "bad"]

Padding is never seen: behind its end a text reads zeros, alone or in a batch, and windows that begin there do not count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

PADDING, UNKNOWN, FIRST = 0, 1, 2
_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def words_of(text: str) -> list[str]:
    """Lower-case words and marks of punctuation."""
    return _WORD.findall(text.lower())


class Network(nn.Module):
    """`config`: classes, dimensions, channels, widths, max_words."""

    def __init__(self, config: dict[str, Any], words: Sequence[str]):
        super().__init__()
        self.config, self.classes = config, list(config["classes"])
        self.row = {word: number for number, word in enumerate(words, start=FIRST)}
        self.vectors = nn.Embedding(len(words) + FIRST, config["dimensions"], padding_idx=PADDING)
        self.vectors.weight.requires_grad_(False)
        widths = config["widths"]
        self.windows = nn.ModuleList(nn.Conv1d(config["dimensions"], config["channels"], w) for w in widths)
        self.out = nn.Linear(config["channels"] * len(widths), len(self.classes))

    def batch(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """Padded rows and lengths; an empty text counts as one unknown word."""
        most, find = self.config["max_words"], self.row.get
        rows = [[find(word, UNKNOWN) for word in words_of(text)[:most]] or [UNKNOWN] for text in texts]
        lengths = [len(row) for row in rows]
        padded = np.zeros((len(rows), max(lengths, default=1)), dtype=np.int64)
        for number, row in enumerate(rows):
            padded[number, : len(row)] = row
        return {"rows": torch.from_numpy(padded), "lengths": torch.tensor(lengths)}

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """Scores of the classes, (B, classes)."""
        read = self.vectors(batch["rows"]).transpose(1, 2)
        outside = torch.arange(read.shape[2]).unsqueeze(0) >= batch["lengths"].unsqueeze(1)
        found = []
        for window in self.windows:
            answers = window(nn.functional.pad(read, (0, window.kernel_size[0] - 1)))
            found.append(answers.masked_fill(outside.unsqueeze(1), -torch.inf).amax(2).relu())
        return self.out(torch.cat(found, 1))

    @torch.no_grad()
    def chances(self, texts: Sequence[str], batch_size: int = 256) -> np.ndarray:
        """The chance of each class, one row a text."""
        parts = [
            torch.softmax(self(self.batch(texts[start : start + batch_size])).double(), 1).numpy()
            for start in range(0, len(texts), batch_size)
        ]
        return np.concatenate(parts) if parts else np.empty((0, len(self.classes)))

    def label(self, texts: Sequence[str]) -> list[Any]:
        """The likeliest class of each text."""
        return [self.classes[i] for i in self.chances(texts).argmax(1)]


def load(folder: str | Path) -> Network:
    """The network that a model folder holds."""
    folder = Path(folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    net = Network(config, (folder / "words.txt").read_text(encoding="utf-8").split("\n"))
    net.load_state_dict({k: v.float() for k, v in torch.load(folder / "weights.pt", weights_only=True).items()})
    return net.eval()
