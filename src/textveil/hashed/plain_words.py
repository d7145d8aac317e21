"""In how many documents a slot stands in plain words: what decides which rows a quiet seal keeps.

A token is plain in a document if its lower-case form occurs in that document in lower case and holds no digit: "The"
and "AGREEMENT" are, where "the" and "agreement" stand elsewhere in the text; names, places, defined terms that are
always capitalised and amounts are not. A document counts for a slot if the slot is in a row of the document and in no
row of a token that is not plain.

Claim. A term that is never written in lower case counts for no slot of its own, however many documents hold it: every
feature that it is part of is in its row (pairs are in the rows of both words), so the document does not count for any
of them. What is left are other features that fall into the same slot.

Limits. Where a script has no case every word is plain, and only the count protects; a name that is also a word ("Will",
"apple") is plain where the word occurs. Neither is hidden if k documents or more hold it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textveil.hashed.features import Slots


def plain_tokens(words: Sequence[str]) -> np.ndarray:
    """Which tokens are plain in this document.

    >>> plain_tokens("The law of Texas is the law . Fee : 20".split()).astype(int).tolist()
    [1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 0]
    """
    kinds = {
        word: not word.isupper() and word == word.lower() and not any(map(str.isdigit, word)) for word in set(words)
    }
    return np.fromiter((kinds[w] or kinds.get(w.lower(), False) for w in words), np.bool_, len(words))


def plain_slots(words: Sequence[str], slots: Slots) -> np.ndarray:
    """The slots that this document counts for, sorted.

    >>> rows = Slots(np.array([7, 3, 3, 5, 5], np.uint32), np.array([0, 2, 4, 5]))    # of: 7, 3; Texas: 3, 5; law: 5
    >>> plain_slots(["of", "Texas", "law"], rows).tolist()
    [7]
    """
    plain = np.repeat(plain_tokens(words), np.diff(slots.starts))
    return np.setdiff1d(slots.indices[plain], slots.indices[~plain])
