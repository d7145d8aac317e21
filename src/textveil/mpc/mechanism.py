"""Private classification as a mechanism: what it promises to both owners, and what it would answer.

Claim. Cryptographic, semi-honest: in the model of trust that was chosen, what a party receives can be computed from its own
input and its own output alone (so it tells nothing more). The text's owner gets the label, the model's owner nothing.

Derivation. All values are shared over the ring of 64-bit integers; each protocol of the engine (SPU) is secure against
semi-honest parties, and they compose (Canetti 2000). Opening the label gives the text's owner the other share, which is the
label minus its own: nothing new. With a dealer, the masks are uniform because the dealer deals each of them once
(`dealer_book`). What the label itself tells about the model is not bounded by this: see the query budget.

Unit and neighbours. A party; two worlds differ in the other party's whole input, with the same label.

`apply` computes the same answer in the clear, by the fixed-point oracle: it is the yardstick, not the protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from textveil.core import Adjacency, BadInput, Cryptographic, Estimator, Event, Guarantee, Shape, Unit, Unpriced
from textveil.core.example import Example

from .model_folder import Classifier
from .networks import NetworkShape, labels
from .oracle import oracle_scores
from .trust import ACTIVE, LEAKS, SCORE_LEAK, trust_of

NAME = "mpc.classifier"
SOURCE = (
    "Adams, Melanson, De Cock 2021 (private text classification with CNNs); SPU: SEMI2K, ABY3, CHEETAH; composition by "
    "Canetti 2000"
)


class PrivateClassifier(Estimator):
    """A classifier that is asked by a protocol; here, what it promises, and its answers in the clear.

    Parameters
    ----------
    classifier
        A `Classifier`, as `load_classifier` gives it; for whoever only asks, None.
    trust
        "dealer", "three" or "two".
    score
        Whether the score is opened beside the label.

    Examples
    --------
    >>> PrivateClassifier(trust="two").guarantee_.label
    'cryptographic'
    """

    name = NAME

    def __init__(self, classifier: Classifier | None = None, trust: str = "dealer", score: bool = False):
        self.classifier = classifier
        self.trust = trust
        self.score = score

    def fit(self, x: Any = None, y: Any = None) -> Self:
        """Nothing is learnt here."""
        trust_of(self.trust)
        return self

    def event(self, shape: Shape) -> Event:
        """An event that no accountant adds up: the promise is a protocol's."""
        trust = trust_of(self.trust)
        return Event(
            Unpriced(Cryptographic(trust.model)),
            Unit.PARTY,
            Adjacency.REPLACE,
            assumes=self._assumes(),
            source=SOURCE,
            mechanism=self.name,
        )

    @property
    def guarantee_(self) -> Guarantee:
        """The promise, in the chosen model of trust."""
        trust = trust_of(self.trust)
        return Guarantee(Cryptographic(trust.model), Unit.PARTY, Adjacency.REPLACE, self._assumes(), SOURCE)

    def _assumes(self) -> tuple[str, ...]:
        trust = trust_of(self.trust)
        return (trust.collusion, ACTIVE, "the encoder and the shapes of the network are public")

    def passes(self) -> tuple[str, ...]:
        """What leaves unprotected."""
        return ("the label of each text", *(("the score of each text",) if self.score else ()), "the number of texts")

    def leaks(self) -> tuple[str, ...]:
        """What the protocol lets out, for the card."""
        return (trust_of(self.trust).collusion, ACTIVE, *((SCORE_LEAK,) if self.score else ()), *LEAKS)

    def public_params(self) -> dict[str, Any]:
        return {"trust": self.trust, "score": self.score}

    def check_data(self, data: Any, shape: Shape) -> None:
        """Refuse rows that do not fit the network."""
        if self.classifier is None:
            raise BadInput("there is no classifier to ask", possible="load_classifier(folder)")
        rows = np.asarray(data, dtype=np.float32)
        if not len(rows):
            return
        if rows.ndim != 2 or rows.shape[1] != self.classifier.shape.inputs:
            raise BadInput(f"the classifier takes rows of {self.classifier.shape.inputs} numbers")

    def apply(self, data: Sequence[Any], *, noise: Any) -> list[Any]:
        """The labels of rows, by the fixed-point oracle."""
        self.check_data(data, Shape())
        assert self.classifier is not None
        if not len(data):
            return []
        found = oracle_scores(self.classifier.shape, self.classifier.arrays, np.asarray(data, dtype=np.float32))
        return [self.classifier.labels[number] for number in labels(found)]

    @classmethod
    def example(cls) -> Example:
        return Example(
            cls(example_classifier()),
            _example_rows(),
            exempt={
                "noise comes from the given source": "the answer has no noise: what is random are the shares that parties see"
            },
        )


def example_classifier() -> Classifier:
    """A small one with made-up weights."""
    rng = np.random.default_rng(5)
    shape = NetworkShape(12, kernels=(2, 3), channels=2, pool=2, hidden=3)
    arrays = {name: rng.normal(size=dims).astype(np.float32) for name, dims in shape.arrays().items()}
    return Classifier(shape, arrays, ("no", "yes"), {"kind": "sentence"})


def _example_rows() -> NDArray[np.float32]:
    return np.random.default_rng(6).normal(size=(8, 12)).astype(np.float32)


__all__ = ["NAME", "PrivateClassifier", "example_classifier"]
