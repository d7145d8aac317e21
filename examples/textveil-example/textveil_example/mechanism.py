"""example.response: keep a word by a coin, else draw any word, all alike.

Claim. Any two words are one step apart, and no output is more than e^epsilon times as likely from one as from the other.

Derivation. Of n words, w is kept with chance p, and otherwise each word has chance 1 / n: P[w -> w] = p + (1 - p) / n and
P[w -> y] = (1 - p) / n. Their ratio is 1 + n p / (1 - p), which is e^epsilon for p = (e^epsilon - 1) / (e^epsilon - 1 + n). A
word outside the vocabulary is never kept: 1 / n each, which lies between the two.
"""

import math

import numpy as np

from textveil.words import WordMechanism


class Response(WordMechanism):
    """Keep each word with a chance that epsilon sets, else draw any word of the vocabulary.

    Parameters
    ----------
    epsilon
        Loss between any two words. With 30,000 words, 10 keeps a word two times in five.
    most
        Draw only among the first so many words; None draws among all. Words beyond them are never kept.
    """

    name = "example.response"
    metric = "discrete"
    source = "Warner 1965"
    rounding = "coins are drawn with 53 bits"
    fitted_parameters = ("vectors", "keep", "most")

    def __init__(
        self, epsilon=10.0, most=None, *, vectors=None, oov="draw", keep=(), case="sentence", once=False, seed=None
    ):
        self.epsilon, self.most, self.vectors, self.oov = epsilon, most, vectors, oov
        self.keep, self.case, self.once, self.seed = keep, case, once, seed

    def _prepare(self):
        self.size_ = len(self.vectors_) if self.most is None else min(self.most, len(self.vectors_))

    def diameter(self):
        return 1.0

    def _draw(self, rows, noise):
        odds = math.expm1(min(self.epsilon, 700.0))
        kept = (noise.uniforms(len(rows)) < odds / (odds + self.size_)) & (rows < self.size_)
        return np.where(kept, rows, noise.below(self.size_, len(rows)))
