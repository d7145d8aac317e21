"""Link masked documents to candidates by what they share, the rarer the better.

Every candidate is a set of keys. A document scores, for each of them, the sum of log(n / candidates with the key) over the
keys that stand in it: how many bits of n candidates they rule out. The best one is guessed, ties by lot.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import Owners
from textveil.core import BadInput, Unit

_WORD = re.compile(r"[^\W_]+")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DATE = re.compile(r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})|(?P<d2>\d{1,2})\.(?P<m2>\d{1,2})\.(?P<y2>\d{4})")


def keys_of(value: str) -> set[str]:
    """What to look for of a value: its words and numbers in lower case; of a date, its parts together.

    >>> sorted(keys_of("Anna Meyer")), sorted(keys_of("1960-03-03"))
    (['anna', 'meyer'], ['1960-3-3'])
    """
    dates = date_keys(value)
    return dates or {word for word in _WORD.findall(value.casefold()) if len(word) > 2 or word.isdigit()}


def date_keys(text: str) -> set[str]:
    """The dates of a text, as year-month-day, from numbers and from words."""
    found = set()
    for hit in _DATE.finditer(text):
        y, m, d = (hit["y"] or hit["y2"], hit["m"] or hit["m2"], hit["d"] or hit["d2"])
        found.add(f"{int(y)}-{int(m)}-{int(d)}")
    words = _WORD.findall(text.casefold())
    for place, word in enumerate(words):
        if word[:3] in _MONTHS and not word.isdigit():
            near = [w for w in words[max(0, place - 1) : place + 3] if w.rstrip("stndrh").isdigit()]
            days = [w.rstrip("stndrh") for w in near if len(w.rstrip("stndrh")) <= 2]
            years = [w for w in near if len(w) == 4]
            if days and years:
                found.add(f"{int(years[0])}-{_MONTHS.index(word[:3]) + 1}-{int(days[0])}")
    return found


def text_keys(text: str) -> set[str]:
    """All words, numbers and dates of a text."""
    return set(_WORD.findall(text.casefold())) | date_keys(text)


def link(documents: Sequence[set[str]], candidates: Sequence[set[str]], rng: Any) -> tuple[np.ndarray, np.ndarray]:
    """The best candidate of each document, and how many candidates score as well as it."""
    count = Counter(key for keys in candidates for key in keys)
    holders: dict[str, list[int]] = defaultdict(list)
    for number, keys in enumerate(candidates):
        for key in keys:
            holders[key].append(number)
    tie = rng.permutation(len(candidates))
    guesses, ties = np.zeros(len(documents), np.int64), np.zeros(len(documents), np.int64)
    for place, document in enumerate(documents):
        scores = np.zeros(len(candidates))
        for key in document & holders.keys():
            scores[holders[key]] += math.log(len(candidates) / count[key])
        best = tie[scores[tie].argmax()]
        guesses[place], ties[place] = best, int((scores >= scores[best] - 1e-12).sum())
    return guesses, ties


def linked_evidence(
    name: str, guesses: np.ndarray, truth: Owners | None, candidates: int, notes: tuple[str, ...]
) -> Evidence:
    """The share of documents that were linked rightly; one sentence where nothing scores it."""
    if truth is None:
        raise BadInput(f"the attack {name} can be scored only when the truth tells whose each document is")
    known = truth.ids >= 0
    if candidates < 2 or not known.any():
        raise BadInput(f"the attack {name} needs two candidates or more, and a document of one of them")
    hits = int(np.count_nonzero(guesses[known] == truth.ids[known]))
    tries = int(known.sum())
    return Evidence(name, "success", hits / tries, 1 / candidates, hits, tries, Unit.DOCUMENT, notes=notes)


__all__ = ["date_keys", "keys_of", "link", "linked_evidence", "text_keys"]
