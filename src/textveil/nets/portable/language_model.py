"""A small language model: word vectors, one LSTM with coupled gates (CIFG), and the vectors again as output weights.

Needs torch and numpy only; load(folder) reads a saved one.

    model = load("model")
    model.log_chances(["the cat sat"])   # natural log of the chance of each text
    model.next_words("the cat", 3)       # [("sat", 0.1), ...]

With 10,000 words, 96 dimensions and 256 units it has 1.3 million parameters. Coupled gates: what is forgotten is what is
written, c = f * c + (1 - f) * g, so there are three gate products a step where an LSTM has four.
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

PADDING, UNKNOWN, EDGE, FIRST = 0, 1, 2, 3
_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def words_of(text: str) -> list[str]:
    """Lower-case words and marks of punctuation."""
    return _WORD.findall(text.lower())


class CoupledLSTM(nn.Module):
    """Rows of the weights: forget gate, output gate, new content."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.hidden = hidden
        self.weight_ih = nn.Parameter(torch.empty(3 * hidden, width))
        self.weight_hh = nn.Parameter(torch.empty(3 * hidden, hidden))
        self.bias = nn.Parameter(torch.zeros(3 * hidden))
        for weight in (self.weight_ih, self.weight_hh):
            nn.init.uniform_(weight, -(hidden**-0.5), hidden**-0.5)
        with torch.no_grad():
            self.bias[:hidden] = 1.0  # remember at first

    def forward(self, inputs: Tensor) -> Tensor:
        """(B, T, width) to (B, T, hidden)."""
        given = inputs @ self.weight_ih.T + self.bias
        h = c = given.new_zeros(given.shape[0], self.hidden)
        states = []
        for t in range(given.shape[1]):
            f, o, g = (given[:, t] + h @ self.weight_hh.T).split(self.hidden, 1)
            f = torch.sigmoid(f)
            c = f * c + (1 - f) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            states.append(h)
        return torch.stack(states, 1)


class LanguageModel(nn.Module):
    """`config`: dimensions, hidden, max_words. A text is read from an edge mark to an edge mark."""

    def __init__(self, config: dict[str, Any], words: Sequence[str]):
        super().__init__()
        self.config, self.names = config, list(words)
        self.row = {word: number for number, word in enumerate(words, start=FIRST)}
        self.vectors = nn.Embedding(len(words) + FIRST, config["dimensions"])
        self.cell = self._recurrent(config["dimensions"], config["hidden"])
        self.project = nn.Linear(config["hidden"], config["dimensions"])
        self.out = nn.Linear(config["dimensions"], len(words) + FIRST)
        nn.init.normal_(self.vectors.weight, std=config["dimensions"] ** -0.5)
        self.out.weight = self.vectors.weight
        nn.init.zeros_(self.out.bias)

    def _recurrent(self, width: int, hidden: int) -> nn.Module:
        return CoupledLSTM(width, hidden)

    def batch(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """Rows from the first edge on, targets one place further (padding: -100), and how many targets there are."""
        most, find = self.config["max_words"], self.row.get
        rows = [[EDGE, *(find(w, UNKNOWN) for w in words_of(text)[:most]), EDGE] for text in texts]
        lengths = [len(row) - 1 for row in rows]
        read = np.zeros((len(rows), max(lengths, default=1)), dtype=np.int64)
        target = np.full_like(read, -100)
        for number, row in enumerate(rows):
            read[number, : len(row) - 1], target[number, : len(row) - 1] = row[:-1], row[1:]
        return {
            "rows": torch.from_numpy(read),
            "target": torch.from_numpy(target),
            "lengths": torch.tensor(lengths),
        }

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """Scores of the next word at every place, (B, T, words)."""
        return self.out(self.project(self.cell(self.vectors(batch["rows"]))))

    def negative_logs(self, batch: dict[str, Tensor]) -> Tensor:
        """-log chance of each text, edge mark included."""
        scores, target = self(batch), batch["target"]
        each = nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten(), ignore_index=-100, reduction="none")
        return each.view(target.shape).sum(1)

    @torch.no_grad()
    def log_chances(self, texts: Sequence[str], batch_size: int = 64) -> np.ndarray:
        """Natural log of the chance of each text."""
        parts = [-self.negative_logs(self.batch(texts[i : i + batch_size])) for i in range(0, len(texts), batch_size)]
        return torch.cat(parts).double().numpy() if parts else np.empty(0)

    @torch.no_grad()
    def next_words(self, text: str, count: int = 5) -> list[tuple[str, float]]:
        """The likeliest words after a text."""
        rows = [EDGE, *(self.row.get(w, UNKNOWN) for w in words_of(text))]
        chances = torch.softmax(self({"rows": torch.tensor([rows])})[0, -1], 0)
        best = chances[FIRST:].topk(min(count, len(self.names)))
        return [(self.names[i], float(p)) for p, i in zip(best.values, best.indices.tolist(), strict=True)]


def load(folder: str | Path) -> LanguageModel:
    """The language model that a model folder holds."""
    folder = Path(folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    net = LanguageModel(config, (folder / "words.txt").read_text(encoding="utf-8").split("\n"))
    net.load_state_dict({k: v.float() for k, v in torch.load(folder / "weights.pt", weights_only=True).items()})
    return net.eval()
