"""Fine-tune a translation model on fragments: any local Hugging Face sequence-to-sequence folder (Marian and its like).

As in the paper: learning rate .000175, weight decay .0001, dropout .2, fragments given as if they were sentences,
early stopping on whole validation sentences. Fragments alone make a model write short sentences; two cures stand
beside them:

    replay    general sentence pairs are mixed in, so many for each fragment
    l2        weights are pulled back to where they started

Everything here is post-processing of the fragments: a promise that they carry holds for the model too, towards
whoever sees both. Imports torch, so it is itself imported late.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from textveil.core import BadInput
from textveil.core.params import fraction, non_negative, positive, positive_integer

Pair = tuple[str, str]
TAGS = ("<P>", "</P>")
IGNORED = -100  # labels that do not count


@dataclass(frozen=True)
class AdaptSettings:
    """How a model is fine-tuned."""

    rate: float = 0.000175
    decay: float = 0.0001
    dropout: float = 0.2
    replay: float = 0.0
    l2: float = 0.0
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
        for name in ("decay", "replay", "l2"):
            non_negative(name, getattr(self, name))
        for name in ("epochs", "batch", "checks", "patience", "longest"):
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
        from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer, logging

        logging.disable_progress_bar()
        logging.set_verbosity_error()
        if not (folder / "config.json").is_file():
            raise BadInput("is no folder of a translation model (it has no config.json)", where=folder)
        try:
            config = AutoConfig.from_pretrained(folder, local_files_only=True)
            if dropout is not None:
                config.dropout = dropout
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model = AutoModelForSeq2SeqLM.from_pretrained(folder, config=config, local_files_only=True)
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise BadInput(f"cannot be loaded as a translation model ({type(error).__name__})", where=folder) from None
        return cls(model, tokenizer, longest)

    def add_tags(self) -> None:
        """Make <P> and </P> words of their own."""
        if self.tokenizer.add_special_tokens({"additional_special_tokens": [*TAGS]}):
            self.model.resize_token_embeddings(len(self.tokenizer))

    def batch(self, pairs: Sequence[Pair]) -> dict[str, torch.Tensor]:
        """Both sides as numbers."""
        settings = {"padding": True, "truncation": True, "max_length": self.longest, "return_tensors": "pt"}
        source = self.tokenizer([s for s, _ in pairs], **settings)
        labels = self.tokenizer(text_target=[t for _, t in pairs], **settings)
        targets = labels["input_ids"].masked_fill(labels["attention_mask"] == 0, IGNORED)
        return {"input_ids": source["input_ids"], "attention_mask": source["attention_mask"], "labels": targets}

    def loss(self, pairs: Sequence[Pair], size: int = 32) -> float:
        """The mean loss of a target token."""
        self.model.eval()
        total, tokens = 0.0, 0
        with torch.no_grad():
            for first in range(0, len(pairs), size):
                batch = self.batch(pairs[first : first + size])
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
                written = self.model.generate(**inputs, num_beams=beams, max_new_tokens=self.longest, max_length=None)
                for place, text in zip(
                    places, self.tokenizer.batch_decode(written, skip_special_tokens=True), strict=True
                ):
                    texts[place] = text
        return texts

    def save(self, folder: Path) -> None:
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def mixed(
    fragments: Sequence[Pair], general: Sequence[Pair], replay: float, rng: np.random.Generator
) -> Iterator[Pair]:
    """One epoch: all fragments, and so many general sentence pairs for each, in a random order."""
    wanted = round(replay * len(fragments))
    chosen = rng.integers(len(general), size=wanted) if wanted and len(general) else np.zeros(0, int)
    rows = [*fragments, *(general[i] for i in chosen)]
    for i in rng.permutation(len(rows)):
        yield rows[i]


@dataclass
class Adapted:
    """How the fine-tuning went: validation losses, the first one before any step."""

    losses: list[float]
    steps: int = 0
    best: int = 0  # the check whose weights were kept


def adapt(
    translator: Translator,
    fragments: Sequence[Pair],
    valid: Sequence[Pair],
    settings: AdaptSettings,
    general: Sequence[Pair] = (),
    *,
    checkpoint: Path | None = None,
    step: Callable[[int], None] = lambda done: None,
) -> Adapted:
    """Fine-tune, and keep the weights that are best on validation sentences (those before any step among them)."""
    settings.check()
    if settings.replay and not general:
        raise BadInput("replay needs general sentence pairs", possible="--general FILE")
    torch.manual_seed(settings.seed)
    model = translator.model
    start = [p.detach().clone() for p in model.parameters()] if settings.l2 else []
    optimiser = torch.optim.AdamW(model.parameters(), lr=settings.rate, weight_decay=settings.decay)
    done, best = Adapted([translator.loss(valid)]), _weights(model)
    first_epoch = 0
    if checkpoint is not None and checkpoint.exists():
        first_epoch, done, best = _resume(checkpoint, model, optimiser, settings)
    per_epoch = math.ceil(len(fragments) * (1 + settings.replay) / settings.batch)
    every = max(1, per_epoch // settings.checks)
    for epoch in range(first_epoch, settings.epochs):
        rng = np.random.default_rng((settings.seed, epoch))
        for batch in _batches(mixed(fragments, general, settings.replay, rng), settings.batch):
            _step(translator, optimiser, batch, start, settings.l2)
            done.steps += 1
            step(1)
            if done.steps % every == 0:
                done.losses.append(translator.loss(valid))
                if done.losses[-1] < done.losses[done.best]:
                    done.best, best = len(done.losses) - 1, _weights(model)
                if len(done.losses) - 1 - done.best >= settings.patience:
                    model.load_state_dict(best)
                    return done
        if checkpoint is not None:
            _keep(checkpoint, epoch + 1, model, optimiser, done, best, settings)
    model.load_state_dict(best)
    return done


def _step(translator: Translator, optimiser: Any, batch: list[Pair], start: list[torch.Tensor], l2: float) -> None:
    translator.model.train()
    loss = translator.model(**translator.batch(batch)).loss
    if l2:
        pulls = zip(translator.model.parameters(), start, strict=True)
        loss = loss + l2 * sum(((p - s) ** 2).sum() for p, s in pulls)
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(translator.model.parameters(), 1.0)
    optimiser.step()


def _batches(rows: Iterator[Pair], size: int) -> Iterator[list[Pair]]:
    held = list[Pair]()
    for row in rows:
        held.append(row)
        if len(held) == size:
            yield held
            held = []
    if held:
        yield held


def _weights(model: Any) -> dict[str, torch.Tensor]:
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


__all__ = ["TAGS", "AdaptSettings", "Adapted", "Translator", "adapt", "mixed"]
