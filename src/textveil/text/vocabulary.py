"""A vocabulary: public words in a fixed order (most frequent first, where the source says so), each with a number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from textveil.core.errors import BadInput


class Vocabulary:
    """Distinct, non-empty words without line breaks. Reads like a sequence; `index` answers None for a stranger.

    >>> v = Vocabulary(["the", "of", "and"])
    >>> len(v), v[1], v.index("and"), v.index("zebra"), "of" in v
    (3, 'of', 2, None, True)
    """

    def __init__(self, words: Iterable[str], *, where: object = None):
        self._words = list(words)
        if not self._words:
            raise BadInput("the vocabulary is empty", where=where)
        self._check(where)

    def _check(self, where: object) -> None:
        distinct = len(set(self._words)) == len(self._words)
        if distinct and all(self._words) and self._joined.count("\n") == len(self._words) - 1:
            return
        seen: set[str] = set()
        for number, word in enumerate(self._words, start=1):
            if not word or "\n" in word:
                raise BadInput(f"word {number} is empty or holds a line break", where=where)
            if word in seen:
                raise BadInput(f"word {number} ('{word}') occurs twice", where=where)
            seen.add(word)

    @property
    def _joined(self) -> str:
        return "\n".join(self._words)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self._words)}

    def index(self, word: str) -> int | None:
        """The word's number, or None when it is not in the vocabulary."""
        return self._numbers.get(word)

    def encode(self) -> bytes:
        """All words as UTF-8, joined by line breaks: what files hold and fingerprints cover."""
        return self._joined.encode("utf-8")

    @classmethod
    def decode(cls, data: bytes, *, where: object = None) -> Vocabulary:
        """The inverse of `encode`.

        >>> Vocabulary.decode(Vocabulary(["a", "é"]).encode())
        Vocabulary(2 words: a, é)
        """
        try:
            text = bytes(data).decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadInput("the words are not valid UTF-8", where=where) from error
        return cls(text.split("\n") if text else [], where=where)

    def __len__(self) -> int:
        return len(self._words)

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __getitem__(self, number: int) -> str:
        return self._words[number]

    def __contains__(self, word: object) -> bool:
        return word in self._numbers

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Vocabulary):
            return self._words == other._words
        return self._words == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(self._words[:3]) + (", ..." if len(self) > 3 else "")
        return f"Vocabulary({len(self)} words: {shown})"
