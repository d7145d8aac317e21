"""The tagger as it is trained: the portable network with the LSTM and the CRF whose per-example gradients are cheap.

An example is (words, tags). Its loss is the sentence's negative log-likelihood divided by the sentence's own length (or not
divided at all), so that no example's loss depends on who else is in the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ..core import BadInput
from ..text.vectors import Vectors
from .crf import Chain, path_chances, path_losses
from .folders import save_folder
from .lstm import LSTM
from .portable import tagger as portable
from .portable.tagger import FIRST, PADDING, UNKNOWN, best_paths, by_sentence

Example = tuple[Sequence[str], Sequence[str]]


class BiLSTMTagger(portable.Tagger):
    """`output` is "crf" (whole sentences are scored) or "softmax" (every word for itself)."""

    def __init__(self, config: dict[str, Any], words: Sequence[str]):
        super().__init__(config, words)
        self._number = {tag: n for n, tag in enumerate(self.tags)}

    @classmethod
    def of(
        cls,
        tags: Sequence[str],
        vectors: Vectors,
        *,
        output: str = "crf",
        hidden: int = 100,
        layers: int = 1,
        affix: int = 24,
        spelling: bool = True,
        per_word: bool = True,
    ) -> BiLSTMTagger:
        """A new one over public vectors, all of whose words it keeps: which words the private text has stays hidden."""
        config = {
            "kind": "tagger",
            "tags": list(tags),
            "dimensions": vectors.dimensions,
            "hidden": hidden,
            "layers": layers,
            "output": output,
            "affix": affix,
            "spelling": spelling,
            "per_word": per_word,
        }
        net = cls(config, list(vectors.words))
        table = net.vectors.weight.data
        table[PADDING].zero_()
        table[UNKNOWN] = torch.from_numpy(vectors.fallback.copy())
        table[FIRST:] = torch.from_numpy(vectors.matrix.copy())
        return net

    def _recurrent(self, width: int, hidden: int, layers: int) -> nn.Module:
        return LSTM(width, hidden, num_layers=layers, bidirectional=True)

    def _output(self) -> None:
        if self.config["output"] == "crf":
            self.chain = Chain(len(self.tags), portable.forbidden(self.tags))

    def read(self, batch: dict[str, Tensor]) -> Tensor:
        return self.lstm(self.inputs(batch), batch["lengths"])

    def step_scores(self) -> Tensor | None:
        return self.chain.weight if self.config["output"] == "crf" else None

    def collate(self, examples: Sequence[Example]) -> dict[str, Tensor]:
        """Padded batch; a tag that the net does not know and tags that do not align are refused by number."""
        batch = self.words.batch([words for words, _ in examples])
        tags = torch.zeros(batch["rows"].shape, dtype=torch.long)
        for number, (words, own) in enumerate(examples):
            if len(words) != len(own):
                raise BadInput(f"an example has {len(words)} words and {len(own)} tags")
            try:
                row = [self._number[tag] for tag in own]
            except KeyError:
                raise BadInput(
                    "an example has a tag that the tagger does not know", possible=", ".join(self.tags)
                ) from None
            tags[number, : len(row)] = torch.tensor(row, dtype=torch.long)
        return {**batch, "tags": tags}

    def tag_chances(self, sentences: Sequence[Any], batch_size: int = 256) -> list[list[tuple[str, float]]]:
        """The tag of each word, and its chance beside all other tag sequences; strings are cut into words."""
        return by_sentence(sentences, lambda flat: self._decoded(flat, batch_size, self._sure))

    def _sure(self, scores: Tensor, lengths: Tensor) -> list[list[tuple[str, float]]]:
        table = self.step_table()
        paths = best_paths(scores, table, lengths)
        chances = path_chances(scores, table, paths, lengths)
        return [[(self.tags[t], p) for t, p in zip(*row, strict=True)] for row in zip(paths, chances, strict=True)]

    @staticmethod
    def length(example: Example) -> int:
        """Words, so that examples of like length can share a micro-batch."""
        return len(example[0])

    def losses(self, batch: dict[str, Tensor]) -> Tensor:
        """One number an example: its negative log-likelihood per word (`per_word=False`: of the sentence)."""
        scores, lengths = self(batch), batch["lengths"]
        shares = lengths if self.config["per_word"] else torch.ones_like(lengths)
        if self.config["output"] == "crf":
            return path_losses(scores, self.chain(scores), batch["tags"], lengths) / shares
        per_word = nn.functional.cross_entropy(scores.flatten(0, 1), batch["tags"].flatten(), reduction="none")
        inside = torch.arange(scores.shape[1]).unsqueeze(0) < lengths.unsqueeze(1)
        return (per_word.view(scores.shape[:2]) * inside).sum(1) / shares

    def save(self, folder: Path) -> None:
        """A folder that plain torch loads (`net.py` in it)."""
        weights: dict[str, Any] = dict(self.state_dict())
        if self.config["output"] == "crf":
            weights["steps"] = weights.pop("chain.weight")
        save_folder(folder, self.config, weights, portable, self.words.row)

    def take(self, weights: dict[str, Tensor]) -> None:
        """Weights as `save` wrote them."""
        renamed = {("chain.weight" if name == "steps" else name): value for name, value in weights.items()}
        self.load_state_dict(renamed)
