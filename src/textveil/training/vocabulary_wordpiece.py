"""WordPiece from noisy word counts: post-processing, so it costs nothing. The merges are Hugging Face `tokenizers`'
own.

`WordPieceTrainer` reads texts, not counts, so each word is written out as often as it was counted; beyond
`MOST_TOKENS` all counts are divided by the same number. The five special tokens and both forms of every character of
the public alphabet are pieces whatever the counts say; learnt pieces fill the rest in the order in which they were
learnt.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.core import BadInput

from .vocabulary_words import LONGEST_WORD, PREFIX, SPECIALS, Words, normaliser, pieces_of_alphabet, splitter

MOST_TOKENS = 5_000_000
_LINE = 1_000  # repetitions a line


def smallest_size() -> int:
    """Pieces that every vocabulary has.

    >>> smallest_size()
    234
    """
    return len(SPECIALS) + len(pieces_of_alphabet())


def wordpiece(counts: Mapping[str, float], size: int) -> Any:
    """A Hugging Face tokenizer with at most `size` pieces.

    >>> made = wordpiece({"walking": 50, "walked": 40, "talking": 30}, 260)
    >>> made.encode("Walking, talked!").tokens[1:-1]
    ['walking', ',', 'talk', '##ed', '!']
    """
    if size < smallest_size():
        raise BadInput(f"size must be {smallest_size()} or more (special tokens and the public alphabet), not {size}")
    return tokenizer_of(_pieces(counts, size))


def tokenizer_of(pieces: list[str]) -> Any:
    """The tokenizer with these pieces: folding, splitting and template are public."""
    from tokenizers import Tokenizer, decoders, models, processors

    place = {piece: number for number, piece in enumerate(pieces)}
    model = models.WordPiece(place, unk_token="[UNK]", max_input_chars_per_word=LONGEST_WORD)
    made = Tokenizer(model)
    made.normalizer, made.pre_tokenizer, made.decoder = normaliser(), splitter(), decoders.WordPiece(prefix=PREFIX)
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", place["[CLS]"]), ("[SEP]", place["[SEP]"])],
    )
    made.add_special_tokens(list(SPECIALS))
    return made


def _pieces(counts: Mapping[str, float], size: int) -> list[str]:
    always = [*SPECIALS, *pieces_of_alphabet()]
    known = set(always)
    learnt = [piece for piece in _learnt(counts, size) if piece not in known]
    return [*always, *learnt[: size - len(always)]]


def _learnt(counts: Mapping[str, float], size: int) -> list[str]:
    """Pieces in the order of the merges."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    if not counts:
        return []
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, show_progress=False, special_tokens=["[UNK]"], continuing_subword_prefix=PREFIX
    )
    made.train_from_iterator(_written_out(counts), trainer)
    found = made.get_vocab()
    return sorted(found, key=lambda piece: found[piece])


def _written_out(counts: Mapping[str, float]) -> Iterator[str]:
    divisor = max(1.0, math.fsum(counts.values()) / MOST_TOKENS)
    for word in sorted(counts):
        left = max(1, round(counts[word] / divisor))
        while left > 0:
            yield " ".join([word] * min(left, _LINE))
            left -= _LINE


def save_folder(made: Any, folder: Path) -> None:
    """A tokenizer folder that `transformers.AutoTokenizer` loads without Textveil."""
    import json

    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    pieces = sorted(made.get_vocab().items(), key=lambda entry: entry[1])
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece, _ in pieces), encoding="utf-8")
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": 512,
        "clean_up_tokenization_spaces": False,
        # For BertTokenizerFast, which makes a normaliser of its own: with these it differs only where a sign lies outside the
        # public alphabet ([UNK] there, the stand-in here).
        "do_lower_case": True,
        "strip_accents": True,
        "tokenize_chinese_chars": False,
        **{f"{token.strip('[]').lower()}_token": token for token in SPECIALS},
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Fit:
    """How a tokenizer fits texts. Computed from private text: it stays on the private side unless it is charged."""

    words: int
    tokens: int
    unknown: int  # tokens that are [UNK]
    whole: int  # words that are one piece

    @property
    def tokens_per_word(self) -> float:
        return self.tokens / max(1, self.words)

    @property
    def unknown_share(self) -> float:
        return self.unknown / max(1, self.tokens)

    @property
    def coverage(self) -> float:
        """Share of the words that are pieces of their own."""
        return self.whole / max(1, self.words)


def fit_of(made: Any, texts: Iterable[str]) -> Fit:
    """Words, tokens and [UNK] over texts; each different word is encoded once.

    >>> fit_of(wordpiece({}, 234), ["ab c"])
    Fit(words=2, tokens=3, unknown=0, whole=1)
    """
    from collections import Counter

    counted: Counter[str] = Counter()
    for words in Words().all(texts):
        counted.update(words)
    return fit_of_counts(made, counted)


def fit_of_counts(made: Any, counted: Mapping[str, int]) -> Fit:
    """The same from counts of words."""
    total = tokens = unknown = whole = 0
    for word, count in counted.items():
        pieces = made.model.tokenize(word)
        total += count
        tokens += count * len(pieces)
        unknown += count * sum(p.value == "[UNK]" for p in pieces)
        whole += count * (len(pieces) == 1)
    return Fit(total, tokens, unknown, whole)
