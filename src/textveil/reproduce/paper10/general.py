"""Public parallel text to train a baseline on, cut into words like the benchmark; and sentences of a domain to judge by."""

from __future__ import annotations

import gzip
import json
import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from textveil.reproduce.paper10.data import DOMAINS, Pair, holds_source, pairs, unique
from textveil.reproduce.paper10.dictionary import dictionary_pairs
from textveil.reproduce.paper10.handbook import handbook_pairs

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
    """All general text but what judges: short strings of programs stand in more than one collection."""
    return [pair for name in FILES for pair in _file(data, name)] + _fit(data, handbook_pairs())


def words(data: Path) -> list[Pair]:
    """The entries of the dictionary but those that judge."""
    return _fit(data, dictionary_pairs())


def _file(data: Path, name: str) -> list[Pair]:
    with gzip.open(data / GENERAL / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return _fit(data, [(row["de"], row["en"]) for row in rows])


def _fit(data: Path, raw: list[Pair]) -> list[Pair]:
    """Cut into words like the benchmark, without what judges."""
    held = _judging(data)
    cut = [(tokenised(de), _ENGLISH.sub(" ", tokenised(en))) for de, en in raw]
    return [pair for pair in cut if pair[0] not in held]


def near(data: Path, left_out: str) -> list[Pair]:
    """The other two domains, as many general sentence pairs and as many entries of the dictionary.

    `gnome_l10n.extra` counts to GNOME.
    """
    held = _judging(data)
    others = [pair for domain in DOMAINS if domain != left_out for pair in unique(data, domain)]
    rows = [pair for pair in others if not holds_source(pair) and pair[0] not in held]
    rows += _file(data, EXTRA) if left_out != "GNOME" else []
    rng, again = np.random.default_rng(11), list[Pair]()
    for every in (general(data), words(data)):
        again += [every[i] for i in rng.permutation(len(every))[: len(rows)]]
    return rows + again


@lru_cache(maxsize=1)
def _judging(data: Path) -> frozenset[str]:
    """German sentences that judge, of all domains."""
    tests = [pair for domain in DOMAINS for pair in (*judged(data, domain), *pairs(data, domain, "test_a"))]
    return frozenset(de for de, _ in tests)


def judged(data: Path, domain: str, count: int = HELD_OUT) -> list[Pair]:
    """Pairs of train with different German, whose English does not hold the German; always the same ones."""
    own = [*{de: en for de, en in reversed(unique(data, domain)) if not holds_source((de, en))}.items()]
    places = np.random.default_rng(10).permutation(len(own))[:HELD_OUT]
    return [own[i] for i in places[:count]]


def confidential(data: Path, domain: str) -> list[Pair]:
    """What may be cut up or learnt from: unique pairs of train without any sentence that judges."""
    held = {text for part in (judged(data, domain), pairs(data, domain, "valid")) for pair in part for text in pair}
    return [pair for pair in unique(data, domain) if not held.intersection(pair)]
