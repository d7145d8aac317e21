"""Paper 04: how alike a guessed sentence is to the true one, by the five measures of Tables 3 and 8."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textveil.attacks.texthide.mixed_search import unit_rows


class Likeness:
    """Sentences of one corpus, compared two at a time.

    sentence: the cosine of frozen MiniLM vectors, which stand in for SBERT (they are also what is searched).
    """

    def __init__(self, texts: Sequence[str], labels: np.ndarray, vectors: np.ndarray):
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.texts, self.labels, self.vectors = texts, labels, unit_rows(vectors)
        self.words = [frozenset(text.lower().split()) for text in texts]
        self.tfidf = TfidfVectorizer().fit_transform(texts)

    def of(self, own: np.ndarray, guess: np.ndarray) -> dict[str, list[float]]:
        """Each measure for each pair of rows."""
        pairs = list(zip(own.tolist(), guess.tolist(), strict=True))
        same = self.tfidf[own].multiply(self.tfidf[guess]).sum(1)
        return {
            "identity": [float(self.texts[a] == self.texts[b]) for a, b in pairs],
            "jaccard": [
                len(self.words[a] & self.words[b]) / max(1, len(self.words[a] | self.words[b])) for a, b in pairs
            ],
            "tfidf": [float(v) for v in np.asarray(same).ravel()],
            "label": [float(self.labels[a] == self.labels[b]) for a, b in pairs],
            "sentence": [float(self.vectors[a] @ self.vectors[b]) for a, b in pairs],
        }
