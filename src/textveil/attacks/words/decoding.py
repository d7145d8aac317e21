"""The likeliest word at each place of a text, given everything released: forward-backward over candidate words.

Model. Words follow p(x_t | x_{t-1})^w q(x_t)^(1-w), and each is released through f(y_t | x_t); q is the law of single
words. With weight w = 1 this is a hidden Markov chain; with w = 0 words are independent and the guess is the Bayes guess
of words.bayes under q. Weights between keep a poor language model from being believed too much.

The guess at t maximises the sum over all sequences through it, and not the one best sequence (Viterbi): the former makes the
expected number of right words largest, which is what success counts.

Source: Baum, Petrie, Soules, Weiss (1970); Rabiner (1989), section III.B.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.exposure import Ids
from textveil.attacks.words.candidates import Candidates
from textveil.attacks.words.language_model import BigramModel

Floats = NDArray[np.float64]
_CELLS = 20_000_000  # single-precision numbers held at once


def guess_texts(
    texts: Sequence[Ids],
    candidates: Candidates,
    model: BigramModel,
    weight: float,
    known: Sequence[NDArray[np.bool_]] | None = None,
) -> list[Ids]:
    """The guesses for each text of released words; at `known` places the released word is the true one."""
    known = [np.zeros(len(text), dtype=bool) for text in texts] if known is None else known
    if weight == 0:
        alone = _alone(candidates, model)
        return [np.where(passes, text, alone[text]) for text, passes in zip(texts, known, strict=True)]
    guesses: list[Ids] = [np.empty(0, dtype=np.int64)] * len(texts)
    for group in _groups([len(text) for text in texts], candidates.words.shape[1]):
        guessed = _guess_group([texts[i] for i in group], [known[i] for i in group], candidates, model, weight)
        for number, guess in zip(group, guessed, strict=True):
            guesses[number] = guess
    return guesses


def _alone(candidates: Candidates, model: BigramModel) -> Ids:
    """The best guess for each released word without its neighbours."""
    best = (candidates.odds * model.unigram[candidates.words]).argmax(axis=1)
    return candidates.words[np.arange(len(best)), best]


def _groups(lengths: Sequence[int], k: int) -> Iterator[list[int]]:
    """Texts of similar length that are decoded side by side, as many as memory allows; empty ones are left out."""
    group: list[int] = []
    for number in np.argsort(lengths, kind="stable").tolist():
        if group and (len(group) + 1) * lengths[number] * k * k > _CELLS:
            yield group
            group = []
        if lengths[number]:
            group.append(number)
    if group:
        yield group


def _guess_group(
    texts: list[Ids], known: list[NDArray[np.bool_]], candidates: Candidates, model: BigramModel, weight: float
) -> list[Ids]:
    lengths = np.array([len(text) for text in texts])
    steps, many = int(lengths.max()), len(texts)
    shown, passes = np.zeros((steps, many), dtype=np.int64), np.zeros((steps, many), dtype=bool)
    for number, text in enumerate(texts):
        shown[: len(text), number], passes[: len(text), number] = text, known[number]
    words, local = candidates.words[shown], candidates.odds[shown]
    local = local * model.unigram[words] ** (1 - weight)
    words[passes], local[passes] = shown[passes][:, None], np.eye(1, words.shape[2])
    start = model.odds(np.full((many, 1), model.start), words[0])[:, 0] ** weight
    ahead, moves = np.empty_like(local), []
    ahead[0] = _scaled(start * local[0])
    for t in range(1, steps):
        moves.append((model.odds(words[t - 1], words[t]) ** weight).astype(np.float32))
        ahead[t] = _scaled(np.einsum("na,nab->nb", ahead[t - 1], moves[-1]) * local[t])
    best = np.empty((steps, many), dtype=np.int64)
    back = np.ones((many, words.shape[2]))
    for t in range(steps - 1, -1, -1):
        if t + 1 < steps:
            earlier = _scaled(np.einsum("nab,nb->na", moves[t], local[t + 1] * back))
            back = np.where((t + 1 < lengths)[:, None], earlier, 1.0)  # behind a text's last word there is nothing
        best[t] = np.take_along_axis(words[t], (ahead[t] * back).argmax(axis=1)[:, None], axis=1)[:, 0]
    return [best[: len(text), number] for number, text in enumerate(texts)]


def _scaled(rows: Floats) -> Floats:
    """Rows of largest value 1; a row of zeros (the model holds it impossible) says nothing: all 1."""
    top = rows.max(axis=1, keepdims=True)
    return np.divide(rows, top, out=np.ones_like(rows), where=top > 0)
