"""What `--keep` names: public lists that ship, and files of words."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from textveil.core import BadInput
from textveil.words.function_words import NAME as FUNCTION_WORDS


def words_to_keep(names: Iterable[str]) -> list[str]:
    """The words of all files, and the names of lists as they are: the mechanism knows them (words/kept.py).

    >>> words_to_keep(["function-words"])
    ['function-words']
    """
    return [word for name in names for word in ([name] if name == FUNCTION_WORDS else read_keep_list(Path(name)))]


def read_keep_list(path: Path) -> list[str]:
    """One word a line."""
    try:
        words = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except FileNotFoundError:
        raise BadInput("does not exist", where=path, possible=f"a file of words, or {FUNCTION_WORDS}") from None
    except (OSError, UnicodeDecodeError):
        raise BadInput("cannot be read as UTF-8 text", where=path) from None
    if not words:
        raise BadInput("holds no words", where=path, possible="one word a line")
    return words
