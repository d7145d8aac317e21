"""Fine-tune a translation model on fragments: any local Hugging Face sequence-to-sequence folder (Marian and its like).

As in the paper: learning rate .000175, weight decay .0001, dropout .2, fragments given as if they were sentences,
early stopping on whole validation sentences. Fragments alone make a model write short sentences; cures for that change
what it is shown (`training_pairs`: replay, join, length tags) or hold its weights (`pull`: L2, EWC).

Batches hold examples of like lengths, and matrix products are in bfloat16 where the CPU has them: fast, and neither
changes what an epoch shows.

Everything here is post-processing of the fragments: a promise that they carry holds for the model too, towards
whoever sees both. Imports torch, so it is itself imported late.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from textveil.core import BadInput
from textveil.core.params import fraction, non_negative, positive, positive_integer
from textveil.nets.translation import IGNORED, load_seq2seq, pair_batch

from .precision import use_bfloat16
from .pull import FISHER_PAIRS, Pull, fisher_diagonal
from .training_pairs import LENGTH_TAGS, TAGS, Diet, Pair

Weights = dict[str, torch.Tensor]
WINDOW = 32  # batches that are sorted together


@dataclass(frozen=True)
class AdaptSettings:
    """How a model is fine-tuned."""

    rate: float = 0.000175
    decay: float = 0.0001
    dropout: float = 0.2
    replay: float = 0.0
    join: int = 1  # fragments in a row, at most
    length_tags: bool = False
    l2: float = 0.0
    ewc: float = 0.0
    epochs: int = 5
    batch: int = 32
    checks: int = 4  # of the validation loss, an epoch
    patience: int = 4  # checks without gain before it stops
    longest: int = 128
    seed: int = 0

    def check(self) -> None:
        """Refuse settings outside their range."""
        positive("rate", self.rate)
        fraction("dropout", self.dropout)
        for name in ("decay", "replay", "l2", "ewc"):
            non_negative(name, getattr(self, name))
        for name in ("epochs", "batch", "checks", "patience", "longest", "join"):
            positive_integer(name, getattr(self, name))


class Translator:
    """A model with its tokenizer.

    `losses` gives the mean loss of a token, `translate` writes translations by beam search.
    """

    def __init__(self, model: Any, tokenizer: Any, longest: int = 128):
        places = getattr(model.config, "max_position_embeddings", None) or longest
        self.model, self.tokenizer, self.longest = model, tokenizer, min(longest, places - 2)

    @classmethod
    def load(cls, folder: Path, *, dropout: float | None = None, longest: int = 128) -> Translator:
        """A local folder; nothing is fetched."""
        at_hand = load_seq2seq(folder, dropout=dropout)
        return cls(at_hand.model, at_hand.tokenizer, longest)

    def add_tags(self, tags: Sequence[str] = TAGS) -> None:
        """Make marks such as <P> and </P> words of their own; they do not appear in translations."""
        if self.tokenizer.add_special_tokens({"additional_special_tokens": [*tags]}):
            self.model.resize_token_embeddings(len(self.tokenizer))

    def batch(self, pairs: Sequence[Pair]) -> dict[str, torch.Tensor]:
        """Both sides as numbers."""
        return pair_batch(self.tokenizer, pairs, self.longest)

    def loss(self, pairs: Sequence[Pair], size: int = 32) -> float:
        """The mean loss of a target token."""
        self.model.eval()
        total, tokens = 0.0, 0
        ordered = sorted(pairs, key=_length)  # like lengths need little filling
        with torch.no_grad():
            for first in range(0, len(pairs), size):
                batch = self.batch(ordered[first : first + size])
                count = int((batch["labels"] != IGNORED).sum())
                total += float(self.model(**batch).loss) * count
                tokens += count
        return total / max(tokens, 1)

    def translate(self, sources: Sequence[str], beams: int = 4, size: int = 16) -> list[str]:
        """Translations by beam search, in the order of the sources; batches hold sentences of like lengths."""
        self.model.eval()
        order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
        texts = [""] * len(sources)
        with torch.no_grad():
            for first in range(0, len(order), size):
                places = order[first : first + size]
                inputs = self.tokenizer(
                    [sources[i] for i in places],
                    padding=True,
                    truncation=True,
                    max_length=self.longest,
                    return_tensors="pt",
                )
                inputs.pop("token_type_ids", None)
                most = min(self.longest, 2 * inputs["input_ids"].shape[1] + 20)  # a model that loops is cut off
                written = self.model.generate(**inputs, num_beams=beams, max_new_tokens=most, max_length=None)
                for place, text in zip(
                    places, self.tokenizer.batch_decode(written, skip_special_tokens=True), strict=True
                ):
                    texts[place] = text.strip()
        return texts

    def save(self, folder: Path) -> None:
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


@dataclass
class Adapted:
    """How the fine-tuning went: validation losses, the first one before any step."""

    losses: list[float]
    steps: int = 0
    best: int = 0  # the check whose weights were kept

    @property
    def waited(self) -> int:
        """Checks since the best one."""
        return len(self.losses) - 1 - self.best


def adapt(
    translator: Translator,
    fragments: Sequence[Pair],
    valid: Sequence[Pair],
    settings: AdaptSettings,
    general: Sequence[Pair] = (),
    *,
    checkpoint: Path | None = None,
    most_updates: int | None = None,
    step: Callable[[int], None] = lambda done: None,
) -> Adapted:
    """Fine-tune, and keep the weights that are best on validation sentences (those before any step among them)."""
    settings.check()
    if (settings.replay or settings.ewc) and not general:
        raise BadInput("replay and EWC need general sentence pairs", possible="--general FILE")
    torch.manual_seed(settings.seed)
    if settings.length_tags:
        translator.add_tags(LENGTH_TAGS)
    model = translator.model
    pull = _pull(translator, settings, general)
    diet = Diet(fragments, general, settings.replay, settings.join, settings.length_tags)
    optimiser = torch.optim.AdamW(model.parameters(), lr=settings.rate, weight_decay=settings.decay)
    done, best = Adapted([translator.loss(valid)]), _weights(model)
    first_epoch = 0
    if checkpoint is not None and checkpoint.exists():
        first_epoch, done, best = _resume(checkpoint, model, optimiser, settings)
    narrow = use_bfloat16(model)
    every = max(1, math.ceil(diet.size() / settings.batch) // settings.checks)
    for epoch in range(first_epoch, settings.epochs):
        rng = np.random.default_rng((settings.seed, epoch))
        for batch in _batches(diet.epoch(rng), settings.batch, rng):
            _step(translator, optimiser, batch, pull, narrow)
            done.steps += 1
            step(1)
            if done.steps % every == 0 or done.steps == most_updates:
                best = _checked(translator, valid, done, best)
            if done.steps == most_updates or done.waited >= settings.patience:
                model.load_state_dict(best)
                return done
        if checkpoint is not None:
            _keep(checkpoint, epoch + 1, model, optimiser, done, best, settings)
    model.load_state_dict(best)
    return done


def _pull(translator: Translator, settings: AdaptSettings, general: Sequence[Pair]) -> Pull:
    """The penalty of leaving the start; for EWC, what a sample of the general text needs."""
    if not settings.ewc:
        return Pull(translator.model, settings.l2)
    places = np.random.default_rng(settings.seed).permutation(len(general))[:FISHER_PAIRS]
    fisher = fisher_diagonal(
        translator.model, [general[i] for i in places], lambda pair: translator.model(**translator.batch([pair])).loss
    )
    return Pull(translator.model, settings.l2, settings.ewc, fisher)


def _step(translator: Translator, optimiser: Any, batch: list[Pair], pull: Pull, narrow: bool) -> None:
    translator.model.train()
    with torch.autocast("cpu", torch.bfloat16, enabled=narrow):
        loss = translator.model(**translator.batch(batch)).loss
    loss = loss + pull.penalty()
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(translator.model.parameters(), 1.0)
    optimiser.step()


def _checked(translator: Translator, valid: Sequence[Pair], done: Adapted, best: Weights) -> Weights:
    """Note the validation loss; the weights that are best now."""
    done.losses.append(translator.loss(valid))
    if done.losses[-1] >= done.losses[done.best]:
        return best
    done.best = len(done.losses) - 1
    return _weights(translator.model)


def _batches(rows: Iterator[Pair], size: int, rng: np.random.Generator) -> Iterator[list[Pair]]:
    """Every row once, as many batches as without sorting: like lengths together, within a window of the random order."""
    while window := [*islice(rows, WINDOW * size)]:
        window.sort(key=_length)
        batches = [window[first : first + size] for first in range(0, len(window), size)]
        for place in rng.permutation(len(batches)):
            yield batches[place]


def _length(pair: Pair) -> int:
    return len(pair[0]) + len(pair[1])


def _weights(model: Any) -> Weights:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def _keep(
    path: Path, epoch: int, model: Any, optimiser: Any, done: Adapted, best: Any, settings: AdaptSettings
) -> None:
    """An epoch that is done, for a run that is stopped."""
    state = {
        "epoch": epoch, "model": _weights(model), "optimiser": optimiser.state_dict(), "best": best,
        "losses": done.losses, "steps": done.steps, "at": done.best, "settings": asdict(settings),
    }  # fmt: skip
    torch.save(state, path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)


def _resume(path: Path, model: Any, optimiser: Any, settings: AdaptSettings) -> tuple[int, Adapted, Any]:
    state = torch.load(path, weights_only=True)
    if state["settings"] != asdict(settings):
        raise BadInput(
            "holds the unfinished run of other settings", where=path, possible="the same settings, or remove it"
        )
    model.load_state_dict(state["model"])
    optimiser.load_state_dict(state["optimiser"])
    return state["epoch"], Adapted(state["losses"], state["steps"], state["at"]), state["best"]


__all__ = ["TAGS", "AdaptSettings", "Adapted", "Translator", "adapt"]
