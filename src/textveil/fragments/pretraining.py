"""A small translation model from scratch: subwords, a transformer, and a training that can be stopped at any step.

For whoever has no pre-trained model: the result is a plain Hugging Face folder, the start of `adapt`. Its layers
normalise first (the classes of Pegasus), which trains well at a high rate without a long warm-up.

    pace     batches of like lengths, filled to so many target tokens; matrix products in bfloat16 where the CPU has
             them (attention stays in 32 bits: its backward pass is slow in 16)
    threads  each takes a part of the batch through the model: small products gain little from a second thread inside
    rate     a short warm-up, then falling with the square root of the step, so no end has to be known beforehand; where
             one is (`ends`), it falls on a line to nothing
    weights  what is saved and scored is a moving average, which stands in for letting the rate fall to zero
    joined   a share of the examples is two pairs in a row, so that long sentences are no surprise

Where a trained model is at hand already, `start` goes on from its folder, with its subwords and other text.

A checkpoint holds everything: a run that is stopped and goes on makes the same steps as one that is not. It is written
every few minutes, beside `progress.json` for people: steps, tokens a second, the curve so far.
Imports torch, so it is itself imported late.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from textveil.core import BadInput
from textveil.core.params import fraction, positive, positive_integer

from .adapting import Translator
from .precision import use_bfloat16

Pair = tuple[str, str]
PAD, END = 0, 1
_SPECIAL = ("<pad>", "</s>")
MODEL_EVERY = 1000  # steps
KEEP_SECONDS = 300.0


@dataclass(frozen=True)
class PretrainSettings:
    """The size of the model and how it is trained."""

    subwords: int = 8000
    width: int = 256
    encoder_layers: int = 4
    decoder_layers: int = 2
    heads: int = 4
    tokens: int = 1600  # of the target, a step
    rate: float = 0.001
    warm_up: int = 200
    falls_from: int = 1000  # the step from which the rate falls
    ends: int = 0  # the step at which the rate has fallen to nothing; 0: never
    smoothing: float = 0.1
    averaged: float = 0.998
    joined: float = 0.2
    longest: int = 128
    seed: int = 0

    def check(self) -> None:
        """Refuse settings outside their range."""
        for name in ("rate", "averaged"):
            positive(name, getattr(self, name))
        for name in ("smoothing", "joined"):
            fraction(name, getattr(self, name))
        for name in ("subwords", "width", "encoder_layers", "decoder_layers", "heads", "tokens", "warm_up"):
            positive_integer(name, getattr(self, name))

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, counted from 0.

        >>> settings = PretrainSettings()
        >>> [round(settings.rate_at(step), 6) for step in (0, 199, 999, 3999)]
        [5e-06, 0.001, 0.001, 0.0005]
        >>> round(PretrainSettings(ends=800).rate_at(599), 6)
        0.000251
        """
        left = max(1 - step / self.ends, 0.0) if self.ends else 1.0
        step += 1
        return self.rate * left * min(1.0, step / self.warm_up, (self.falls_from / step) ** 0.5)


def subword_tokenizer(texts: Iterator[str], size: int) -> Any:
    """Byte-pair encoding on bytes: every text can be written, and no word is unknown."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    inner.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=[*_SPECIAL], initial_alphabet=alphabet, show_progress=False
    )
    inner.train_from_iterator(texts, trainer)
    inner.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", END)])
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="</s>", clean_up_tokenization_spaces=False
    )


def new_model(vocabulary: int, settings: PretrainSettings) -> Any:
    """Random weights of the right shape."""
    from transformers import PegasusConfig, PegasusForConditionalGeneration

    sides = {"attention_heads": settings.heads, "ffn_dim": 4 * settings.width}
    shape = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in sides.items()}
    config = PegasusConfig(
        vocab_size=vocabulary, d_model=settings.width, encoder_layers=settings.encoder_layers,
        decoder_layers=settings.decoder_layers, max_position_embeddings=2 * settings.longest, dropout=0.0,
        attention_dropout=0.0, activation_dropout=0.0, scale_embedding=True, activation_function="relu",
        pad_token_id=PAD, eos_token_id=END, decoder_start_token_id=PAD, forced_eos_token_id=None, **shape,
    )  # fmt: skip
    torch.manual_seed(settings.seed)
    model = PegasusForConditionalGeneration(config)
    spread_weights(model, settings)
    return model


def spread_weights(model: Any, settings: PretrainSettings) -> None:
    """Begin with larger weights than the class does, .02 everywhere, at which attention is even and slow to find its words.

    Matrices as Glorot and Bengio (2010); subwords so that they are as long as the marks of their places once scaled.
    """
    generator = torch.Generator().manual_seed(settings.seed)
    subwords = model.model.shared.weight
    for name, weight in model.named_parameters():
        if weight.dim() == 2 and weight is not subwords and "positions" not in name:
            torch.nn.init.xavier_uniform_(weight, generator=generator)
    with torch.no_grad():
        subwords.normal_(std=settings.width**-0.5, generator=generator)
        subwords[PAD] = 0.0


@dataclass(frozen=True)
class Numbered:
    """Sentence pairs as subwords; both sides end with the end mark."""

    source: list[np.ndarray]
    target: list[np.ndarray]

    @classmethod
    def of(cls, pairs: Sequence[Pair], tokenizer: Any, longest: int) -> Numbered:
        """Pairs that are longer on one side are left out."""
        sides = [tokenizer([pair[n] for pair in pairs])["input_ids"] for n in (0, 1)]
        kept = [i for i in range(len(pairs)) if max(len(sides[0][i]), len(sides[1][i])) <= longest]
        source, target = ([np.array(side[i], np.int32) for i in kept] for side in sides)
        return cls(source, target)

    def epoch(self, settings: PretrainSettings, number: int) -> list[list[tuple[int, ...]]]:
        """The batches of one epoch: each a list of examples, an example the places of one pair or of two in a row."""
        rng = np.random.default_rng((settings.seed, number))
        order = rng.permutation(len(self.source)).tolist()
        doubles = int(len(order) * settings.joined / 2)
        examples = [(order[2 * i], order[2 * i + 1]) for i in range(doubles)]
        examples = [e for e in examples if self._length(e) <= settings.longest]
        taken = {place for example in examples for place in example}
        examples += [(place,) for place in order if place not in taken]
        examples.sort(key=lambda e: (self._length(e), e))
        batches, held = list[list[tuple[int, ...]]](), list[tuple[int, ...]]()
        for example in examples:
            held.append(example)
            if len(held) * self._length(example) >= settings.tokens:
                batches.append(held)
                held = []
        batches += [held] if held else []
        return [batches[i] for i in rng.permutation(len(batches))]

    def _length(self, example: tuple[int, ...]) -> int:
        return max(sum(len(side[i]) for i in example) for side in (self.source, self.target))

    def tensors(self, batch: list[tuple[int, ...]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Both sides, filled up."""
        return _padded(self.source, batch), _padded(self.target, batch)


