"""Reading other people's vector files: GloVe, word2vec and fastText text, and numpy's `.npz`.

Text: one word a line, then its numbers, separated by spaces or tabs. A first line of exactly two whole numbers is the
word2vec/fastText header "words dimensions" (so a one-dimensional file must have it). Numbers are counted from the end
of the line, since some published files hold words with spaces inside; a word part that itself ends in a number is
taken for a line of wrong length.
"""

from __future__ import annotations

import gzip
import os
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from textveil.core.errors import BadInput
from textveil.text import store
from textveil.text.codes import Codes
from textveil.text.vectors import Vectors, check_rows, from_arrays
from textveil.text.vocabulary import Vocabulary

TEXT = (".txt", ".vec", ".txt.gz", ".vec.gz")
KNOWN = (*TEXT, ".npz", ".tvv")
CHUNK = 2048  # lines parsed at once: one call into numpy for all their numbers


def read(path: Path, *, limit: int | None = None, allow_zero: bool = False, verify: bool = True) -> Vectors:
    """Vectors from a file, by its extension."""
    name = path.name.lower()
    if not name.endswith(KNOWN):
        raise BadInput("has an unknown extension", where=path, possible=", ".join(KNOWN))
    if not path.is_file():
        raise BadInput("does not exist" if not path.exists() else "is not a file", where=path)
    if name.endswith(".tvv"):
        vectors = store.read_vectors(path, verify=verify, allow_zero=allow_zero)
        return vectors if limit is None else vectors.head(limit)
    reader = read_npz if name.endswith(".npz") else read_text
    return reader(path, limit=limit, allow_zero=allow_zero)


# --- text -------------------------------------------------------------------------------------------------------------
def read_text(path: Path, *, limit: int | None = None, allow_zero: bool = False) -> Vectors:
    """Vectors from a text file, plain or gzipped."""
    try:
        with _open(path) as handle:
            return _read_lines(handle, path, limit, allow_zero)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput("cannot be read or decompressed to its end", where=path) from error


def _open(path: Path) -> BinaryIO:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else open(path, "rb")  # type: ignore[return-value]


def _read_lines(handle: BinaryIO, path: Path, limit: int | None, allow_zero: bool) -> Vectors:
    first = handle.readline()
    promised, dimensions = _header(first)
    lines: Iterator[bytes] = handle
    number = 2
    if promised is None:
        dimensions, number = len(first.split()) - 1, 1
        lines = _chain(first, handle)
        if not first.strip():
            raise BadInput("the vocabulary is empty", where=path)
    if dimensions < 1:
        raise BadInput("has no numbers after the word", where=path, line=number)
    words: dict[str, int] = {}  # word -> line
    parts: list[np.ndarray] = []
    rows = islice(lines, limit)
    while chunk := list(islice(rows, CHUNK)):
        numbers = _add_words(chunk, dimensions, words, path, number)
        part = _parse(numbers, dimensions, path, number)
        check_rows(part, allow_zero=allow_zero, where=path, first_line=number)
        parts.append(part)
        number += len(chunk)
    if promised is not None and len(words) != min(promised, limit or promised):
        raise BadInput(f"holds {len(words)} words where its first line says {promised}", where=path)
    matrix = np.concatenate(parts) if parts else np.zeros((0, dimensions), np.float32)
    name = path.name.removesuffix(".gz")
    return from_arrays(Vocabulary(words, where=path), matrix, name=name, allow_zero=allow_zero, where=path)


def _header(line: bytes) -> tuple[int | None, int]:
    fields = line.split()
    if len(fields) == 2 and all(f.isdigit() for f in fields):
        return int(fields[0]), int(fields[1])
    return None, 0


def _chain(first: bytes, rest: BinaryIO) -> Iterator[bytes]:
    yield first
    yield from rest


def _add_words(chunk: list[bytes], dimensions: int, words: dict[str, int], path: Path, number: int) -> list[bytes]:
    """Take the word off every line, and return the numbers' text."""
    numbers = []
    for line_number, line in enumerate(chunk, start=number):
        fields = line.rstrip(b" \t\r\n").replace(b"\t", b" ").split(b" ", 1)
        if len(fields) < 2 or not fields[0] or fields[1].count(b" ") != dimensions - 1:
            fields = _odd_line(line, dimensions, path, line_number)
        try:
            word = fields[0].decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadInput("is not valid UTF-8", where=path, line=line_number) from error
        if word in words:
            raise BadInput(f"repeats the word of line {words[word]}", where=path, line=line_number)
        words[word] = line_number
        numbers.append(fields[1])
    return numbers


