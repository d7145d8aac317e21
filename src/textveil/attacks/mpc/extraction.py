"""mpc.extraction: how well a copy that was trained on a model's labels agrees with the model.

The protocol hides the weights, and the labels still tell about them. The adversary has inputs of its own and the label of
each (as any client has), trains a copy on most of them and compares on the rest. The copy is a network with one layer of
random features and a ridge fit: strong enough for small classifiers on sentence vectors, and quick. More queries give a
better copy; a server limits them (query budget, rate).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure
from textveil.attacks.mpc.seen import LabelsSeen
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample


class ExtractionAttack(Estimator):
    """Train a copy on the labels of some inputs and see how often it agrees with the model on the others.

    Parameters
    ----------
    queries
        How many labels the copy is trained on. None: three quarters of those at hand.
    features
        Random features beside the inputs themselves.
    ridge
        How much the copy is held back, against chance in few labels.
    """

    name = "mpc.extraction"
    sees = LabelsSeen
    needs: tuple[str, ...] = ()

    def __init__(self, queries: int | None = None, features: int = 0, ridge: float = 1.0):
        self.queries = queries
        self.features = features
        self.ridge = ridge

    def run(self, exposure: LabelsSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        count = 3 * len(exposure.rows) // 4 if self.queries is None else self.queries
        if not 4 <= count < len(exposure.rows):
            raise BadInput(
                f"the attack {self.name} needs more inputs than the {count:,} it asks about, and four of these"
            )
        order = rng.permutation(len(exposure.rows))
        asked, rest = order[:count], order[count:]
        copy = copied(exposure.rows[asked], exposure.labels[asked], self.features, self.ridge, rng)
        truth = exposure.labels[rest]
        hits = int((copy(exposure.rows[rest]) == truth).sum())
        largest = float(np.unique(exposure.labels, return_counts=True)[1].max() / len(exposure.labels))
        return Evidence(
            self.name, "agreement", hits / len(rest), largest, hits, len(rest), unit=Unit.PARTY, best_prior=largest,
            notes=(f"a copy trained on {count:,} labels; the largest class alone agrees in {largest:.1%}",),
        )  # fmt: skip

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        return AttackExample(cls(), labels_told)


def copied(rows: NDArray[Any], labels: NDArray[Any], features: int, ridge: float, rng: Any) -> Any:
    """A classifier trained on labels: ridge regression on the inputs, with random ReLU features beside them on wish."""
    classes = np.unique(labels)
    mean, spread = rows.mean(0), rows.std(0) + 1e-6
    hidden = rng.uniforms(rows.shape[1] * features).reshape(rows.shape[1], features) * 2 - 1

    def shown(x: NDArray[Any]) -> NDArray[Any]:
        z = (x - mean) / spread
        parts = [z, np.maximum(z @ hidden / np.sqrt(len(hidden)), 0), np.ones((len(x), 1))]
        return np.concatenate(parts, axis=1)

    x, y = shown(rows), (labels[:, None] == classes[None, :]).astype(float)
    weights = np.linalg.solve(x.T @ x + ridge * np.sqrt(len(x)) * np.eye(x.shape[1]), x.T @ (y - y.mean(0)))
    return lambda new: classes[(shown(new) @ weights + y.mean(0)).argmax(1)]


def labels_told(tells: str) -> LabelsSeen:
    """A linear model's labels; or labels that do not depend on the inputs."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(800, 6))
    score = rows @ np.array([1.0, -2.0, 0.5, 1.0, 0.0, 3.0]) if tells == "all" else rng.normal(size=len(rows))
    return LabelsSeen(rows, (score > 0).astype(np.int64))


__all__ = ["ExtractionAttack", "copied"]
