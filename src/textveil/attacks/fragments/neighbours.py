"""Joins of fragments that share no word: which two stand side by side, by what is known of the languages.

Where phrases are cut apart, no word of a sentence stands in two of them, and overlaps say little. But text goes on as the
language does: an adversary who has public text (and the inside of the fragments) knows which words follow each other. The
score of p followed by q, in bits as for overlaps: how many times likelier the first two words of q are after the last two of
p than anywhere, by trigrams of which each order is the prior of the next (MacKay and Peto 1995), in both languages (what
translates neighbours mostly stands in the same order), less the choice among the fragments that begin alike.
"""

from __future__ import annotations

import numpy as np

from textveil.attacks.exposure import Ids
from textveil.attacks.fragments.ngrams import Ngrams
from textveil.attacks.fragments.seen import Sentences

MOST = 100  # fragments that begin with one word; the choice among more says more than two words can


def add_neighbours(
    own: Sentences,
    other: Sentences,
    public: tuple[Sentences, Sentences] | None,
    nodes: Ids,
    scores: np.ndarray,
    overlaps: Ids,
) -> None:
    """Put the best neighbours of each fragment among its best joins, in place; they share 0 words.

    `public` is in the order of `own` and `other`.
    """
    from textveil.attacks.fragments import neighbour_kernel as kernel

    if not len(own):
        return
    models = []
    for number, texts in enumerate((own, other)):
        known = [texts] if public is None else [texts, public[number]]
        models.append(Ngrams.of(known, int(max(np.max(text.words, initial=0) for text in known)) + 1))
    first = np.asarray(own.words)[np.asarray(own.starts)[:-1]]
    order = np.argsort(first, kind="stable")
    begins = np.searchsorted(first[order], np.arange(models[0].size + 1))
    kernel.add_neighbours(
        own.words, own.starts, other.words, other.starts, *models, order, begins, MOST, nodes, scores, overlaps
    )


__all__ = ["add_neighbours"]
