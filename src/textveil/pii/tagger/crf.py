"""A linear-chain CRF over hashed features, trained with what is known of the noise in its labels.

Model. p(y | x) = exp(s(x, y)) / Z(x), s the sum of the weights of the slots of every token for its label and of the steps
between labels; steps that BIO forbids have no weight and chance 0.

Noisy labels. A label z_t that came with confidence c_t is taken for a noisy sight of the true one: q_t(y) = c_t where y = z_t
and (1 - c_t) / (L - 1) elsewhere. What is maximised is the chance of what was seen,

    log sum_y p(y | x) prod_t q_t(y_t),     gradient: E[features | x, z] - E[features | x],

two passes of forward-backward, one with the q_t and one without. With all c_t = 1 it is the usual likelihood. Steps are
AdaGrad's (Duchi et al. 2011), one sequence at a time in an order drawn from a seed that follows from nothing private.

Scores. Marginals of the chain, after dividing all weights by a temperature that was fitted to held-out documents
(Guo et al. 2017): of the findings with score 0.8, about eight in ten are right there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from textveil.text.chain import has_numba

FORBIDDEN = -1e9


@dataclass(frozen=True)
class Chains:
    """Tokens of many documents, one chain after the other."""

    rows: np.ndarray  # uint32, tokens x features
    bounds: np.ndarray  # int64, where chains begin, and the end
    tags: np.ndarray  # int64
    trust: np.ndarray  # float64, the confidence of each tag


def legal_steps(tags: Sequence[str]) -> np.ndarray:
    """Which tag may follow which: I-X only after B-X and I-X.

    >>> legal_steps(["O", "B-A", "I-A"]).astype(int).tolist()
    [[1, 1, 0], [1, 1, 1], [1, 1, 1]]
    """
    legal = np.ones((len(tags), len(tags)), bool)
    for j, tag in enumerate(tags):
        if tag.startswith("I-"):
            legal[:, j] = [previous[2:] == tag[2:] and previous != "O" for previous in tags]
    return legal


class HashedCrf:
    """Weights of a chain. `steps` holds those between tags, `first` whether a tag may begin a chain."""

    def __init__(self, tags: Sequence[str], bits: int):
        self.tags, self.bits = tuple(tags), bits
        self.weights = np.zeros((1 << bits, len(tags)), np.float32)
        self.legal = legal_steps(tags)
        self.steps = np.where(self.legal, 0.0, FORBIDDEN)
        self.first = np.array([FORBIDDEN if tag.startswith("I-") else 0.0 for tag in tags])

    def fit(
        self,
        chains: Chains,
        *,
        epochs: int,
        rate: float,
        seed: int = 0,
        advance: Callable[[float], None] | None = None,
    ) -> HashedCrf:
        """Learn; the same chains in the same order give the same weights."""
        grown, steps_grown = np.full(self.weights.shape, 1e-8, np.float32), np.full(self.steps.shape, 1e-8)
        rng, count = np.random.default_rng(seed), len(chains.bounds) - 1
        train = _train_pass()
        for _ in range(epochs):
            order = rng.permutation(count)
            train(
                chains.rows, chains.bounds, order, chains.tags, chains.trust, self.weights, grown, self.steps, steps_grown,
                self.first, self.legal, float(rate),
            )  # fmt: skip
            if advance is not None:
                advance(count)
        return self

    def chances(self, rows: np.ndarray, bounds: np.ndarray, temperature: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """The best path's tags, and the chance of every tag of every token."""
        return _read_pass()(rows, bounds, self.weights, self.steps, self.first, float(temperature))


def _train_pass() -> Callable[..., None]:
    if has_numba():
        from textveil.pii.tagger.crf_kernel import train_pass

        return train_pass
    from textveil.pii.tagger.crf_plain import train_pass as plain_pass

    return plain_pass


def _read_pass() -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    if has_numba():
        from textveil.pii.tagger.crf_kernel import read_all

        return read_all
    from textveil.pii.tagger.crf_plain import read_all as plain_read

    return plain_read


__all__ = ["FORBIDDEN", "Chains", "HashedCrf", "legal_steps"]
