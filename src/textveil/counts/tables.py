"""Columns by name, as scikit-learn's users have them: DataFrames in, `set_output`, columns in the order of `fit`.

Names of columns are public, like the vocabulary: they are never drawn and pass as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse

from textveil.core import BadInput
from textveil.core.errors import not_fitted
from textveil.core.params import choice

NO_TABLE = "counts must be a table of numbers, one row per document and one column per word"
CONTAINERS = ("default", "pandas", "polars")


class NamedColumns:
    """What a transformer of tables knows of its columns: `n_features_in_`, and `feature_names_in_` of a DataFrame."""

    n_features_in_: int
    feature_names_in_: np.ndarray

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns.

        Parameters
        ----------
        transform
            "default" (arrays, sparse where most cells are 0), "pandas" or "polars"; None changes nothing.
        """
        if transform is not None:
            self._sklearn_output_config = {"transform": choice("transform", transform, CONTAINERS)}
        return self

    def _take_columns(self, X: Any) -> None:
        self.n_features_in_ = width_of(X)
        names = names_of(X)
        if names is not None:
            self.feature_names_in_ = names
        else:
            self.__dict__.pop("feature_names_in_", None)

    def _check_columns(self, X: Any) -> None:
        """Refuse another number of columns than in `fit`, and a DataFrame whose columns stand in another order."""
        width = width_of(X)
        if width != self.n_features_in_:  # in the words of scikit-learn, which people look for
            raise BadInput(
                f"X has {width} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input",
                possible="counts made with the vocabulary of fit",
            )
        known, names = getattr(self, "feature_names_in_", None), names_of(X)
        if known is None or names is None or np.array_equal(known, names):
            return
        if sorted(known) == sorted(names):
            raise BadInput("the columns are not in the order of fit", possible="table[mechanism.feature_names_in_]")
        raise BadInput(
            "the columns are not those of fit: the feature names should match those that were passed during fit",
            possible="counts made with the vocabulary of fit",
        )

    def _check_names_in(self, names: Any) -> None:
        """Refuse names that are not those of `fit`, as many as there are columns."""
        if not hasattr(self, "n_features_in_"):
            raise not_fitted(self, "fit(X)")
        known = getattr(self, "feature_names_in_", None)
        if names is None:
            return
        if len(names) != self.n_features_in_:
            raise BadInput(f"input_features should have length {self.n_features_in_}, not {len(names)}")
        if known is not None and not np.array_equal(known, np.asarray(names, dtype=object)):
            raise BadInput("input_features is not equal to feature_names_in_")

    def _in_container(self, counts: Any, names: Callable[[], np.ndarray], X: Any) -> Any:
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform") or _container_of_all()
        if wanted == "pandas":
            import pandas as pd

            index = getattr(X, "index", None) if names_of(X) is not None else None
            if sparse.issparse(counts):
                return pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(counts), index=index, columns=names())
            return pd.DataFrame(counts, index=index, columns=names())
        if wanted == "polars":
            try:
                import polars as pl
            except ImportError:
                raise BadInput("polars is not installed", possible="set_output(transform='pandas')") from None
            dense = counts.toarray() if sparse.issparse(counts) else counts
            return pl.DataFrame(dense, schema=names().tolist(), orient="row")
        return counts


def width_of(data: Any) -> int:
    """The number of columns of a table, or BadInput."""
    shape: tuple[int, ...] | None = getattr(data, "shape", None)
    if shape is None:
        try:
            shape = np.asarray(data).shape
        except ValueError:  # rows of different lengths
            shape = ()
    if len(shape) == 1:
        raise BadInput(NO_TABLE, possible="Reshape your data: counts.reshape(1, -1) for one document")
    if len(shape) != 2 or shape[1] == 0:
        raise BadInput(NO_TABLE)
    return int(shape[1])


def counts_tags(tags: Any, *, seeded: bool) -> Any:
    """What scikit-learn is told of a transformer of counts; `tags` are those of any estimator."""
    tags.requires_fit, tags.non_deterministic, tags.transformer_tags.preserves_dtype = False, not seeded, []
    inputs = tags.input_tags
    inputs.string, inputs.two_d_array, inputs.sparse, inputs.positive_only = False, True, True, True
    return tags


def names_of(data: Any) -> np.ndarray | None:
    """The names of the columns of a DataFrame, where all of them are strings.

    >>> names_of(np.eye(2)) is None
    True
    """
    columns = getattr(data, "columns", None)
    if columns is None or not len(columns) or not all(isinstance(name, str) for name in columns):
        return None
    return np.asarray(list(columns), dtype=object)


def _container_of_all() -> str:
    """What scikit-learn was told to return everywhere (`sklearn.set_config`), where it is in use."""
    sklearn = sys.modules.get("sklearn")
    return str(sklearn.get_config().get("transform_output", "default")) if sklearn is not None else "default"
