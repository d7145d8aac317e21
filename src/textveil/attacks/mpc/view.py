"""mpc.view: does what a party sees depend on the other party's input?

A simulator that knows only a party's own input and output must be able to make its view, so views under two inputs of the
other party (with the same label) have one law. The attack learns from half of the runs how often each half-byte stands at
each place in either world, and then says for the other half which world it was, by the likelihood ratio at the places that
differed most. A chi-square statistic of such places, against that of runs whose worlds were shuffled (places depend on each
other, so its own law does not hold), stands in the notes. Nothing that it finds can prove independence: it catches an opening
without a mask, a mask that is used again, a share that is not uniform.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure
from textveil.attacks.mpc.seen import ViewsSeen
from textveil.core import Estimator, Unit
from textveil.core.example import AttackExample

CELLS, PLACES, SHUFFLES = 16, 16, 199


class ViewAttack(Estimator):
    """Tell from a party's view which input the other party had.

    Examples
    --------
    >>> from textveil.noise import secure
    >>> uniform = np.random.default_rng(1).integers(0, 256, (400, 8), dtype=np.uint8)
    >>> seen = ViewsSeen(uniform[:200], uniform[200:])
    >>> ViewAttack().run(seen, rng=secure()).value < 0.7
    True
    """

    name = "mpc.view"
    sees = ViewsSeen
    needs: tuple[str, ...] = ()

    def run(self, exposure: ViewsSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        worlds = [_nibbles(views)[rng.permutation(len(views))] for views in (exposure.first, exposure.second)]
        learnt = [_counts(views[: len(views) // 2]) for views in worlds]
        ratio = np.log(_odds(learnt[0])) - np.log(_odds(learnt[1]))
        by_place = _statistics(*learnt)
        ratio[by_place < np.sort(by_place)[-min(PLACES, len(by_place))]] = 0
        said = [_scores(views[len(views) // 2 :], ratio) for views in worlds]
        coins = [rng.uniforms(len(scores)) < 0.5 for scores in said]
        firsts = [int(((scores > 0) | ((scores == 0) & coin)).sum()) for scores, coin in zip(said, coins, strict=True)]
        hits, tries = firsts[0], len(said[0])
        right = (hits + len(said[1]) - firsts[1]) / (tries + len(said[1]))
        p = p_value(exposure, rng)
        return Evidence(
            self.name, "told apart", right, 0.5, hits, tries, unit=Unit.PARTY, false_hits=firsts[1],
            false_tries=len(said[1]), notes=(f"chi-square among shuffled worlds: p = {p:.3g}",),
        )  # fmt: skip

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        return AttackExample(cls(), views_told)


def views_told(tells: str) -> ViewsSeen:
    """Uniform views; or views whose first number is opened without a mask."""
    rng = np.random.default_rng(3)
    first, second = (rng.integers(0, 256, (300, 16), dtype=np.uint8) for _ in range(2))
    if tells == "all":
        first[:, :2], second[:, :2] = 17, 203
    return ViewsSeen(first, second)


def p_value(seen: ViewsSeen, rng: Any) -> float:
    """The share of shuffled worlds whose chi-square, of the places that differ most, is as large.

    Exact, whatever the places have to do with each other.
    """
    views, split = _nibbles(np.concatenate([seen.first, seen.second])), len(seen.first)
    orders = [np.arange(len(views)), *(rng.permutation(len(views)) for _ in range(SHUFFLES))]
    whole, found = _counts(views), list[float]()
    for order in orders:
        first = _counts(views[order[:split]])
        found.append(float(np.sort(_statistics(first, whole - first))[-PLACES:].sum()))
    return sum(other >= found[0] for other in found) / len(found)


def _nibbles(views: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.concatenate([views >> 4, views & 15], axis=1)


def _counts(views: NDArray[np.uint8]) -> NDArray[np.int64]:
    """(places, 16)"""
    return np.stack([(views == cell).sum(0) for cell in range(CELLS)], axis=1)


def _odds(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    return (counts + 1) / (counts + 1).sum(1, keepdims=True)


def _scores(views: NDArray[np.uint8], ratio: NDArray[np.float64]) -> NDArray[np.float64]:
    return ratio[np.arange(views.shape[1]), views].sum(1)


def _statistics(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
    """Chi-square of equal laws, at each place."""
    n, m = first.sum(1, keepdims=True), second.sum(1, keepdims=True)
    both = np.maximum(first + second, 1)
    wanted = both * n / (n + m), both * m / (n + m)
    parts = [(got - want) ** 2 / want for got, want in zip((first, second), wanted, strict=True)]
    return np.where(first + second > 0, parts[0] + parts[1], 0.0).sum(1)


__all__ = ["ViewAttack", "p_value"]
