"""Tables of counts from files: Matrix Market, sparse or dense .npz, or texts counted word by word."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from textveil.core import BadInput
from textveil.core.fingerprint import Fingerprint
from textveil.text import tokens
from textveil.text.documents import Record
from textveil.text.readers import Reader
from textveil.text.vocabulary import Vocabulary

_TEXTS_PER_STEP = 500


@dataclass(frozen=True)
class Table:
    """Private counts, the public words of the columns, and the keyed fingerprint of the data."""

    counts: Any
    words: Sequence[str] | None
    fingerprint: str


def is_matrix_file(path: Path) -> bool:
    """Whether the name says that the file holds a matrix.

    >>> is_matrix_file(Path("counts.mtx.gz")), is_matrix_file(Path("letters.jsonl"))
    (True, False)
    """
    name = path.name.lower().removesuffix(".gz")
    return name.endswith((".npz", ".mtx"))


def read_matrix(path: Path) -> sparse.csr_array:
    """A matrix of numbers, one row per document; its values are checked later."""
    if not path.is_file():
        raise BadInput("does not exist", where=path)
    try:
        found = _read_npz(path) if path.name.lower().endswith(".npz") else _read_mtx(path)
    except BadInput:
        raise
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile, EOFError, OverflowError):
        raise BadInput(
            "cannot be read as a matrix", where=path, possible="scipy.sparse .npz, numpy .npz, or Matrix Market .mtx"
        ) from None
    if found.ndim != 2 or 0 in found.shape:
        raise BadInput("holds no table of documents and words", where=path)
    return found


def _read_npz(path: Path) -> sparse.csr_array:
    with open(path, "rb") as file:  # numpy leaves a file open when it turns out to be broken
        stored = np.load(file, allow_pickle=False)
        if not hasattr(stored, "files"):
            raise BadInput("must hold one table of numbers", where=path)
        if "format" in stored.files:
            file.seek(0)
            return sparse.csr_array(sparse.load_npz(file))
        arrays = [stored[name] for name in stored.files]
    if len(arrays) != 1 or arrays[0].ndim != 2 or arrays[0].dtype.kind not in "biuf":
        raise BadInput("must hold one table of numbers", where=path)
    return sparse.csr_array(arrays[0])


def _read_mtx(path: Path) -> sparse.csr_array:
    from scipy.io import mmread

    return sparse.csr_array(mmread(path))


def read_words(path: Path) -> list[str]:
    """A vocabulary file: one word a line, as the tokenizer folds them."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise BadInput("does not exist", where=path) from None
    except (OSError, UnicodeDecodeError):
        raise BadInput("cannot be read as UTF-8 text", where=path) from None
    words = [tokens.fold(line.strip()) for line in lines]
    while words and not words[-1]:
        words.pop()
    return list(Vocabulary(words, where=path))


def count_texts(
    reader: Reader,
    words: Sequence[str],
    fingerprint: Fingerprint,
    advance: Callable[[float], None],
    also: Callable[[Record], None] | None = None,
) -> Table:
    """Count the words of a public vocabulary in each record; other words are left out. `also` is shown each record."""
    place = {word: j for j, word in enumerate(words)}
    data: list[int] = []
    columns: list[int] = []
    starts = [0]
    seen = 0
    for number, record in enumerate(reader, start=1):
        fingerprint.update(record.text)
        found = Counter(place[w] for t in tokens.words(record.text) if (w := tokens.fold(t)) in place)
        columns.extend(found)
        data.extend(found.values())
        starts.append(len(columns))
        if also is not None:
            also(record)
        if number % _TEXTS_PER_STEP == 0:
            advance(reader.bytes_read - seen)
            seen = reader.bytes_read
    counts = sparse.csr_array(
        (np.array(data, np.int64), np.array(columns, np.int64), np.array(starts, np.int64)),
        shape=(len(starts) - 1, len(words)),
    )
    return Table(counts, words, fingerprint.hexdigest())
