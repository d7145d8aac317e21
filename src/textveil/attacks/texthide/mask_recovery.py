"""Which encodings share a mask, and what the mask is: a mixture of one known law seen through m unknown vectors of signs.

Model. Sentence vectors of one encoder are not spread evenly around zero: they have a mean and strongly tied coordinates,
both known from public text. Mixing keeps the mean and shrinks the spread. Hidden by mask s, a vector has the law of s * x.
Method. Hard expectation-maximisation over the signs.
1. Start: with u = hidden * |mean| / variance the best score of signs c for a vector is the sum of c * u (naive Bayes on the
   signs of the mean). Groups are begun one at a time around vectors that no group explains yet.
2. Signs of a group, coordinate by coordinate: the sign under which the coordinate agrees best with what all other ones
   predict (the conditional mean under the public law, by its precision matrix): that settles coordinates of mean zero too.
3. Assignment: the group whose mask, taken off, makes the vector likeliest under the public law.
Two and three repeat. Nothing but the pool's size and public text is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.int64]
CLOSEST = 6  # groups that are compared by the full law, for each vector
SHRINK = 0.05  # of the covariance, towards its diagonal, at least: public text is a sample


@dataclass(frozen=True)
class EncodingLaw:
    """A normal law of mixed sentence vectors."""

    mean: Floats
    variance: Floats
    precision: Floats

    @classmethod
    def of(cls, public: Floats, spread: float = 1.0) -> EncodingLaw:
        """The law of public vectors; `spread` scales the covariance (mixing makes it smaller)."""
        values = np.asarray(public, np.float64)
        covariance = np.cov(values.T) * spread
        diagonal = np.diag(np.diag(covariance))
        part = max(SHRINK, len(diagonal) / (len(diagonal) + len(values)))
        floor = 1e-9 * np.trace(diagonal) / len(diagonal)  # a coordinate may be constant
        shrunk = (1 - part) * covariance + part * diagonal + floor * np.eye(len(diagonal))
        return cls(values.mean(0), np.diag(shrunk).copy(), np.linalg.inv(shrunk))

    def misfit(self, rows: Floats) -> npt.NDArray[np.float64]:
        """Squared distance of each row from the mean, in the law's own metric."""
        off = rows - self.mean
        return np.asarray(np.einsum("nd,nd->n", off @ self.precision, off))

    def predicted(self, rows: Floats) -> Floats:
        """Each coordinate as all the other ones of its row predict it."""
        off = rows - self.mean
        return self.mean + off - (off @ self.precision) / np.diag(self.precision)


def mixing_spread(mixed: int) -> float:
    """How much smaller the covariance of a mixture is: the mean of the sum of squared shares, by numbers.

    >>> round(mixing_spread(1), 3), 0.25 < mixing_spread(4) < 0.5
    (1.0, True)
    """
    shares = np.abs(np.random.default_rng(0).standard_normal((4000, mixed)))
    return float(((shares / shares.sum(1, keepdims=True)) ** 2).sum(1).mean())


@dataclass
class MaskGroups:
    """The masks as they are known (rows of signs), and the group of each vector."""

    signs: Floats
    group: Ints


def recover_masks(hidden: Floats, law: EncodingLaw, masks: int, *, rounds: int = 6) -> MaskGroups:
    """Sort hidden vectors by their masks, and find the masks."""
    rows = np.asarray(hidden, np.float64)
    weighted = rows * (np.abs(law.mean) / law.variance)
    signs = _first_signs(weighted, masks)
    group = np.argmax(weighted @ signs.T, 1)
    for _ in range(4):  # on the means alone, which is quick
        signs = _by_majority(weighted, group, signs)
        group = np.argmax(weighted @ signs.T, 1)
    known = MaskGroups(signs * np.where(law.mean >= 0, 1.0, -1.0), group)
    for _ in range(rounds):
        before = known.group
        known.signs = np.stack([_settled(rows[known.group == g], known.signs[g], law) for g in range(len(known.signs))])
        known.group = _likeliest(rows, weighted, known.signs, law)
        if (known.group == before).all():
            break
    return known


def _first_signs(weighted: Floats, masks: int) -> Floats:
    """Begin groups around vectors that fit none of the groups yet, as far from them as can be (k-means++ without dice)."""
    flags = np.where(weighted >= 0, 1.0, -1.0)
    best = np.full(len(weighted), -np.inf)
    size = np.abs(weighted).sum(1)
    begun: list[Floats] = []
    for _ in range(min(masks, len(weighted))):
        start = int(np.argmin(best / size)) if begun else int(np.argmax(size))
        near = np.argsort(-(weighted @ flags[start]))[: max(3, len(weighted) // (2 * masks))]
        centre = np.where(weighted[near].sum(0) >= 0, 1.0, -1.0)
        near = np.argsort(-(weighted @ centre))[: max(3, len(weighted) // (2 * masks))]
        centre = np.where(weighted[near].sum(0) >= 0, 1.0, -1.0)
        begun.append(centre)
        best = np.maximum(best, weighted @ centre)
        best[start] = np.inf
    return np.stack(begun)


def _by_majority(weighted: Floats, group: Ints, signs: Floats) -> Floats:
    sums = np.zeros_like(signs)
    np.add.at(sums, group, weighted)
    return np.where(sums == 0, signs, np.where(sums >= 0, 1.0, -1.0))


def _settled(rows: Floats, signs: Floats, law: EncodingLaw, sweeps: int = 8) -> Floats:
    """The signs of one group: each coordinate votes with what the others predict for it."""
    if not len(rows):
        return signs
    for _ in range(sweeps):
        votes = (rows * law.predicted(rows * signs)).sum(0)
        better = np.where(votes >= 0, 1.0, -1.0)
        if (better == signs).all():
            break
        signs = better
    return signs


def _likeliest(rows: Floats, weighted: Floats, signs: Floats, law: EncodingLaw) -> Ints:
    """The group of each vector: of the closest few by the means, the likeliest by the full law."""
    towards = signs * np.where(law.mean >= 0, 1.0, -1.0)
    closest = np.argsort(-(weighted @ towards.T), 1)[:, :CLOSEST]
    misfits = np.stack([law.misfit(rows * signs[closest[:, c]]) for c in range(closest.shape[1])], 1)
    return np.asarray(closest[np.arange(len(rows)), np.argmin(misfits, 1)], np.int64)


__all__ = ["EncodingLaw", "MaskGroups", "mixing_spread", "recover_masks"]
