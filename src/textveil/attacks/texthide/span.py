"""The tokens of a batch, found in the span of the first layer's gradient, where the embeddings themselves do not learn.

Claim. A first layer H = X W has dL/dW = X^T G, so the rows of the gradients of query, key and value lie in the span of the
rows x of X, one for each (token, place) of the batch, whatever G is: masks and mixing change G alone. With fewer of them
than the width, and G of full rank (seen: it is, up to single precision), x lies in that span iff it stands in the batch;
other tokens miss it by a third of their length and more.
Derivation of the quick test. x = scale * (E_t + P_p + S - mean) / deviation + shift. If x lies in the span V, then
scale * E_t lies in V + span(scale * P_p for all p, scale * S, scale, shift): one projection for each token, not for each
pair. Tokens that pass are tried at each place.
For several texts places are less sharp than tokens: E_a + P_q is a sum of E_a + P_p - E_b + P_p + E_b + P_q that are there.

Source. Span checks on the gradients of linear layers: Petrov et al. 2024 (DAGER); the observation for TextHide is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure
from textveil.attacks.texthide.seen import FirstLayer, Floats, GradientSeen, PlacesSeen
from textveil.attacks.texthide.told_apart import told_apart
from textveil.core import Estimator
from textveil.core.example import AttackExample

RANK = 1e-6  # singular values below this share of the largest are rounding: they come at 1e-8, real ones above 1e-5
NEAR = 0.03  # of its length: how far a vector may miss the span


@dataclass(frozen=True)
class GradientSpan:
    """An orthonormal basis of what the gradient spans, as columns."""

    basis: Floats

    @classmethod
    def of(cls, layer: Floats) -> GradientSpan:
        """Each row of the gradient counts by its direction: the span does not know lengths."""
        rows = np.asarray(layer, np.float64)
        scale = np.linalg.norm(rows)
        if scale == 0:
            return cls(np.zeros((rows.shape[1], 0)))
        values, vectors = np.linalg.eigh(rows.T @ rows / scale**2)  # squares: 1e-12 of the largest is RANK
        return cls(vectors[:, values > values.max() * RANK**2])

    @property
    def rank(self) -> int:
        return int(self.basis.shape[1])

    @property
    def is_full(self) -> bool:
        return self.rank >= len(self.basis) - 1

    def misses(self, rows: Floats) -> npt.NDArray[np.float64]:
        """How far each row lies outside, as a share of its length."""
        rest = rows - (rows @ self.basis) @ self.basis.T
        return np.asarray(np.linalg.norm(rest, axis=1) / np.linalg.norm(rows, axis=1).clip(1e-30))

    def with_rows(self, rows: Floats) -> GradientSpan:
        """The span of this and more rows."""
        left = np.linalg.qr(np.concatenate([self.basis, rows.T], 1))
        strong = np.abs(np.diag(left.R)) > 1e-9 * np.abs(left.R).max()
        return GradientSpan(left.Q[:, strong])


def batch_pairs(first: FirstLayer, layer: Floats, places: int) -> tuple[npt.NDArray[np.bool_], int]:
    """Whether each (token, place) lies in the span, and the rank: the quick test, then the exact one for what passes."""
    span = GradientSpan.of(layer)
    inside = np.zeros((len(first.words), places), np.bool_)
    if span.is_full or not span.rank:
        return inside, span.rank
    tokens = _possible(first, span, places)
    for place in range(places):
        inside[tokens, place] = span.misses(first.inputs(tokens, place)) < NEAR
    return inside, span.rank


def nearest_misses(first: FirstLayer, spans: Sequence[GradientSpan], places: int) -> npt.NDArray[np.float64]:
    """By how much each token (a row) misses each span (a column), at the place where it misses least: for noisy gradients."""
    everything, nearest = np.arange(len(first.words)), np.full((len(first.words), len(spans)), np.inf)
    for place in range(places):
        rows = first.inputs(everything, place)
        lengths = np.square(rows).sum(1)
        inside = np.stack([np.square(rows @ span.basis).sum(1) / lengths for span in spans], 1)
        nearest = np.minimum(nearest, np.sqrt(np.clip(1 - inside, 0, 1)))
    return nearest


def _possible(first: FirstLayer, span: GradientSpan, places: int) -> npt.NDArray[np.int64]:
    """The tokens that can lie in the span at all; all of them where the widened span has no room left."""
    known = np.concatenate([first.places[:places], first.segment[None], np.ones((1, len(first.scale)))]) * first.scale
    wide = span.with_rows(np.concatenate([known, first.shift[None]]))
    everything = np.arange(len(first.words))
    if wide.is_full:
        return everything
    missed = [wide.misses(first.words[i : i + 4096] * first.scale) for i in range(0, len(everything), 4096)]
    return everything[np.concatenate(missed) < NEAR]


class SpanAttack(Estimator):
    """Name the tokens that lie in the span of the first layer's gradient at some place."""

    name = "texthide.span"
    sees = GradientSeen
    needs: tuple[str, ...] = ()
    timed = True

    def run(self, exposure: GradientSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        inside, rank = batch_pairs(exposure.first, exposure.layer, exposure.places)
        notes = (f"the gradient has rank {rank} of {exposure.layer.shape[1]}",)
        return told_apart(self, "tokens of the batch named", np.asarray(inside.any(1)), exposure.truth, notes)

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.texthide.examples import tokens_told

        return AttackExample(cls(), tokens_told)


class OrderAttack(Estimator):
    """Name which token stands where: exact for one text, and narrowed by the gradient of the embeddings for several.

    With the gradients of the embeddings: row p of the place embeddings is the sum of what reaches the tokens at place p, and
    the row of a token that stands once is what reaches it. So place rows are sums of word rows, with weights 0 and 1.
    """

    name = "texthide.order"
    sees = PlacesSeen
    needs: tuple[str, ...] = ()
    timed = True

    def run(self, exposure: PlacesSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        inside, rank = batch_pairs(exposure.first, exposure.layer, exposure.places)
        notes = (f"the gradient has rank {rank} of {exposure.layer.shape[1]}",)
        if exposure.word_rows is not None and exposure.place_rows is not None:
            crowded = inside.sum(0) > 1  # at one place stands one token, unless there are several texts
            sums = sums_of_rows(exposure.word_rows, exposure.place_rows[: exposure.places])
            inside[:, crowded] &= sums[:, crowded]
        return told_apart(self, "tokens named with their place", inside.ravel(), exposure.truth, notes)

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.texthide.examples import places_told

        return AttackExample(cls(), places_told)


def sums_of_rows(word_rows: Floats, place_rows: Floats) -> npt.NDArray[np.bool_]:
    """Whether each (token, place) has a weight nearer 1 than 0 when place rows are written as sums of word rows."""
    present = np.flatnonzero(np.abs(word_rows).max(1) > 0)
    named = np.zeros((len(word_rows), len(place_rows)), np.bool_)
    if len(present):
        words = word_rows[present].astype(np.float64)
        weights = np.linalg.lstsq(words.T, place_rows.astype(np.float64).T, rcond=1e-9)[0]
        named[present] = weights > 0.5
    return named


__all__ = ["GradientSpan", "OrderAttack", "SpanAttack", "batch_pairs", "sums_of_rows"]
