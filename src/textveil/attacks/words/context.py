"""The context attack: guess each word from its output and from the words around it, with a language model of public text.

Claim. If words follow a bigram chain whose odds and those of the mechanism are known, and every input is a candidate, no
adversary guesses more words right (see decoding). With learnt odds and k candidates the success is a lower bound for that
adversary. The promise of a word mechanism is about one word whatever the others are; it does not say that others do not
tell. This attack shows how much they do.

How. The adversary learns a bigram model from public text, and the mechanism's odds by running it (or has them exactly).
How far the language model is to be believed is tried out beforehand: a part of the public text is kept back, veiled with
the public mechanism and attacked with several weights; the best is taken. Weight 0 is among them, which is the attack on
single words under the public text's word frequencies, so the context is used only where it helps. Words that pass (kept
words) are known at their places: they are context, and not scored.

What is reported. With truth: hits among the released words; texts are kept apart by `documents`. Without: hits on another
part of the public text, veiled likewise. The interval treats texts and not words as independent, with Student's t.

What does not follow. A word may be plain from its neighbours alone, even if its own output says nothing. So a success
here bounds the loss per word only where every text is a single word; otherwise `best_prior` is 1 and the floor 0: it measures
exposure and refutes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import Ids, check_exposure, needed
from textveil.attacks.words.bayes import draw_words
from textveil.attacks.words.candidates import Candidates, Floats, exact_candidates, learnt_candidates
from textveil.attacks.words.decoding import guess_texts
from textveil.attacks.words.language_model import BigramModel
from textveil.attacks.words.seen import WordsSeen
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import positive_integer

_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
_PIECE = 200  # public texts are cut into pieces of so many words, so that there is always something to keep back
_PARTS = 5  # one of so many parts is kept back


class ContextAttack(Estimator):
    """Guess words with their neighbours' help.

    Parameters
    ----------
    candidates
        Inputs that are weighed for each output.
    draws
        Runs of the mechanism that teach its odds; unused with exact odds.
    trial_words
        Words of public text that are kept back, at most, to choose the weight of the language model.
    """

    name = "words.context"
    sees = WordsSeen
    needs: tuple[str, ...] = ("public",)

    def __init__(self, candidates: int = 16, draws: int = 400_000, trial_words: int = 20_000):
        self.candidates = candidates
        self.draws = draws
        self.trial_words = trial_words

    def run(self, exposure: WordsSeen, *, rng: Any) -> Evidence:
        for name in ("candidates", "draws", "trial_words"):
            positive_integer(name, getattr(self, name))
        check_exposure(self, exposure)
        prior = exposure.word_chances
        pieces = _pieces(exposure.public or (), rng)
        trial, rest = self._keep_back(pieces)
        if exposure.released is None:
            return self._expect(exposure, prior, trial, rest, rng)
        documents = needed(self, "documents", exposure.documents)
        model = BigramModel(rest, prior)
        table = self._table(exposure, model.unigram, rng)
        weight = self._choose_weight(exposure, trial, table, model, rng)
        model = BigramModel(pieces, prior)
        observed, truth = (_texts(words, documents) for words in exposure.released)
        known = [exposure.passes(text) for text in truth]
        guesses = guess_texts(observed, table, model, weight, known)
        found = self._evidence(truth, guesses, known, model, weight, pieces, "scored on the true words of this release")
        return replace(found, unit=exposure.unit)

    def _expect(self, exposure: WordsSeen, prior: Floats, trial: list[Ids], rest: list[Ids], rng: Any) -> Evidence:
        """Success on public text that was neither learnt from nor used to choose the weight."""
        second, rest = self._keep_back(rest)
        if not trial or not second:
            raise BadInput("the attack words.context has too little public text to learn from and to be scored on")
        model = BigramModel(rest, prior)
        table = self._table(exposure, model.unigram, rng)
        weight = self._choose_weight(exposure, trial, table, model, rng)
        known = [exposure.passes(text) for text in second]
        guesses = guess_texts(_veil(second, exposure, model.unigram, rng), table, model, weight, known)
        where = "scored on other public text, veiled likewise"
        return replace(self._evidence(second, guesses, known, model, weight, rest, where), unit=exposure.unit)

    def _keep_back(self, pieces: list[Ids]) -> tuple[list[Ids], list[Ids]]:
        """A part to try the attack on, and the rest; nothing where there are too few pieces."""
        share, words, count = len(pieces) // _PARTS, 0, 0
        while count < share and words < self.trial_words:
            words += len(pieces[count])
            count += 1
        return pieces[:count], pieces[count:]

    def _table(self, exposure: WordsSeen, law: Floats, rng: Any) -> Candidates:
        channel = exposure.channel
        if hasattr(channel, "odds"):
            table = exact_candidates(channel, law, self.candidates)
        else:
            table = learnt_candidates(channel, law, self.candidates, self.draws, rng)
        passing = exposure.passes(table.words.ravel()).reshape(table.words.shape)
        return Candidates(table.words, np.where(passing, 0.0, table.odds))  # what was drawn is no word that passes

    def _choose_weight(
        self, exposure: WordsSeen, trial: list[Ids], table: Candidates, model: BigramModel, rng: Any
    ) -> float:
        if not trial:
            return 0.0
        shown, known = _veil(trial, exposure, model.unigram, rng), [exposure.passes(text) for text in trial]
        right = [_hits(trial, guess_texts(shown, table, model, w, known), known).sum() for w in _WEIGHTS]
        return _WEIGHTS[int(np.argmax(right))]

    def _evidence(
        self,
        truth: list[Ids],
        guesses: list[Ids],
        known: list[NDArray[np.bool_]],
        model: BigramModel,
        weight: float,
        learnt: Sequence[Ids],
        where: str,
    ) -> Evidence:
        hits, sizes = _hits(truth, guesses, known), np.array([np.count_nonzero(~passes) for passes in known])
        tries = int(sizes.sum())
        if tries == 0:
            raise BadInput("there is no released word to guess")
        words = np.concatenate(truth)[~np.concatenate(known)]
        alone = max(len(text) for text in truth) == 1
        best = float(np.bincount(words + 1).max() / tries) if alone else 1.0
        notes = [
            f"sees the words around; language model of {sum(map(len, learnt))} words of public text, weight {weight:g}",
            f"{where}; chance: always the public text's commonest word",
        ]
        if not alone:
            notes.append("a word may be plain from its neighbours alone, so no loss per word follows from this success")
        return Evidence(
            self.name,
            "success",
            int(hits.sum()) / tries,
            float(np.mean(words == int(np.argmax(model.unigram)))),
            int(hits.sum()),
            tries,
            unit=Unit.WORD,
            best_prior=best,
            effective=None if alone else worth(hits, sizes),
            notes=tuple(notes),
        )

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.words.examples import words_told

        return AttackExample(cls(draws=4_000), words_told)


def worth(hits: Floats, sizes: Floats) -> float | None:
    """As many independent tries as tell the same as these texts, whose words depend on each other (None: cannot be told).

    The variance of sum(hits) / sum(sizes) over texts drawn anew, by the usual formula for a ratio; then p (1 - p) / variance,
    lowered by the square of normal over Student quantile.

    >>> worth(np.array([10, 0, 10, 0]), np.array([10, 10, 10, 10])) < 4
    True
    """
    from scipy.special import ndtri, stdtrit

    texts, total = len(sizes), float(np.sum(sizes))
    share = float(np.sum(hits)) / total
    if texts < 2 or share in (0.0, 1.0):
        return None
    variance = texts / (texts - 1) * float(np.sum((hits - share * sizes) ** 2)) / total**2
    if variance == 0:
        return total
    few = float(ndtri(0.975) / stdtrit(texts - 1, 0.975)) ** 2
    return min(total, few * share * (1 - share) / variance)


def _hits(truth: list[Ids], guesses: list[Ids], known: list[NDArray[np.bool_]]) -> np.ndarray:
    """Right guesses in each text, those of words that pass left out."""
    right = [np.count_nonzero((a == b) & ~passes) for a, b, passes in zip(truth, guesses, known, strict=True)]
    return np.array(right, dtype=np.float64)


def _texts(words: Ids, documents: Ids) -> list[Ids]:
    """The words of each text; a new text begins where the number changes."""
    return np.split(words, np.flatnonzero(np.diff(documents)) + 1) if len(words) else []


def _pieces(texts: Sequence[Ids], rng: Any) -> list[Ids]:
    """Public texts cut into short pieces, in random order."""
    cut = [text[i : i + _PIECE] for text in map(np.asarray, texts) for i in range(0, len(text), _PIECE)]
    return [cut[i] for i in rng.permutation(len(cut))]


def _veil(texts: list[Ids], exposure: WordsSeen, law: Floats, rng: Any) -> list[Ids]:
    """What the mechanism makes of texts; words outside the vocabulary become any word, and are never guessed right."""
    words = np.concatenate(texts)
    strange = words < 0
    words = words.copy()
    words[strange] = draw_words(law, int(strange.sum()), rng)
    sizes = [len(text) for text in texts]
    shown = exposure.veil(words, np.repeat(np.arange(len(texts)), sizes), rng)
    return np.split(shown, np.cumsum(sizes)[:-1])
