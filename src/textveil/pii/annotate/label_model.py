"""A small generative model that weighs noisy votes without knowing the truth.

Claim. Candidate i is right (y_i = 1) with chance p. Voter j says v_ij in {-1 against, 0 nothing, +1 for}, drawn from
a law of its own that depends on y_i only: theta_j[y][v]. Given y the voters are independent. Then

    P(y_i = 1 | v_i) = p prod_j theta_j[1][v_ij] / (p prod_j theta_j[1][v_ij] + (1 - p) prod_j theta_j[0][v_ij]).
    (1)

Neither p nor theta is known. With Dirichlet priors (pseudo-votes alpha_j[y][v], and beta for p) the log posterior of
the parameters given all votes is raised by turns of

    E   r_i = (1) under the present parameters;
    M   p = (beta_1 + sum_i r_i) / (beta_0 + beta_1 + n),
        theta_j[1][v] = (alpha_j[1][v] + sum_i r_i [v_ij = v]) / sum over v of the same,   theta_j[0] with 1 - r_i,

which is expectation maximisation: no turn lowers the log posterior. Exchanging the two classes gives the same
likelihood, so the priors also say which class is "right": every voter is believed to be better than a coin until the
votes say otherwise. Three voters that differ are needed for the votes to identify anything; with fewer the priors
speak.

Candidates with equal votes have equal chances, so the model is fitted on counts of vote patterns: memory does not
grow with the documents. What the independence assumption gets wrong (two voters that look at the same thing) makes
scores too sure; they rank well and are calibrated on a reviewed sample, not here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FOR, NOTHING, AGAINST = 1, 0, -1
Pattern = tuple[int, ...]
_PLACE = {AGAINST: 0, NOTHING: 1, FOR: 2}
TURNS = 200
SETTLED = 1e-9


@dataclass(frozen=True)
class Voter:
    """A voter, and what is believed of it beforehand: how often it speaks, and how often it is then right."""

    name: str
    speaks: float = 0.7
    right: float = 0.85
    weight: float = 100.0  # pseudo-votes for each class

    def prior(self) -> NDArray[np.float64]:
        """alpha[y][v], v in the order against, nothing, for."""
        wrong, right = self.speaks * (1 - self.right), self.speaks * self.right
        silent = 1 - self.speaks
        return self.weight * np.array([[right, silent, wrong], [wrong, silent, right]])


@dataclass(frozen=True)
class LabelModel:
    """Fitted chances: `prior` is p, `laws[j, y, v]` is theta."""

    prior: float
    laws: NDArray[np.float64]
    history: tuple[float, ...] = ()  # the log posterior after each turn, up to a constant

    def chance(self, votes: Pattern) -> float:
        """The chance that a candidate with these votes is right, equation (1)."""
        places = [_PLACE[v] for v in votes]
        logs = [
            math.log(self.prior if y else 1 - self.prior)
            + sum(math.log(self.laws[j, y, v]) for j, v in enumerate(places))
            for y in (0, 1)
        ]
        return 1 / (1 + math.exp(min(700.0, logs[0] - logs[1])))


def fit_label_model(
    counts: Mapping[Pattern, int], voters: Sequence[Voter], *, believed: float = 0.6, weight: float = 100.0
) -> LabelModel:
    """The parameters of largest posterior, found from the beliefs; without votes, the beliefs themselves."""
    alpha = np.stack([voter.prior() for voter in voters]) + 0.5  # no law is ever zero
    beta = np.array([weight * (1 - believed), weight * believed]) + 0.5
    patterns = np.array([[_PLACE[v] for v in pattern] for pattern in counts], dtype=np.int64).reshape(-1, len(voters))
    numbers = np.array(list(counts.values()), dtype=np.float64)
    given = np.eye(3)[patterns]  # pattern, voter, vote
    prior, laws = beta / beta.sum(), alpha / alpha.sum(axis=2, keepdims=True)
    history: list[float] = []
    for _ in range(TURNS):
        joint = np.log(prior)[None, :] + np.einsum("pjv,jyv->py", given, np.log(laws))
        total = np.logaddexp(joint[:, 0], joint[:, 1])
        beliefs = (beta * np.log(prior)).sum() + (alpha * np.log(laws)).sum()
        history.append(float((numbers * total).sum() + beliefs))
        if len(history) > 1 and history[-1] - history[-2] < SETTLED * max(1.0, abs(history[-1])):
            break
        shares = np.exp(joint - total[:, None]) * numbers[:, None]
        prior = (beta + shares.sum(axis=0)) / (beta.sum() + numbers.sum())
        laws = alpha + np.einsum("py,pjv->jyv", shares, given)
        laws = laws / laws.sum(axis=2, keepdims=True)
    return LabelModel(float(prior[1]), laws, tuple(history))


__all__ = ["AGAINST", "FOR", "NOTHING", "LabelModel", "Pattern", "Voter", "fit_label_model"]
