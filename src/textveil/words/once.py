"""Each distinct word of a document drawn once, and the draw used at all its places.

Unit and neighbours. The unit is one word of one document at all the places where it stands there. The neighbour is the
document with another word at these same places, one that stood nowhere in it: which places hold equal words is the same.

Claim. Let w_1 .. w_m be the distinct words of a document, in the order of their first places, and draw y_j = M(w_j)
independently with a mechanism that keeps P[M(w) = y] <= exp(epsilon d(w, w')) P[M(w') = y]. The output writes y_j at the
places of w_j. Then the laws of the outputs of two neighbours, w_j against w_j', differ by at most exp(epsilon d(w_j, w_j'))
for every output.

Derivation. The places of each j are the same in both worlds, so the output is one function of (y_1 .. y_m), and only the law
of y_j differs: post-processing of one draw. The bound is attained where no two draws can be mistaken for one another.

What has no bound. Equal words always come out equal. Two documents in which other places are equal therefore have outputs
that only one of them can give: no epsilon holds between them. So which places hold equal words passes; one occurrence that
is changed by itself has no promise; and a charge per document_term counts in no total per word (accounting.containment).
Different words may be drawn to the same substitute; that shows nothing more, since the output is the same function.

What it gains. Whoever knows that a word stands at k places of a document has one draw of it instead of k: nothing can be
averaged. In k documents it is drawn k times. Words outside the vocabulary are told apart by how they are written (letter case
aside): each of them is drawn by itself from the one public point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from textveil.text import tokens


def draw_once(
    documents: np.ndarray,
    words: Sequence[str],
    rows: np.ndarray,
    unknown: int,
    draw: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """A drawn row for each occurrence, equal for equal words of one document.

    `documents` numbers the document of each occurrence; `rows` holds `unknown` for words outside the vocabulary.

    >>> fresh = iter(range(100, 200))
    >>> draw = lambda rows: np.array([next(fresh) for _ in rows])
    >>> draw_once(np.array([0, 0, 0, 0, 1]), ["x", "tea", "X", "zz", "x"], np.array([9, 3, 9, 9, 9]), 9, draw).tolist()
    [101, 100, 101, 102, 103]
    """
    names = rows.astype(np.int64, copy=True)
    forms: dict[str, int] = {}
    for place in np.flatnonzero(rows == unknown).tolist():
        names[place] = unknown + forms.setdefault(tokens.fold(words[place]), len(forms))
    keys = documents.astype(np.int64) * (unknown + len(forms) + 1) + names
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return draw(rows[first])[which.ravel()]
