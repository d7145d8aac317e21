"""A translation model of Hugging Face (sequence to sequence), loaded from a local folder or at hand already.

`TranslationNet` is such a model as private training needs it: one loss for each sentence pair, no dropout, embeddings
(and the output layer that shares them) at rest. Imports torch, so it is itself imported late.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from textveil.core import BadInput

IGNORED = -100  # labels that do not count
_DROPOUTS = ("dropout", "attention_dropout", "activation_dropout", "encoder_layerdrop", "decoder_layerdrop")


@dataclass(frozen=True, eq=False)
class Seq2Seq:
    """A model with its tokenizer."""

    model: Any
    tokenizer: Any


def load_seq2seq(folder: Path, *, dropout: float | None = None) -> Seq2Seq:
    """What a local folder holds; nothing is fetched. A dropout of 0 turns off every kind of it."""
    from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer, logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    if not (folder / "config.json").is_file():
        raise BadInput("is no folder of a translation model (it has no config.json)", where=folder)
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        if dropout is not None:
            config.dropout = dropout
        for name in _DROPOUTS if dropout == 0 else ():
            if hasattr(config, name):
                setattr(config, name, 0.0)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModelForSeq2SeqLM.from_pretrained(folder, config=config, local_files_only=True)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise BadInput(f"cannot be loaded as a translation model ({type(error).__name__})", where=folder) from None
    return Seq2Seq(model, tokenizer)


def pair_batch(tokenizer: Any, pairs: Sequence[tuple[str, str]], longest: int) -> dict[str, Tensor]:
    """Both sides of sentence pairs as numbers; labels that are filled up do not count."""
    settings = {"padding": True, "truncation": True, "max_length": longest, "return_tensors": "pt"}
    source = tokenizer([s for s, _ in pairs], **settings)
    labels = tokenizer(text_target=[t for _, t in pairs], **settings)
    targets = labels["input_ids"].masked_fill(labels["attention_mask"] == 0, IGNORED)
    return {"input_ids": source["input_ids"], "attention_mask": source["attention_mask"], "labels": targets}


class TranslationNet(nn.Module):
    """The model, with one loss for each sentence pair."""

    def __init__(self, seq2seq: Seq2Seq, longest: int):
        super().__init__()
        self.model, self.tokenizer = copy.deepcopy(seq2seq.model), seq2seq.tokenizer
        places = getattr(self.model.config, "max_position_embeddings", None) or longest
        self.longest = min(longest, places - 2)
        for layer in self.model.modules():
            if isinstance(layer, nn.Embedding):
                layer.requires_grad_(False)
            for name in _DROPOUTS:  # layers of this library keep the number, not a layer of dropout
                if isinstance(getattr(layer, name, None), float):
                    setattr(layer, name, 0.0)

    def collate(self, examples: list[tuple[str, str]]) -> dict[str, Tensor]:
        return pair_batch(self.tokenizer, examples, self.longest)

    def losses(self, batch: dict[str, Tensor]) -> Tensor:
        """The mean loss of a pair's own target tokens."""
        labels = batch["labels"]
        before = self.model.prepare_decoder_input_ids_from_labels(labels=labels)
        scores = self.model(
            input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], decoder_input_ids=before
        ).logits
        each = nn.functional.cross_entropy(
            scores.flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="none"
        )
        return each.view(labels.shape).sum(1) / (labels != IGNORED).sum(1).clamp(min=1)

    def length(self, example: tuple[str, str]) -> int:
        return max(len(text.split()) for text in example)

    def save(self, folder: Path) -> None:
        """A folder that transformers loads."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def tiny_seq2seq(words: Sequence[str]) -> Seq2Seq:
    """Random weights and a word-level tokenizer: real classes, for examples and checks."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import MarianConfig, MarianMTModel, PreTrainedTokenizerFast

    vocabulary = {word: place for place, word in enumerate(["<pad>", "</s>", "<unk>", *dict.fromkeys(words)])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    inner.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    sides = {"layers": 1, "attention_heads": 2, "ffn_dim": 8}
    shape = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in sides.items()}
    config = MarianConfig(
        vocab_size=len(vocabulary), d_model=8, max_position_embeddings=64, pad_token_id=0, eos_token_id=1,
        decoder_start_token_id=0, forced_eos_token_id=1, **shape,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return Seq2Seq(MarianMTModel(config), tokenizer)


__all__ = ["IGNORED", "Seq2Seq", "TranslationNet", "load_seq2seq", "pair_batch", "tiny_seq2seq"]
