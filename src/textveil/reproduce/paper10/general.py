"""Public parallel text to train a baseline on, cut into words like the benchmark; and sentences of a domain to judge by."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np

from textveil.reproduce.paper10.data import DOMAINS, Pair, holds_source, pairs, unique

GENERAL = "general-de-en"
FILES = ("tatoeba.train", "multi30k.train", "wmt_demo", "debian_l10n.train")
EXTRA = "gnome_l10n.extra"  # the same kind of text as GNOME
HELD_OUT = 500
_WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:[-.]\w+)*|'\w+|%\w|[^\w\s]")
_ENGLISH = re.compile(r"(?<=%)(?=\w)|(?<=_)(?=\S)|(?<=\S)(?=_)")  # apart only there


def tokenised(text: str) -> str:
    """Blanks around punctuation, as in the benchmark; hyphens stay inside words.

    >>> tokenised("Peter's E-Mail (2,5 MB) kam an.")
    "Peter 's E-Mail ( 2,5 MB ) kam an ."
    """
    return " ".join(_WORD.findall(text))


def general(data: Path) -> list[Pair]:
    """All general sentence pairs."""
    return [pair for name in FILES for pair in _file(data, name)]


def _file(data: Path, name: str) -> list[Pair]:
    with gzip.open(data / GENERAL / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [(tokenised(row["de"]), _ENGLISH.sub(" ", tokenised(row["en"]))) for row in rows]


def public(data: Path, left_out: str) -> list[Pair]:
    """General text, and the other two domains where one is left out; `gnome_l10n.extra` counts to GNOME."""
    rows = general(data)
    if not left_out:
        return rows
    for domain in DOMAINS:
        if domain != left_out:
            rows += [pair for pair in unique(data, domain) if not holds_source(pair)]
    return rows + (_file(data, EXTRA) if left_out != "GNOME" else [])


def judged(data: Path, domain: str, count: int = HELD_OUT) -> list[Pair]:
    """Pairs of train with different German, whose English does not hold the German; always the same ones."""
    own = [*{de: en for de, en in reversed(unique(data, domain)) if not holds_source((de, en))}.items()]
    places = np.random.default_rng(10).permutation(len(own))[:HELD_OUT]
    return [own[i] for i in places[:count]]


def confidential(data: Path, domain: str) -> list[Pair]:
    """What may be cut up or learnt from: unique pairs of train without any sentence that judges."""
    held = {text for part in (judged(data, domain), pairs(data, domain, "valid")) for pair in part for text in pair}
    return [pair for pair in unique(data, domain) if not held.intersection(pair)]
