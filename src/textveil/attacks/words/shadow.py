"""Membership inference with a shadow model: was this text among those that the model was trained on?

How. The adversary may query the model and knows how such models are trained. On one half of data of its own it trains a
shadow model; the other half stays out. What the shadow answers for texts inside and outside teaches a small network (two
layers of 64 units with ReLU) to tell the two apart, and the network then judges the target's answers for the candidates.
It sees the chances in falling order, the chance and the loss of the true label, and the entropy.

What is reported. `value` is the area under the curve over the candidates (chance 1/2, DeLong's variance, see auc). For the
floor on the loss the network's own threshold of 1/2, fixed before any candidate is seen, makes a test of two worlds:
members called members out of all members, against outsiders called members out of all outsiders.

Assumption. Members and outsiders differ in nothing but membership: which texts were trained on was decided at random.
Outsiders of another time or source would be told apart without any leak. All candidates are judged by one model, so the
counts depend on each other: their limits have no false-alarm rate and refute nothing.

Source: Shokri, Stronati, Song, Shmatikov, "Membership Inference Attacks Against Machine Learning Models" (2017), as used in
Carvalho, Vasiloudis, Feyisetan (2021), section 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.auc import membership_evidence
from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import AnswersSeen, Labelled, check_exposure, needed, scored_by
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import positive, positive_integer

Floats = NDArray[np.float64]
_SMALLEST = 1e-12  # chances below it are not told apart
_LEAST = 10  # own texts: five in, five out


class ShadowAttack(Estimator):
    """Train `shadows` models like the target, learn from them what membership looks like, judge the candidates.

    Parameters
    ----------
    shadows
        Models that are trained like the target.
    hidden
        Hidden units of the net that judges.
    epochs
        Passes of its training.
    batch_size
        Examples in one of its steps.
    rate
        Its learning rate.
    unit
        What one candidate is: "document", "example", "user".
    """

    name = "membership.shadow"
    sees = AnswersSeen
    needs: tuple[str, ...] = ("query", "retrain", "own")

    def __init__(
        self,
        shadows: int = 1,
        hidden: int = 64,
        epochs: int = 50,
        batch_size: int = 64,
        rate: float = 0.001,
        unit: str = "document",
    ):
        self.shadows, self.hidden, self.epochs = shadows, hidden, epochs
        self.batch_size, self.rate, self.unit = batch_size, rate, unit

    def run(self, exposure: AnswersSeen, *, rng: Any) -> Evidence:
        self._check_parameters()
        check_exposure(self, exposure)
        query, own = needed(self, "query", exposure.query), needed(self, "own", exposure.own)
        retrain, member = needed(self, "retrain", exposure.retrain), scored_by(self, exposure.truth)
        if len(own) < _LEAST:
            raise BadInput(f"the attack {self.name} needs {_LEAST} texts of its own or more to train a shadow model")
        classes = sorted({*own.labels, *exposure.candidates.labels})
        features, inside = self._shadow_answers(own, retrain, classes, rng)
        judge = self._learn(features, inside, rng)
        return self._evidence(judge(answers(query, exposure.candidates, classes)), member)

    def _check_parameters(self) -> None:
        for name in ("shadows", "hidden", "epochs", "batch_size"):
            positive_integer(name, getattr(self, name))
        positive("rate", self.rate)

    def _shadow_answers(
        self, own: Labelled, retrain: Callable[..., Any], classes: list[Any], rng: Any
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """What shadow models answer for texts that they were trained on and for texts that they were not."""
        half = len(own) // 2
        features, inside = [], []
        for _ in range(self.shadows):
            order = rng.permutation(len(own))
            trained, outside = own.take(order[:half]), own.take(order[half:])
            query = retrain(trained.texts, trained.labels)
            features += [answers(query, trained, classes), answers(query, outside, classes)]
            inside += [np.ones(len(trained), dtype=bool), np.zeros(len(outside), dtype=bool)]
        return np.concatenate(features), np.concatenate(inside)

    def _learn(self, features: Floats, inside: NDArray[np.bool_], rng: Any) -> Callable[[Floats], Floats]:
        """A network that gives the chance of membership."""
        from torch import nn

        from textveil.nets.data import Rows
        from textveil.nets.fit import FitPlan, fit, own_randomness, probabilities

        middle, spread = features.mean(axis=0), features.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        targets: Rows = inside.astype(np.int64)
        with own_randomness(int(rng.below(2**31, 1)[0])):
            net = nn.Sequential(
                nn.Linear(features.shape[1], self.hidden),
                nn.ReLU(),
                nn.Linear(self.hidden, self.hidden),
                nn.ReLU(),
                nn.Linear(self.hidden, 2),
            )
            fit(net, _scores, (features - middle) / spread, targets, FitPlan(self.epochs, self.batch_size, self.rate))
        return lambda shown: probabilities(net, _scores, (shown - middle) / spread)[:, 1]

    def _evidence(self, scores: Floats, member: NDArray[np.bool_]) -> Evidence:
        return membership_evidence(
            self.name,
            Unit(self.unit),
            scores,
            member,
            called=scores > 0.5,
            notes=(
                f"black-box queries; attack network learnt from {self.shadows} shadow model(s)",
                "value: area under the curve, interval from DeLong's variance; hits: members called members",
                "assumes that which candidates were trained on was decided at random",
            ),
        )

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.words.examples import answers_told

        return AttackExample(cls(epochs=10, rate=0.01), answers_told)


def answers(query: Callable[..., Any], asked: Labelled, classes: list[Any]) -> Floats:
    """What a model's answers show about each text, one row a text; columns of `query` follow the sorted classes.

    >>> shown = answers(lambda texts: [[0.25, 0.75]], Labelled(["a"], ["no"]), ["no", "yes"])
    >>> np.round(shown, 3).tolist()   # chances falling, chance and loss of the true label, entropy
    [[0.75, 0.25, 0.25, 1.386, 0.562]]
    """
    odds = np.asarray(query(asked.texts), dtype=np.float64)
    if odds.shape != (len(asked), len(classes)):
        raise BadInput(f"the model answers with shape {odds.shape}, not one chance for each of {len(classes)} classes")
    place = {label: number for number, label in enumerate(classes)}
    true = odds[np.arange(len(asked)), [place[label] for label in asked.labels]]
    logs = np.log(np.maximum(odds, _SMALLEST))
    loss = -np.log(np.maximum(true, _SMALLEST))
    return np.column_stack([-np.sort(-odds, axis=1), true, loss, -(odds * logs).sum(axis=1)])


def _scores(net: Any, rows: Any) -> Any:
    import torch

    return net(torch.as_tensor(np.asarray(rows), dtype=torch.float32))
