"""Cells of paper 10: our extraction beside the phrase pairs that its authors published."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from textveil.fragments.aligner import Aligner, corpus_of
from textveil.fragments.phrases import extract, texts_of
from textveil.fragments.sentences import WordNumbers, side_of
from textveil.reproduce.paper10.data import others, pairs, rows
from textveil.reproduce.paper10.fast_align import ROUNDS, FastAlignTension

PUBLISHED = {"EMEA": 4, "GNOME": 5, "JRC": 5}  # words of the longest phrase in the published files
TENSIONS = ("ours", "exact", "as written")


def published(data: Path, *, domain: str, symmetry: str, learnt_from: str, tension: str) -> dict[str, Any]:
    """The share of the published types that our extraction has, without sampling; `learnt_from`: the aligner's text.

    tension: how it is fitted, "ours" (Newton's method), or by fast_align's steps, "exact" or "as written" (`fast_align`).
    """
    own = pairs(data, domain, "train")
    more = {
        "train": [],
        "train, valid, test": [*pairs(data, domain, "valid"), *pairs(data, domain, "test_a")],
        "all domains": others(data, domain),
    }[learnt_from]
    texts = [*own, *more]
    source, target = (side_of([pair[n] for pair in texts]) for n in (0, 1))
    words = WordNumbers(), WordNumbers()
    corpus = corpus_of(source, target, words)
    if tension == "ours":
        aligner = Aligner(symmetry).fit(corpus, words)
    else:
        rule = FastAlignTension(exact=tension == "exact")
        aligner = Aligner(symmetry, rounds=ROUNDS).fit(corpus, words, tension=rule)
    source, target = (side_of([pair[n] for pair in own]) for n in (0, 1))
    spans = extract(source.starts, target.starts, aligner.links(source, target), PUBLISHED[domain])
    ours = Counter(zip(*texts_of(spans, source, target), strict=True))
    theirs = Counter((row["de"], row["en"]) for row in rows(data, domain, "phrase_pairs"))
    every = [pair for pair in theirs if pair in ours]
    one_to_one = [pair for pair in theirs if min(len(pair[0].split()), len(pair[1].split())) == 1]
    return {
        "tensions": aligner.tensions_.tolist(),
        "published": len(theirs),
        "published_occurrences": theirs.total(),
        "ours": len(ours),
        "our_occurrences": ours.total(),
        "found": len(every) / len(theirs),
        "found_occurrences": sum(theirs[pair] for pair in every) / theirs.total(),
        "found_frequent": _share(theirs, ours, least=3),
        "found_one_word": sum(pair in ours for pair in one_to_one) / max(len(one_to_one), 1),
    }


def _share(theirs: Counter[tuple[str, str]], ours: Counter[tuple[str, str]], least: int) -> float:
    frequent = [pair for pair, count in theirs.items() if count >= least]
    return sum(pair in ours for pair in frequent) / max(len(frequent), 1)
