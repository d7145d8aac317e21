"""What the adversary of veiled text has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.exposure import Exposure, Ids, OriginalWords, check_ids
from textveil.core import BadInput, Unit


class Channel(Protocol):
    """A mechanism as its attacker sees it: words in, words out, both as places in the vocabulary.

    More is used where a channel has it:
    `odds(ids)` -> array (len(ids), words): the exact chance of each output for each input;
    `posterior_bound(ids, source)` -> array (len(ids),): for fresh draws from these inputs, the largest posterior chance of
    any word given the noised point before it is rounded to a word (a bound on what its output can give away);
    `pairs(count, source)`, `stated` and `excludes_input`: see words.two_worlds;
    `points`: public points of the words (words, dimensions), in whose space the noise is drawn;
    `unit`: what one draw covers, an occurrence (word, where it is not said) or a word at all its places of a text
    (document_term).
    """

    def sample(self, ids: Ids, source: Any) -> Ids: ...


@dataclass(frozen=True)
class WordsSeen(Exposure):
    """The public vocabulary, the public chance of each word and the public mechanism; perhaps released words.

    >>> WordsSeen(["yes", "no"], np.array([0.7, 0.7]), channel=None)
    Traceback (most recent call last):
    ...
    textveil.core.errors.BadInput: the prior must hold chances of 0 or more that sum to 1
    """

    vocabulary: Sequence[str]
    prior: NDArray[np.floating[Any]]
    channel: Any  # a Channel
    observed: Ids | None = None  # released words
    documents: Ids | None = None  # number of the text of each released word; words of one text stand together
    public: Sequence[Ids] | None = None  # public texts as words of the vocabulary, -1 outside it
    passing: Ids | None = (
        None  # words that pass as they are: they are known wherever they stand, and nobody guesses them
    )
    truth: OriginalWords | None = None

    def __post_init__(self) -> None:
        _check_prior(self.prior, len(self.vocabulary))
        check_ids("observed", self.observed, 0, len(self.prior))
        check_ids("documents", self.documents, 0, None)
        check_ids("passing", self.passing, 0, len(self.prior))
        released = None if self.observed is None else self.observed.shape
        if self.documents is not None and self.documents.shape != released:
            raise BadInput("documents has another number of words than the release")
        if self.truth is not None:
            check_ids("truth", self.truth.ids, -1, len(self.prior))
            if self.truth.ids.shape != released:
                raise BadInput("the truth has another number of words than the release")

    @property
    def unit(self) -> Unit:
        """What one draw covers."""
        return unit_of(self.channel)

    @property
    def draws(self) -> tuple[Ids, Ids] | None:
        """Released words and what they were, one for each draw.

        Words that pass are left out, and the repeats of a word where a text draws it once.
        """
        if self.released is None:
            return None
        observed, truth = self.released
        places = np.flatnonzero(~self.passes(truth))
        if self.unit is Unit.DOCUMENT_TERM and self.documents is not None:
            keys = np.stack([self.documents[places], truth[places], observed[places]])
            places = places[np.sort(np.unique(keys, axis=1, return_index=True)[1])]
        return observed[places], truth[places]

    def passes(self, words: Ids) -> NDArray[np.bool_]:
        """Which of these words pass as they are."""
        return np.zeros(len(words), dtype=bool) if self.passing is None else np.isin(words, self.passing)

    def veil(self, words: Ids, documents: Ids, source: Any) -> Ids:
        """What the public mechanism makes of the words of texts (numbered by `documents`)."""
        shown, drawn = words.astype(np.int64, copy=True), ~self.passes(words)
        if self.unit is Unit.DOCUMENT_TERM:
            keys = documents[drawn].astype(np.int64) * len(self.prior) + words[drawn]
            distinct, which = np.unique(keys, return_inverse=True)
            shown[drawn] = np.asarray(self.channel.sample(distinct % len(self.prior), source))[which.ravel()]
        else:
            shown[drawn] = self.channel.sample(words[drawn], source)
        return shown

    @property
    def released(self) -> tuple[Ids, Ids] | None:
        """Released words and what they were, where the truth can score guesses."""
        return None if self.truth is None or self.observed is None else (self.observed, self.truth.ids)

    @property
    def word_chances(self) -> NDArray[np.float64]:
        """The prior of a word that is drawn, as doubles that sum to 1: words that pass have chance 0."""
        prior = np.array(self.prior, dtype=np.float64)
        if self.passing is not None:
            prior[self.passing] = 0.0
        if prior.sum() == 0:
            raise BadInput("all words of the vocabulary are kept: there is nothing to guess")
        return prior / prior.sum()


def unit_of(channel: Any) -> Unit:
    """What one draw of a channel covers: an occurrence of a word, unless it says otherwise."""
    return getattr(channel, "unit", Unit.WORD)


def _check_prior(prior: NDArray[np.floating[Any]], size: int) -> None:
    if prior.ndim != 1 or len(prior) == 0 or size != len(prior):
        raise BadInput("the prior needs one chance per word of the vocabulary")
    if not np.all(np.isfinite(prior)) or prior.min() < 0 or abs(prior.sum() - 1) > 1e-6:
        raise BadInput("the prior must hold chances of 0 or more that sum to 1")
