"""A small transformer encoder trained from scratch, over a WordPiece vocabulary: masked words first, tags afterwards.

Two layers of width 128 learn on two processors in minutes. Nothing is tied and nothing dropped at random, so every part
of it learns under private training too (`nets.encoder` wraps ready-made encoders instead, whose embeddings rest).
Examples are lists of piece numbers ("lm"), or pairs of piece lists per word and tags ("tagger").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from .masks import Keyed, Words, hidden_places, plain

PAD, UNK, CLS, SEP, MASK = range(5)  # the places of the special pieces in every vocabulary of training.vocabulary
OPEN = -100


class Block(nn.Module):
    """Attention and a feed-forward layer, each after a norm and beside a short cut."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mixed, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, states: Tensor, open_: Tensor) -> Tensor:
        count, length, width = states.shape
        mixed = self.mixed(self.first(states)).view(count, length, 3, self.heads, width // self.heads)
        query, key, value = mixed.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(2, 3) / math.sqrt(width // self.heads)
        scores = scores.masked_fill(~open_[:, None, None, :], -1e9)
        seen = (scores.softmax(3) @ value).transpose(1, 2).reshape(count, length, width)
        states = states + self.out(seen)
        return states + self.down(nn.functional.gelu(self.up(self.second(states))))


class SmallEncoder(nn.Module):
    """Pieces in, states out; `head` is "lm" or "tagger".

    >>> net = SmallEncoder(300, width=8, layers=1, heads=2)
    >>> net.losses(net.collate([[250, 251, 252], [260]])).shape
    torch.Size([2])
    """

    def __init__(self, pieces: int, *, width: int = 128, layers: int = 2, heads: int = 4, longest: int = 48):
        super().__init__()
        self.longest, self.head = longest, "lm"
        self.words, self.places = nn.Embedding(pieces, width), nn.Embedding(longest, width)
        for table in (self.words, self.places):
            nn.init.normal_(table.weight, 0.0, 0.05)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.last = nn.LayerNorm(width)
        self.output = nn.Linear(width, pieces)
        self.labels: list[str] = []

    def tagger(self, labels: Sequence[str]) -> SmallEncoder:
        """The same encoder (its weights shared) with a new head for tags."""
        made = SmallEncoder.__new__(SmallEncoder)
        nn.Module.__init__(made)
        made.longest, made.head, made.labels = self.longest, "tagger", list(labels)
        made.words, made.places, made.blocks, made.last = self.words, self.places, self.blocks, self.last
        made.output = nn.Linear(self.last.normalized_shape[0], len(made.labels))
        return made

    def forward(self, pieces: Tensor) -> Tensor:
        places = torch.arange(pieces.shape[1]).expand_as(pieces)
        states, open_ = self.words(pieces) + self.places(places), pieces != PAD
        for block in self.blocks:
            states = block(states, open_)
        return self.last(states)

    def length(self, example: Any) -> int:
        return min(self.longest, len(plain(example)) if self.head == "lm" else sum(map(len, example[0])))

    def draw(self, example: Any, source: Words) -> Any:
        """A text with the keys that say which of its places are hidden; other examples as they are."""
        return Keyed(example, source.words(self.longest)) if self.head == "lm" else example

    def collate(self, examples: Sequence[Any]) -> dict[str, Tensor]:
        """Padded pieces with places and targets."""
        if self.head == "lm":
            return self._masked(examples)
        rows, places, targets = [], [], []
        number = {label: i for i, label in enumerate(self.labels)}
        for words, tags in examples:
            starts, row = [], list[int]()
            for word in words:
                starts.append(len(row))
                row.extend(word)
            kept = [(s, number[t]) for s, t in zip(starts, tags, strict=True) if s < self.longest]
            rows.append(row[: self.longest])
            places.append([s for s, _ in kept])
            targets.append([t for _, t in kept])
        return _padded(rows, places, targets)

    def _masked(self, examples: Sequence[Any]) -> dict[str, Tensor]:
        places, targets, shown = [], [], []
        for example in examples:
            row = list(plain(example))[: self.longest]
            hidden = hidden_places(example, len(row), self.training)
            places.append(hidden)
            targets.append([row[i] for i in hidden])
            shown.append([MASK if i in hidden else piece for i, piece in enumerate(row)])
        return _padded(shown, places, targets)

    def scores(self, batch: dict[str, Tensor]) -> Tensor:
        """(examples, places, pieces or tags)."""
        states = self(batch["pieces"])
        index = batch["places"].unsqueeze(2).expand(-1, -1, states.shape[2])
        return self.output(states.gather(1, index))

    def losses(self, batch: dict[str, Tensor]) -> Tensor:
        """The mean over an example's own places."""
        scores, target = self.scores(batch), batch["target"]
        each = nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten(), ignore_index=OPEN, reduction="none")
        return each.view(target.shape).sum(1) / (target != OPEN).sum(1).clamp(min=1)

    @torch.no_grad()
    def tag(self, sentences: Sequence[Sequence[Sequence[int]]], batch_size: int = 128) -> list[list[str]]:
        """The likeliest tag of each word; words behind the longest length get O."""
        self.eval()
        found = [["O"] * len(s) for s in sentences]
        for start in range(0, len(sentences), batch_size):
            some = list(sentences[start : start + batch_size])
            batch = self.collate([(s, [self.labels[0]] * len(s)) for s in some])
            best = self.scores(batch).argmax(2)
            for row in range(len(some)):
                kept = int((batch["target"][row] != OPEN).sum())
                found[start + row][:kept] = [self.labels[i] for i in best[row, :kept].tolist()]
        return found

    @torch.no_grad()
    def piece_losses(self, row: Sequence[int], place: int) -> Any:
        """The loss of every piece in one masked place: what a secret there might have been."""
        self.eval()
        shown = [MASK if i == place else piece for i, piece in enumerate(row)]
        scores = self.scores(_padded([shown], [[place]], [[0]]))[0, 0]
        return -scores.double().log_softmax(0).numpy()


def _padded(rows: list[list[int]], places: list[list[int]], targets: list[list[int]]) -> dict[str, Tensor]:
    wide, deep = max(map(len, rows), default=0) or 1, max(map(len, places), default=0) or 1
    pieces = torch.full((len(rows), wide), PAD)
    at, target = torch.zeros(len(rows), deep, dtype=torch.long), torch.full((len(rows), deep), OPEN)
    for i, (row, own, aims) in enumerate(zip(rows, places, targets, strict=True)):
        pieces[i, : len(row)] = torch.tensor(row, dtype=torch.long)
        at[i, : len(own)] = torch.tensor(own, dtype=torch.long)
        target[i, : len(aims)] = torch.tensor(aims, dtype=torch.long)
    return {"pieces": pieces, "places": at, "target": target}
