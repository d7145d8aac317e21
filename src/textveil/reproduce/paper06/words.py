"""Paper 06, word by word: Figure 1 and Theorem 1 on a line, Figures 2 and 3 on the opinion lexicon.

All arms of one cell choose from the same noised points: t and the rank only decide which of the neighbours is taken. So one
search serves every arm, and differences between arms are free of the noise that they share.

Readings of the paper. "sound": neighbours over the whole vocabulary, which Theorem 1's proof covers and which equals the
Laplace mechanism at t = 0. "printed": Algorithm 1 as it stands, neighbours without the input word.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from textveil.attacks.words.posterior import CountedPosterior
from textveil.noise.multivariate import laplace, mahalanobis, regularised_root
from textveil.noise.source import Source, seeded
from textveil.reproduce import datasets
from textveil.text.vectors import Vectors
from textveil.words.search import EuclidSearch
from textveil.words.vickrey import pair_odds

T = (0.0, 0.25, 0.5, 0.75, 1.0)
RANKS = (1, 2, 3, 4, 5)
READINGS = ("sound", "printed")
LEARNT = 0.8  # share of the draws from which the adversary learns; the rest scores it

LINE = {"A": -2.0, "B": -1.1, "C": 0.0, "D": 0.7, "E": 2.0}


def line_odds(data: Path | None, *, t: float, points: int) -> dict[str, Any]:
    """Figure 1: the odds of each of five words on a line, as a function of the noised point. Exact."""
    words = np.array(list(LINE.values()))
    noised = np.linspace(-3, 3, points)
    odds = _line_table(noised, words, t, None)
    edges = np.sort([(a + b) / 2 for i, a in enumerate(words) for b in words[i + 1 :]])
    inside = np.array([np.abs(edges - z).min() > 1e-9 for z in noised]) & ~np.isin(noised, words)
    return {
        "noised": np.round(noised, 6).tolist(),
        "odds": {word: np.round(odds[:, i], 6).tolist() for i, word in enumerate(LINE)},
        "fewest_candidates": int((odds[inside] > 0).sum(axis=1).min()),
        "most_candidates": int((odds[inside] > 0).sum(axis=1).max()),
        "odds_strictly_between_0_and_1": int(((odds[inside] > 1e-12) & (odds[inside] < 1 - 1e-12)).any(axis=1).sum()),
    }


def line_certificate(data: Path | None, *, t: float, epsilon: float, reading: str, points: int) -> dict[str, Any]:
    """Theorem 1 on the line: the largest log ratio less epsilon * distance, by integrating over the noised point.

    All inputs are summed over one and the same grid. If the odds are one function of the noised point, the sums obey the
    bound as the integrals do (each term does), so the grid cannot make a sound reading look broken; and a chance that is
    exactly 0 for one input and not for another is infinite on any grid.
    """
    words = np.array(list(LINE.values()))
    reach = 40 / epsilon
    z = np.linspace(words.min() - reach, words.max() + reach, points)
    law = np.zeros((len(words), len(words)))
    for i, word in enumerate(words):
        density = np.exp(-epsilon * np.abs(z - word))
        odds = _line_table(z, words, t, without=i if reading == "printed" else None)
        law[i] = density @ odds
    law *= epsilon / 2 * (z[1] - z[0])  # one factor for all: rows sum to about 1
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(law)[:, None, :] - np.log(law)[None, :, :]
    excess = ratio - epsilon * np.abs(words[:, None] - words[None, :])[:, :, None]
    worst = np.nanmax(excess)
    return {"worst": "inf" if np.isinf(worst) else float(worst), "stay": np.diag(law).round(9).tolist()}


def _line_table(z: np.ndarray, words: np.ndarray, t: float, without: int | None) -> np.ndarray:
    """Odds of every word at each noised point, (points, words)."""
    distance = np.abs(z[:, None] - words)
    if without is not None:
        distance[:, without] = np.inf
    order = np.argsort(distance, axis=1)[:, :2]
    odds = np.zeros_like(distance)
    np.put_along_axis(odds, order, pair_odds(float(t), np.take_along_axis(distance, order, axis=1)), axis=1)
    return odds


def lexicon(data: Path, *, embedding: str, epsilon: float, seed: int, draws: int) -> dict[str, Any]:
    """Figures 2(A-D) and 3: inference error and sentiment flips of every arm, at one epsilon."""
    listed = datasets.lexicon(data)
    words = datasets.part_of(datasets.embedding(data, embedding), list(listed))
    positive = np.array([listed[w] for w in words.words])
    noise = seeded(seed)
    inputs = noise.below(len(words), draws)  # each word of the list once: the empirical law of this data set is uniform
    prior = np.full(len(words), 1 / len(words))
    found = {}
    for arm, outputs in outputs_of_arms(words, inputs, epsilon, noise, ranks=RANKS).items():
        flips = float(np.mean(positive[inputs] != positive[outputs]))
        found[arm] = {**inference_error(inputs, outputs, prior, noise), "loss": flips}
    return {"words": len(words), "arms": found}


def outputs_of_arms(
    words: Vectors, inputs: np.ndarray, epsilon: float, noise: Source, *, ranks: tuple[int, ...] = (1, 2)
) -> dict[str, np.ndarray]:
    """What each arm makes of the same inputs, by the arm's name ("sound t=0.5", "printed rank=3", "mahalanobis")."""
    search = EuclidSearch(words.matrix)
    arms: dict[str, list[np.ndarray]] = {}
    root, _ = regularised_root(words.matrix, 1.0)
    for start in range(0, len(inputs), 16_384):
        some = inputs[start : start + 16_384]
        points = words.matrix[some]
        noised = points + laplace(noise, len(some), words.dimensions, epsilon)
        near, distance = search.k_nearest(noised, max(ranks) + 1, noise.words(len(some)))
        coin = noise.uniforms(len(some))
        drawn = _choices(some, near, distance, coin, ranks)
        shaped = points + mahalanobis(noise, len(some), root, epsilon)
        drawn["mahalanobis"] = search.nearest(shaped, noise.words(len(some)))
        for arm, outputs in drawn.items():
            arms.setdefault(arm, []).append(outputs)
    return {arm: np.concatenate(parts) for arm, parts in arms.items()}