def _odd_line(line: bytes, dimensions: int, path: Path, number: int) -> list[bytes]:
    """A line that is not plainly 'word, one space, numbers': doubled separators, a word with spaces, or an error."""
    fields = line.split()
    extra = fields[: len(fields) - dimensions]
    if not extra or (len(extra) > 1 and any(_is_number(f) for f in extra[1:])):
        found = max(len(fields) - 1, 0)
        raise BadInput(f"has {found} numbers where {dimensions} are expected", where=path, line=number)
    return [b" ".join(extra), b" ".join(fields[len(fields) - dimensions :])]


def _parse(numbers: list[bytes], dimensions: int, path: Path, number: int) -> np.ndarray:
    try:
        return _floats(b" ".join(numbers)).reshape(len(numbers), dimensions)
    except ValueError:
        for line_number, text in enumerate(numbers, start=number):
            if not all(map(_is_number, text.split())) or len(text.split()) != dimensions:
                raise BadInput("holds a field that is not a number", where=path, line=line_number) from None
        raise


def _floats(text: bytes) -> np.ndarray:
    with warnings.catch_warnings():  # numpy only warns when it stops at a field it cannot read
        warnings.simplefilter("error")
        try:
            values = np.fromstring(text.decode("ascii"), dtype=np.float64, sep=" ")
        except (DeprecationWarning, UnicodeDecodeError) as error:
            raise ValueError("not a number") from error
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field  # Python reads 1_000, files do not mean it


# --- npz --------------------------------------------------------------------------------------------------------------
def read_npz(path: Path, *, limit: int | None = None, allow_zero: bool = False) -> Vectors:
    """Vectors from numpy's archive: `words` (strings, or UTF-8 bytes joined by line breaks) and `matrix` or `vectors`;
    optional `fallback`, `prior`, `codes` (packed uint64) with `bits` and `code_fallback`, `name`, `language`."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise BadInput("is not a readable .npz file of plain arrays", where=path) from error
    matrix = arrays.get("matrix", arrays.get("vectors"))
    if matrix is None or "words" not in arrays:
        raise BadInput("lacks an array", where=path, possible="'words' and 'matrix' (or 'vectors')")
    if matrix.dtype.kind not in "fiu":
        raise BadInput("holds a matrix that is not of numbers", where=path)
    words = _npz_words(arrays["words"], path)
    if len(words) != len(matrix):
        raise BadInput(f"holds {len(words)} words and {len(matrix)} vectors", where=path)
    if limit is not None and limit < len(words):
        words = Vocabulary(list(words)[:limit])
        arrays |= {key: arrays[key][:limit] for key in ("prior", "codes") if key in arrays}
    codes = None
    if "codes" in arrays:
        bits = int(arrays.get("bits", 64 * arrays["codes"].shape[-1]))
        codes = Codes.from_packed(words, arrays["codes"], bits, arrays.get("code_fallback"), where=path)
    name = str(arrays.get("name", path.stem))
    options = {key: arrays.get(key) for key in ("prior", "fallback")}
    vectors = from_arrays(words, matrix[: len(words)], codes, **options, name=name, allow_zero=allow_zero, where=path)
    return vectors.in_language(str(arrays["language"])) if "language" in arrays else vectors


def _npz_words(array: np.ndarray, path: Path) -> Vocabulary:
    if array.dtype == np.uint8:
        return Vocabulary.decode(array.tobytes(), where=path)
    if array.dtype.kind == "S":
        return Vocabulary.decode(b"\n".join(array.ravel().tolist()), where=path)
    if array.dtype.kind != "U":
        raise BadInput(f"holds words of type {array.dtype}", where=path, possible="strings, or UTF-8 bytes (uint8)")
    return Vocabulary(array.ravel().tolist(), where=path)


def write_npz(path: str | os.PathLike[str], vectors: Vectors) -> None:
    """Write an archive that `read_npz` reads back with the same fingerprint."""
    arrays: dict[str, Any] = {
        "words": np.frombuffer(vectors.words.encode(), dtype=np.uint8),
        "matrix": vectors.matrix,
        "fallback": vectors.fallback,
        "prior": vectors.prior,
        "name": np.array(vectors.name),
    }
    if vectors.language:
        arrays["language"] = np.array(vectors.language)
    if vectors.codes is not None:
        codes = vectors.codes
        arrays |= {"codes": codes.words64, "bits": np.array(codes.bits), "code_fallback": codes.fallback}
    with store.replacing(Path(path)) as handle:
        np.savez_compressed(handle, **arrays)
