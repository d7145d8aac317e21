"""A classifier learnt from the release and tested on clear text, beside the same learnt from the original.

Without a test file the records themselves are divided into five folds by a fixed rule: the clear texts of a fold are read
by a classifier that learnt from the other folds, once as they were released and once as they were. So nothing that is
tested was learnt from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from textveil.attacks.evidence import lower_limit, upper_limit
from textveil.core.utility import Utility
from textveil.recipes.use.bags import Bags
from textveil.recipes.use.labels import FOLDS, folds_of
from textveil.recipes.use.linear import Seeing, predictions


@dataclass(frozen=True)
class Learning:
    """What is learnt from and tested on. Without a test set (`test`, `asked`) folds are made."""

    released: Bags
    original: Bags
    numbers: np.ndarray
    classes: int
    test: Bags | None = None
    asked: np.ndarray | None = None


class Correct(NamedTuple):
    """Which answers were right: of the classifier learnt from the release, from the original, and of the majority."""

    released: np.ndarray
    original: np.ndarray
    majority: np.ndarray


def share_interval(right: np.ndarray) -> tuple[float, float]:
    """The exact 95 % interval of a share.

    >>> [round(limit, 3) for limit in share_interval(np.array([True] * 8 + [False] * 2))]
    [0.444, 0.975]
    """
    hits, tries = float(right.sum()), float(len(right))
    return lower_limit(hits, tries, 0.975), upper_limit(hits, tries, 0.975)


def learn_and_test(learning: Learning, seeing: Seeing) -> Correct:
    """Learn from both sides and test each on the same clear texts."""
    return Correct(
        correct_answers(learning, learning.released, seeing),
        correct_answers(learning, learning.original, seeing),
        _of_majority(learning),
    )


def correct_answers(learning: Learning, learnt_from: Bags, seeing: Seeing) -> np.ndarray:
    """Which clear texts a classifier learnt from these bags labels rightly."""
    numbers, classes = learning.numbers, learning.classes
    if learning.test is not None and learning.asked is not None:
        return predictions(seeing, learnt_from, numbers, classes, learning.test) == learning.asked
    fold, right = folds_of(numbers), np.zeros(len(numbers), bool)
    for number in range(FOLDS):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        said = predictions(seeing, learnt_from.take(train), numbers[train], classes, learning.original.take(test))
        right[test] = said == numbers[test]
    return right


def _of_majority(learning: Learning) -> np.ndarray:
    largest = int(np.bincount(learning.numbers).argmax())
    return (learning.numbers if learning.asked is None else learning.asked) == largest


def utility_of(learning: Learning, seeing: Seeing, task: str, notes: tuple[str, ...] = ()) -> Utility:
    """The figures of one classifier."""
    correct = learn_and_test(learning, seeing)
    tested, records = len(correct.released), len(learning.numbers)
    train = records if learning.test is not None else records - -(-records // FOLDS)
    how_tested = () if learning.test is not None else (f"{FOLDS} folds of the same records, tested on the clear texts",)
    return Utility(
        task,
        "accuracy",
        float(correct.released.mean()),
        float(correct.original.mean()),
        float(correct.majority.mean()),
        share_interval(correct.released),
        sizes={"train": train, "test": tested, "labels": learning.classes},
        how=seeing.how,
        notes=(*how_tested, *notes),
    )
