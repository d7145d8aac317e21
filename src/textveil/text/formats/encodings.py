"""Encodings: which one a file has, and which ones can be read line by line and written back to the same bytes.

A byte order mark decides. Without one a file is UTF-8, as nearly every file is today; one that is not, and comes from where
old encodings live on (csv, tsv, txt), is taken as cp1252, the one of Excel and Windows in Western Europe, if its bytes
make sense there. Everything else must be said.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from textveil.core.errors import BadInput

UTF8, CP1252, MARK = "utf-8", "cp1252", "\ufeff"
SAY_ENCODING = "--encoding with the file's encoding, e.g. cp1252 (Windows), utf-16-le, latin-1, mac-roman"
_MARKS = {  # the longer ones first: UTF-32 begins like UTF-16
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: UTF8,
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_WIDTHS = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}
_ASCII = bytes(range(128))
_HIGH = re.compile(rb"[\x80-\xff]")
_HIGH_RUN = re.compile(rb"[\x80-\xff]{3,}")


def width_of(encoding: str) -> int:
    """How many bytes the line feed has."""
    return _WIDTHS.get(encoding, 1)


def marked_encoding(sample: bytes) -> str | None:
    """The encoding that a byte order mark tells.

    >>> marked_encoding("a".encode("utf-16")), marked_encoding(b"a")
    ('utf-16-le', None)
    """
    return next((name for mark, name in _MARKS.items() if sample.startswith(mark)), None)


def known_encoding(asked: str, sample: bytes, path: Path) -> str:
    """The encoding asked for, by the name that is used here.

    >>> known_encoding("Windows-1252", b"", Path("a.csv"))
    'cp1252'
    """
    try:
        name = codecs.lookup(asked).name.replace("_", "-").removesuffix("-sig")
    except (LookupError, ValueError):
        raise BadInput(f"there is no encoding '{asked}'", where=path, possible=SAY_ENCODING) from None
    if name in ("utf-16", "utf-32"):
        marked = marked_encoding(sample)
        if marked is None or not marked.startswith(name):
            what = f"has no byte order mark, so {name} does not say which byte comes first"
            raise BadInput(what, where=path, possible=f"--encoding {name}-le (Windows), or {name}-be")
        return marked
    if name not in _WIDTHS and not _is_wider_ascii(name):
        raise BadInput(f"the encoding '{asked}' is not read", where=path, possible=SAY_ENCODING)
    return name


def _is_wider_ascii(name: str) -> bool:
    """Whether ASCII reads the same in it, so that lines and columns are found where they are."""
    try:
        return _ASCII.decode(name) == _ASCII.decode("ascii") and "\n".encode(name) == b"\n"
    except (UnicodeError, LookupError):
        return False


def found_encoding(sample: bytes, path: Path, *, is_old_style: bool, is_whole: bool) -> str:
    """The encoding of a file that begins with `sample`; `is_old_style`: its format is one that Windows programs write."""
    marked = marked_encoding(sample)
    if marked is not None:
        return marked
    _check_no_utf16(sample, path)
    if not is_old_style or is_utf8(sample, is_whole=is_whole):
        return UTF8
    if not looks_like_cp1252(sample):
        raise BadInput("is neither UTF-8 nor, by its look, cp1252", where=path, possible=SAY_ENCODING)
    return CP1252


def is_utf8(sample: bytes, *, is_whole: bool) -> bool:
    """Whether the bytes are UTF-8; of a sample, the last character may be cut.

    >>> is_utf8("né".encode()[:-1], is_whole=False), is_utf8("né".encode("cp1252"), is_whole=True)
    (True, False)
    """
    try:
        codecs.getincrementaldecoder(UTF8)().decode(sample, final=is_whole)
    except UnicodeDecodeError:
        return False
    return True


def looks_like_cp1252(sample: bytes) -> bool:
    """Whether cp1252 has all the bytes, and they stand alone or in pairs among plain letters, as accents and umlauts do.

    In other alphabets (Cyrillic, Greek, Chinese) most of these bytes stand in runs as long as words.

    >>> looks_like_cp1252("Grüße, très désolé".encode("cp1252")), looks_like_cp1252("Привет".encode("cp1251"))
    (True, False)
    """
    try:
        sample.decode(CP1252)
    except UnicodeDecodeError:
        return False
    return 4 * sum(map(len, _HIGH_RUN.findall(sample))) <= len(_HIGH.findall(sample))


def _check_no_utf16(sample: bytes, path: Path) -> None:
    """Refuse UTF-16 without a mark: as UTF-8 it would be letters with zeros between them."""
    even, odd = (max(len(half), 1) for half in (sample[::2], sample[1::2]))
    zeros = sample[::2].count(0) / even, sample[1::2].count(0) / odd
    if max(zeros) > 0.3 > 0.05 > min(zeros):
        name = "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
        raise BadInput("looks like UTF-16 without a byte order mark", where=path, possible=f"--encoding {name}")