def _choices(
    inputs: np.ndarray, near: np.ndarray, distance: np.ndarray, coin: np.ndarray, ranks: tuple[int, ...]
) -> dict[str, np.ndarray]:
    chosen = {}
    for reading in READINGS:
        n, d = (near, distance) if reading == "sound" else without_input(inputs, near, distance)
        for t in T:
            first = coin < pair_odds(t, d[:, :2])[:, 0]
            chosen[f"{reading} t={t:g}"] = np.where(first, n[:, 0], n[:, 1])
        for rank in ranks:
            chosen[f"{reading} rank={rank}"] = n[:, rank - 1]
    return chosen


def without_input(inputs: np.ndarray, near: np.ndarray, distance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One neighbour less: the input word, or the last one where the input is not among them.

    >>> near, distance = without_input(np.array([7, 9]), np.array([[7, 1, 2], [3, 4, 5]]), np.ones((2, 3)))
    >>> near.tolist()
    [[1, 2], [3, 4]]
    """
    drop = near == inputs[:, None]
    drop[~drop.any(axis=1), -1] = True
    shape = (len(near), near.shape[1] - 1)
    return near[~drop].reshape(shape), distance[~drop].reshape(shape)


def inference_error(inputs: np.ndarray, outputs: np.ndarray, prior: np.ndarray, noise: Source) -> dict[str, float]:
    """E_M with d_E = 0/1 for the paper's adversary, who draws from the posterior, and for the best one.

    Both learn from one part of the draws and are scored on the other. A learnt best guess is at most as good as the
    true one, so "optimal" is from above: the error of the true optimal adversary is at most this.
    """
    learnt = int(LEARNT * len(inputs))
    posterior = CountedPosterior(inputs[:learnt], outputs[:learnt], prior)
    truth, seen = inputs[learnt:], outputs[learnt:]
    return {
        "sampling": float(np.mean(posterior.draw(seen, noise) != truth)),
        "optimal": float(np.mean(posterior.best(seen) != truth)),
        "stay": float(np.mean(inputs == outputs)),
    }
