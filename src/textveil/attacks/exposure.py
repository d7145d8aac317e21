"""What the adversary has, and what an attack is.

An attack never imports the room that it attacks: whoever runs it fills an Exposure with what a real adversary would hold.
The released words, the public vocabulary and prior, and the mechanism itself, which is public and may be run as often as
one likes. `truth` is no part of the adversary's knowledge: an attack may use it to score its guesses, and for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..core import BadInput
from .evidence import Evidence

Ids = NDArray[np.integer[Any]]


class Channel(Protocol):
    """A mechanism as its attacker sees it: words in, words out, both as places in the vocabulary.

    More is used where a channel has it:
    `odds(ids)` -> array (len(ids), words): the exact chance of each output for each input;
    `posterior_bound(ids, source)` -> array (len(ids),): for fresh draws from these inputs, the largest posterior chance of
    any word given the noised point before it is rounded to a word (a bound on what its output can give away);
    `pairs(count, source)`, `stated` and `excludes_input`: see words_two_worlds.
    """

    def sample(self, ids: Ids, source: Any) -> Ids: ...


@dataclass(frozen=True)
class Labelled:
    """Texts with their labels, as whoever trains or queries a classifier has them."""

    texts: Sequence[str]
    labels: Sequence[Any]

    def __post_init__(self) -> None:
        if len(self.texts) != len(self.labels):
            raise BadInput(f"{len(self.texts)} texts need {len(self.texts)} labels, not {len(self.labels)}")

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, places: Ids) -> Labelled:
        """Some of them, in the order of `places`."""
        return Labelled([self.texts[i] for i in places], [self.labels[i] for i in places])


@dataclass(frozen=True)
class Exposure:
    """Everything an attack may look at; what does not apply stays None.

    >>> seen = Exposure(vocabulary=["yes", "no"], prior=np.array([0.7, 0.3]))
    >>> seen.require("words.bayes", ("prior", "channel"))
    Traceback (most recent call last):
    ...
    textveil.core.errors.BadInput: the attack words.bayes needs channel, which is not known here
    """

    observed: Ids | None = None  # released words
    documents: Ids | None = None  # number of the text of each released word; words of one text stand together
    vocabulary: Sequence[str] | None = None
    prior: NDArray[np.floating[Any]] | None = None  # public chance of each word
    channel: Channel | None = None
    public: Sequence[Ids] | None = None  # public texts as words of the vocabulary, -1 outside it
    query: Callable[[Sequence[str]], Any] | None = None  # the attacked model: texts in, chances of its classes out
    retrain: Callable[..., Any] | None = None  # (texts, labels) -> the `query` of a model trained like the attacked one
    own: Labelled | None = None  # data of the adversary, like the model's training data and disjoint from it
    candidates: Labelled | None = None  # texts that may or may not have been trained on
    table: Any = None  # a hashed model as the adversary reads it (hashed_table.TableView)
    # Input words, aligned with observed, -1 outside the vocabulary; or 1 for each candidate that was trained on, else 0.
    truth: Ids | None = None  # for scoring only
    losses: Callable[[Sequence[Any]], Any] | None = None  # the attacked model: examples in, the loss of each out
    examples: Sequence[Any] | None = None  # examples, as the model takes them, that may have been trained on
    own_examples: Sequence[Any] | None = None  # examples of the adversary that were not trained on
    references: Sequence[Callable[[Sequence[Any]], Any]] | None = None  # losses of models that saw none of `examples`
    canaries: Any = None  # canaries.Canaries that were put into the training data
    release: Path | None = None
    progress: Callable[[int, int], None] | None = None  # called with (done, total) during long steps

    def __post_init__(self) -> None:
        size = None if self.vocabulary is None else len(self.vocabulary)
        if self.prior is not None:
            _check_prior(self.prior, size)
            size = len(self.prior)
        _check_ids("observed", self.observed, 0, size)
        _check_ids("documents", self.documents, 0, None)
        if self.documents is not None and (self.observed is None or self.documents.shape != self.observed.shape):
            raise BadInput("documents has another number of words than the release")
        if self.candidates is not None or self.examples is not None:
            self._check_membership()
            return
        _check_ids("truth", self.truth, -1, size)
        if self.truth is not None and (self.observed is None or self.truth.shape != self.observed.shape):
            raise BadInput("the truth has another number of words than the release")

    def _check_membership(self) -> None:
        if self.truth is None:
            return
        asked = self.candidates if self.candidates is not None else self.examples
        if self.truth.shape != (len(asked or ()),) or not np.isin(self.truth, (0, 1)).all():
            raise BadInput("the truth needs a 1 or 0 for each candidate: trained on, or not")

    def require(self, attack: str, needs: Sequence[str]) -> None:
        """Name what is missing, all of it at once."""
        missing = [need for need in needs if getattr(self, need, None) is None]
        if missing:
            raise BadInput(f"the attack {attack} needs {' and '.join(missing)}, which is not known here")


@runtime_checkable
class Attack(Protocol):
    """`needs` names fields of the Exposure; `rng` is a source of the noise room."""

    name: str
    needs: tuple[str, ...]

    def run(self, exposure: Exposure, *, rng: Any) -> Evidence: ...


def _check_prior(prior: NDArray[np.floating[Any]], size: int | None) -> None:
    if prior.ndim != 1 or len(prior) == 0 or size not in (None, len(prior)):
        raise BadInput("the prior needs one chance per word of the vocabulary")
    if not np.all(np.isfinite(prior)) or prior.min() < 0 or abs(prior.sum() - 1) > 1e-6:
        raise BadInput("the prior must hold chances of 0 or more that sum to 1")


def _check_ids(name: str, ids: Ids | None, lowest: int, size: int | None) -> None:
    if ids is None:
        return
    if ids.ndim != 1 or not np.issubdtype(ids.dtype, np.integer):
        raise BadInput(f"{name} must be a flat array of whole numbers, one per word")
    if len(ids) and (ids.min() < lowest or (size is not None and ids.max() >= size)):
        raise BadInput(f"{name} names a word outside the vocabulary")
