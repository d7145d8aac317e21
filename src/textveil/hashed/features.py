"""Tokens become slots: every feature is a short string, MurmurHash3 of it modulo R is its slot.

    "w|court"  "c|17"  "b|new|york"  "s|law|york"          slot = murmur3_x86_32(utf-8 bytes, seed 0) mod 2^bits

A token's row holds the slots of all features it is part of, each slot once: in "_ _ _ _ _" ten pairs of one token are the
same feature, and counted ten times one weight would decide the token alone (after sealing, a drawn one). The numba kernel
and the fallback (mmh3) give the same rows, bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from textveil.core.params import needs
from textveil.hashed.clusters import cluster_of
from textveil.hashed.plan import FAMILIES, REACH, FeaturePlan
from textveil.hashed.segments import Tokens, tokenize
from textveil.text.chain import has_numba


class Slots(NamedTuple):
    """The slots of token i are indices[starts[i]:starts[i + 1]], no slot twice."""

    indices: np.ndarray  # uint32
    starts: np.ndarray  # int64, one more than tokens


def slots_of(tokens: Tokens, plan: FeaturePlan) -> Slots:
    """The rows of all tokens.

    >>> rows = slots_of(tokenize("law of Texas"), FeaturePlan(families=("word", "bigram")))
    >>> np.diff(rows.starts).tolist()
    [2, 3, 2]
    """
    words = folded(tokens.words, plan)
    clusters = _clusters(words, plan)
    if has_numba():
        from textveil.hashed.pair_kernel import rows_of

        text = np.frombuffer("\n".join(words).encode("utf-8", "surrogatepass"), np.uint8)
        chosen = np.array([family in plan.families for family in FAMILIES])
        return Slots(*rows_of(text, len(words), clusters, tokens.sentences, chosen, np.uint32(plan.slots - 1)))
    return _slow_rows(words, clusters, tokens.sentences, plan)


def term_slots(term: str | Sequence[str], contexts: Iterable[str | Tokens], plan: FeaturePlan) -> np.ndarray:
    """All slots that the word (or words) of a term touch in the contexts, sorted: what would be missing without it.

    >>> len(term_slots("Texas", ["law of Texas"], FeaturePlan(families=("word", "bigram"))))
    2
    """
    wanted = set(folded([term] if isinstance(term, str) else list(term), plan))
    found = [np.zeros(0, np.uint32)]
    for context in contexts:
        tokens = tokenize(context) if isinstance(context, str) else context
        rows = slots_of(tokens, plan)
        for i, word in enumerate(folded(tokens.words, plan)):
            if word in wanted:
                found.append(rows.indices[rows.starts[i] : rows.starts[i + 1]])
    return np.unique(np.concatenate(found))


def feature_keys(
    words: Sequence[str], clusters: Sequence[int], i: int, begin: int, end: int, plan: FeaturePlan
) -> list:
    """The features of token i of the sentence begin..end, as strings: the definition that the kernel is tested against."""
    keys = [f"w|{words[i]}"] if "word" in plan.families else []
    if "cluster" in plan.families and clusters[i] >= 0:
        keys.append(f"c|{clusters[i]}")
    for distance in range(1, REACH + 1):
        kind = "b" if distance == 1 else "s"
        if ("bigram" if distance == 1 else "skip") not in plan.families:
            continue
        if i - distance >= begin:
            keys.append(f"{kind}|{words[i - distance]}|{words[i]}")
        if i + distance < end:
            keys.append(f"{kind}|{words[i]}|{words[i + distance]}")
    return keys


def folded(words: list[str], plan: FeaturePlan) -> list[str]:
    """Words as they are hashed. A token holds no white space, so one call folds all of them."""
    return "\n".join(words).lower().split("\n") if plan.fold and words else words


def _clusters(words: list[str], plan: FeaturePlan) -> np.ndarray:
    if "cluster" not in plan.families or plan.clusters is None:
        return np.full(len(words), -1, np.int32)
    return cluster_of(words, plan.clusters)


def _slow_rows(words: list[str], clusters: np.ndarray, sentences: np.ndarray, plan: FeaturePlan) -> Slots:
    needs("hashed", "mmh3")
    import mmh3

    mask, rows, starts = plan.slots - 1, list[int](), [0]
    for begin, end in zip(sentences.tolist(), sentences[1:].tolist(), strict=False):
        for i in range(begin, end):
            keys = feature_keys(words, clusters, i, begin, end, plan)
            hashes = (mmh3.hash(key.encode("utf-8", "surrogatepass"), signed=False) & mask for key in keys)
            rows.extend(dict.fromkeys(hashes))
            starts.append(len(rows))
    return Slots(np.array(rows, np.uint32), np.array(starts, np.int64))
