"""What the text classifiers share: texts and labels in, a fitted network, chances and labels out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..core import BadInput, Estimator
from ..core.errors import not_fitted
from ..core.sklearn_tags import classifier_tags
from .data import WordTable, checked, class_numbers
from .fit import FitPlan, fit, own_randomness, probabilities


class TextClassifier(Estimator):
    """Base of the classifiers, with scikit-learn's manners. A subclass builds the network, codes texts and scores them."""

    _estimator_type = "classifier"  # for scikit-learn before its tags
    seed: int

    def fit(self, texts: Sequence[str], labels: Sequence[Any]) -> Self:
        """Learn from labelled texts, without any promise of privacy."""
        texts = list(checked(texts))
        self.classes_, targets = class_numbers(labels, len(texts))
        self.table_ = self._table(texts)
        coded = [self._code(text) for text in texts]
        with own_randomness(self.seed):
            self.net_ = self._build(len(self.classes_))
            self.losses_ = fit(self.net_, self._scores, coded, targets, self._plan())
        return self

    def predict_proba(self, texts: Sequence[str]) -> np.ndarray:
        """The chance of each class, one row a text; columns follow `classes_`."""
        if not self.__sklearn_is_fitted__():
            raise not_fitted(self, "fit(texts, labels)")
        coded = [self._code(text) for text in checked(texts)]
        return probabilities(self.net_, self._scores, coded) if coded else np.empty((0, len(self.classes_)))

    def predict(self, texts: Sequence[str]) -> np.ndarray:
        """The likeliest label of each text."""
        odds = self.predict_proba(texts)
        return self.classes_[odds.argmax(axis=1)]

    def score(self, texts: Sequence[str], labels: Sequence[Any]) -> float:
        """The share of texts whose label is predicted."""
        return float(np.mean(self.predict(texts) == np.asarray(labels)))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "net_")

    def __sklearn_tags__(self) -> Any:
        return classifier_tags(super().__sklearn_tags__())

    # ---- of the subclass ---------------------------------------------------------------------------------------

    def _table(self, texts: Sequence[str]) -> WordTable:
        raise BadInput(f"{type(self).__name__} has no table of words")

    def _code(self, text: str) -> np.ndarray:
        raise BadInput(f"{type(self).__name__} cannot read texts")

    def _build(self, classes: int) -> Any:
        raise BadInput(f"{type(self).__name__} has no network")

    def _scores(self, net: Any, coded: Sequence[np.ndarray]) -> Any:
        raise BadInput(f"{type(self).__name__} has no scores")

    def _plan(self) -> FitPlan:
        raise BadInput(f"{type(self).__name__} has no plan")
