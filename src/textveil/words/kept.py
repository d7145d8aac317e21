"""Which words are kept: names of public lists and single words, and how a card names them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from textveil.text import tokens
from textveil.words.function_words import NAME as FUNCTION_WORDS
from textveil.words.function_words import function_words

_MOST_NAMED = 20


@dataclass(frozen=True)
class KeptWords:
    """Words that pass, some of them by the name of a list. Whoever wrote a word by itself chose its spelling.

    >>> kept = KeptWords.of(["Ohio", "function-words"])
    >>> kept.spelling["ohio"], kept.spelling["i"], len(kept.folded)
    ('Ohio', 'I', 213)
    >>> kept.named
    "the 212 words of the public list 'function-words' and ohio"
    """

    single: tuple[str, ...]
    listed: tuple[str, ...] = ()

    @classmethod
    def of(cls, keep: str | Iterable[str], language: str = "english") -> KeptWords:
        given = [keep] if isinstance(keep, str) else list(keep)
        listed = function_words(language) if FUNCTION_WORDS in given else ()
        return cls(tuple(word for word in given if word != FUNCTION_WORDS), listed)

    @cached_property
    def spelling(self) -> dict[str, str]:
        """Folded form -> as it is written; the first spelling given counts."""
        return {tokens.fold(word): word for word in reversed((*self.single, *self.listed))}

    @cached_property
    def folded(self) -> frozenset[str]:
        return frozenset(self.spelling)

    @property
    def named(self) -> str:
        """The words for a card: a list by its name, single words one by one as far as there is room."""
        names = sorted({tokens.fold(word) for word in self.single})
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        parts = [f"the {len(self.listed)} words of the public list '{FUNCTION_WORDS}'"] if self.listed else []
        return " and ".join([*parts, *([", ".join(names[:_MOST_NAMED]) + more] if names else [])])