def _padded(side: list[np.ndarray], batch: list[tuple[int, ...]]) -> torch.Tensor:
    rows = [np.concatenate([*(side[i][:-1] for i in example[:-1]), side[example[-1]]]) for example in batch]
    filled = np.full((len(rows), max(map(len, rows))), PAD, np.int64)
    for place, row in enumerate(rows):
        filled[place, : len(row)] = row
    return torch.from_numpy(filled)


@dataclass
class PretrainState:
    """Where a training stands."""

    step: int = 0
    epoch: int = 0
    place: int = 0  # in the batches of the epoch
    target_tokens: int = 0
    cpu_seconds: float = 0.0
    loss: float = 0.0  # moving average
    curve: list[dict[str, Any]] = field(default_factory=list)


class Pretraining:
    """A training that goes on from `folder` if it holds an unfinished one.

    `start`: the folder of a model of the same shape to begin with; its subwords are taken too.
    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        folder: Path,
        settings: PretrainSettings | None = None,
        *,
        start: Path | None = None,
    ):
        self.settings, self.folder, self.start = settings or PretrainSettings(), folder, start
        self.settings.check()
        folder.mkdir(parents=True, exist_ok=True)
        self.text_mark = _mark(pairs)
        self.tokenizer = self._own_tokenizer(pairs)
        self.numbered = Numbered.of(pairs, self.tokenizer, self.settings.longest)
        self.model = new_model(len(self.tokenizer), self.settings)
        if start is not None:
            self.model.load_state_dict(Translator.load(start).model.state_dict())
        self.average = {name: value.detach().clone() for name, value in self.model.state_dict().items()}
        self.optimiser = torch.optim.AdamW(
            self.model.parameters(), lr=self.settings.rate, betas=(0.9, 0.98), weight_decay=0.01, fused=True
        )
        self.learnt = [weight for weight in self.model.parameters() if weight.requires_grad]
        self.threads = ThreadPoolExecutor(torch.get_num_threads(), initializer=torch.set_num_threads, initargs=(1,))
        self.state = PretrainState()
        self.narrow = use_bfloat16(self.model)
        if self._checkpoint.exists():
            self._resume()

    def _own_tokenizer(self, pairs: Sequence[Pair]) -> Any:
        from transformers import PreTrainedTokenizerFast

        kept = self.start or self.folder / "tokenizer"
        if not kept.exists():
            subword_tokenizer((text for pair in pairs for text in pair), self.settings.subwords).save_pretrained(kept)
        return PreTrainedTokenizerFast.from_pretrained(kept, local_files_only=True)

    @property
    def _checkpoint(self) -> Path:
        return self.folder / "checkpoint.pt"

    def run(
        self,
        steps: int,
        *,
        every: int = 250,
        score: Callable[[Translator], dict[str, Any]] | None = None,
        on_step: Callable[[PretrainState], None] = lambda state: None,
    ) -> PretrainState:
        """Train until so many steps were done; `score` is asked every so many, and its answers make the curve.

        The model is saved as `model-STEPS` at the end, and every 1,000 steps.
        """
        state, kept_at = self.state, time.monotonic()
        batches = self.numbered.epoch(self.settings, state.epoch)
        while state.step < steps:
            if state.place >= len(batches):
                state.epoch, state.place = state.epoch + 1, 0
                batches = self.numbered.epoch(self.settings, state.epoch)
            begin = time.process_time()
            self._step(*self.numbered.tensors(batches[state.place]))
            state.place += 1
            state.cpu_seconds += time.process_time() - begin
            on_step(state)
            if state.step % every == 0 or state.step == steps:
                point = {"step": state.step, "cpu_minutes": state.cpu_seconds / 60, "tokens": state.target_tokens}
                point |= {"epoch": state.epoch + state.place / len(batches), "loss": state.loss}
                state.curve.append(point | (score(self.translator()) if score else {}))
            if state.step % every == 0 or state.step == steps or time.monotonic() - kept_at > KEEP_SECONDS:
                self.keep()
                kept_at = time.monotonic()
            if state.step % MODEL_EVERY == 0 or state.step == steps:
                self.translator().save(self.folder / f"model-{state.step}")
        return state

    def _step(self, source: torch.Tensor, target: torch.Tensor) -> None:
        state, settings = self.state, self.settings
        for group in self.optimiser.param_groups:
            group["lr"] = settings.rate_at(state.step)
        self.model.train()
        counted = int((target != PAD).sum())
        parts = min(torch.get_num_threads(), len(target))
        todo = [(source[n::parts], target[n::parts], counted) for n in range(parts)]
        done = (
            [self._gradients(*todo[0])]
            if parts == 1
            else [*self.threads.map(lambda part: self._gradients(*part), todo)]
        )
        for n, weight in enumerate(self.learnt):
            weight.grad = sum((gradients[n] for _, gradients in done[1:]), done[0][1][n])
        torch.nn.utils.clip_grad_norm_(self.learnt, 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        state.step += 1
        state.target_tokens += counted
        state.loss += (sum(loss for loss, _ in done) - state.loss) * max(0.02, 1 / state.step)
        self._average(min(settings.averaged, 1 - 9 / (state.step + 9)))

    def _gradients(
        self, source: torch.Tensor, target: torch.Tensor, counted: int
    ) -> tuple[float, tuple[torch.Tensor, ...]]:
        """The share of the loss that some examples have in a batch with so many target tokens, and its gradients."""
        before = torch.cat([torch.full_like(target[:, :1], PAD), target[:, :-1]], dim=1)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.narrow):
            hidden = self.model.model(
                input_ids=source, attention_mask=(source != PAD).long(), decoder_input_ids=before
            ).last_hidden_state
            real = target != PAD  # rows of the softmax that would be filled up are never computed
            logits = self.model.lm_head(hidden[real]).float()
        smoothing = self.settings.smoothing
        loss = torch.nn.functional.cross_entropy(logits, target[real], label_smoothing=smoothing, reduction="sum")
        loss = loss / counted
        return float(loss.detach()), torch.autograd.grad(loss, self.learnt)

    def _average(self, share: float) -> None:
        with torch.no_grad():
            for name, value in self.model.state_dict().items():
                self.average[name].lerp_(value, 1 - share)

    def translator(self) -> Translator:
        """The averaged weights, as a model of its own."""
        model = new_model(len(self.tokenizer), self.settings)
        model.load_state_dict(self.average)
        return Translator(model, self.tokenizer, self.settings.longest)

    def keep(self) -> None:
        """Write the checkpoint, in one step."""
        held = {
            "model": self.model.state_dict(), "average": self.average, "optimiser": self.optimiser.state_dict(),
            "state": asdict(self.state), "settings": asdict(self.settings), "text": self.text_mark,
        }  # fmt: skip
        aside = self._checkpoint.with_suffix(".part")
        torch.save(held, aside)
        aside.replace(self._checkpoint)
        pace = self.state.target_tokens / max(self.state.cpu_seconds, 1e-9)
        shown = {**asdict(self.state), "target_tokens_a_cpu_second": round(pace)}
        (self.folder / "progress.json").write_text(json.dumps(shown, indent=1) + "\n", encoding="utf-8")

    def _resume(self) -> None:
        held = torch.load(self._checkpoint, weights_only=True)
        if (held["settings"], held["text"]) != (asdict(self.settings), self.text_mark):
            raise BadInput(
                "holds a training on other text or with other settings",
                where=self._checkpoint,
                possible="the same, or remove the folder",
            )
        self.model.load_state_dict(held["model"])
        self.optimiser.load_state_dict(held["optimiser"])
        self.average, self.state = held["average"], PretrainState(**held["state"])


def _mark(pairs: Sequence[Pair]) -> str:
    """Tells other text from this one."""
    digest = hashlib.blake2b(digest_size=16)
    for pair in pairs:
        digest.update("\0".join((*pair, "")).encode())
    return digest.hexdigest()


__all__ = ["Numbered", "PretrainSettings", "PretrainState", "Pretraining", "new_model", "subword_tokenizer"]
