"""What limited precision is compared with: full local privacy for whole documents, and random-projection sketches.

Claim. Both hide a whole document among all documents of at most `cap` words (a public cap, enforced by dropping words at
random from longer ones).
- FullLocal: two such documents are at L1 distance 2 cap at most, so Laplace or two-sided geometric noise of scale
  2 cap / epsilon in every cell is epsilon-DP for replacing a document. `budget="feature"` is what the paper plots: scale
  cap / epsilon and epsilon "per feature", whose true total is 2 epsilon (the L1 distance again, not the number of features).
- Sketch: the row times a public Gaussian matrix of `width` columns moves by at most cap * the longest row of the matrix (L2);
  Gaussian noise calibrated to that gives (epsilon, delta), and the transposed matrix turns the sketch back into counts.

They are yardsticks: their noise is computed in doubles, which a release should not rely on.

Source. Dwork et al. 2006; Ghosh et al. 2009; Kenthapadi et al. 2013 (sketches); Schofield et al. 2019, section 2.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse

from textveil.accounting import guarantee_of
from textveil.accounting.account import unrecorded
from textveil.accounting.calibration import gaussian_multiplier, laplace_multiplier
from textveil.core import (
    Adjacency,
    Estimator,
    Event,
    GaussianNoise,
    Guarantee,
    LaplaceNoise,
    Shape,
    Unit,
)
from textveil.core.draft import as_draft
from textveil.core.events import Noise
from textveil.core.params import choice, open_fraction, positive, positive_integer
from textveil.noise import Source

from .matrix import checked
from .public_randomness import public_source
from .tables import NamedColumns, counts_tags

DOUBLES = "noise was computed in doubles: a yardstick, not for release"
_CELLS_AT_ONCE = 2_000_000


class _Yardstick(NamedColumns, Estimator):
    """What the baselines share: they are fitted to nothing, and touch each document once.

    Parameters
    ----------
    epsilon
        Total loss of replacing one document by another.
    cap
        Public cap of words per document; longer ones lose words at random.
    clamp
        Turn negative noisy counts into 0.
    seed
        None draws from the secure source; a number makes a draft, which protects nobody.
    """

    name: str
    source: str
    seed: int | None
    cap: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Take the number of columns, which is public. No count is looked at."""
        self._take_columns(X)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def transform(self, X: Any) -> Any:
        """Noisy counts, outside any ledger."""
        return self._in_container(
            self.apply(X, noise=unrecorded(self.seed, of_a_transform=True)), self.get_feature_names_out, X
        )

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """`fit` and `transform` in one."""
        return self.fit(X).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns: those of `fit`, or numbers."""
        self._check_names_in(input_features)
        names = getattr(self, "feature_names_in_", None) if input_features is None else input_features
        names = [f"word{j}" for j in range(self.n_features_in_)] if names is None else names
        return np.asarray(list(names), dtype=object)

    def __sklearn_tags__(self) -> Any:
        return counts_tags(super().__sklearn_tags__(), seeded=self.seed is not None)

    def apply(self, data: Any, *, noise: Source) -> Any:
        if self.__sklearn_is_fitted__():
            self._check_columns(data)
        else:
            self.fit(data)
        rows = truncated(checked(data), positive_integer("cap", self.cap), noise)
        step = max(1, _CELLS_AT_ONCE // rows.shape[1])
        parts = [self._noised(rows[i : i + step].toarray(), noise) for i in range(0, rows.shape[0], step)]
        return np.concatenate(parts) if parts else np.zeros(rows.shape)

    def _noised(self, counts: np.ndarray, noise: Source) -> np.ndarray:
        raise AttributeError

    def _event(self, noise: Noise) -> Event:
        assumes = (f"documents are cut to {self.cap} words, a public cap", DOUBLES)
        return Event(noise, Unit.DOCUMENT, Adjacency.REPLACE, 1, assumes, self.source, self.name)

    def event(self, shape: Shape | None = None) -> Event:
        raise NotImplementedError

    def _guarantee(self, delta: float | None) -> Guarantee:
        event = self.event()
        return guarantee_of(event if self.seed is None else as_draft(event), delta=delta)


class FullLocal(_Yardstick):
    """Laplace or geometric noise that hides whole documents of up to `cap` words.

    Parameters
    ----------
    noise
        "geometric" (whole numbers) or "laplace".
    budget
        "total", or "feature": epsilon per feature as the paper plots it, whose true total is 2 epsilon.

    Examples
    --------
    >>> FullLocal(epsilon=2.0, cap=100).guarantee_.loss.epsilon
    2.0
    >>> FullLocal(epsilon=2.0, cap=100, budget="feature").guarantee_.loss.epsilon
    4.0
    """

    name = "counts.full_local"
    source = "Dwork et al. 2006 (Laplace); Ghosh et al. 2009 (geometric); L1 distance of two capped documents"

    def __init__(
        self,
        epsilon: float = 2.0,
        cap: int = 100,
        noise: str = "geometric",
        budget: str = "total",
        clamp: bool = True,
        seed: int | None = None,
    ):
        self.epsilon = epsilon
        self.cap = cap
        self.noise = noise
        self.budget = budget
        self.clamp = clamp
        self.seed = seed

    @property
    def multiplier(self) -> float:
        """Scale of the noise over the cap."""
        positive("epsilon", self.epsilon)
        whole = choice("budget", self.budget, ("total", "feature")) == "total"
        return laplace_multiplier(self.epsilon, Adjacency.REPLACE if whole else Adjacency.ADD_REMOVE)

    def event(self, shape: Shape | None = None) -> Event:
        choice("noise", self.noise, ("geometric", "laplace"))
        positive_integer("cap", self.cap)
        return self._event(LaplaceNoise(self.multiplier))

    @property
    def guarantee_(self) -> Guarantee:
        return self._guarantee(None)

    def _noised(self, counts: np.ndarray, noise: Source) -> np.ndarray:
        scale = self.multiplier * self.cap
        steps = noise.exponentials((2, *counts.shape)) * scale
        if self.noise == "geometric":
            np.floor(steps, out=steps)
        out = np.rint(counts + steps[0] - steps[1]).astype(np.int64)
        return np.maximum(out, 0) if self.clamp else out


class Sketch(_Yardstick):
    """A noisy random projection of each document, turned back into (real-valued) counts.

    Parameters
    ----------
    delta
        Chance that the bound fails.
    width
        Columns of the random projection.

    Examples
    --------
    >>> out = Sketch(epsilon=2.0, delta=1e-6, cap=50, width=20, seed=1).fit_transform(np.eye(3, 40, dtype=int))
    >>> out.shape
    (3, 40)
    """

    name = "counts.sketch"
    source = "Kenthapadi et al. 2013 (private Johnson-Lindenstrauss projection)"

    def __init__(
        self, epsilon: float = 2.0, delta: float = 1e-6, cap: int = 100, width: int = 100, seed: int | None = None
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.cap = cap
        self.width = width
        self.seed = seed

    @property
    def multiplier(self) -> float:
        return gaussian_multiplier(self.epsilon, open_fraction("delta", self.delta), Adjacency.REPLACE)

    def event(self, shape: Shape | None = None) -> Event:
        return self._event(GaussianNoise(self.multiplier))

    @property
    def guarantee_(self) -> Guarantee:
        return self._guarantee(self.delta)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the public projection."""
        super().fit(X)
        width = positive_integer("width", self.width)
        self.projection_ = public_source(self.seed).normals((self.n_features_in_, width)) / np.sqrt(width)
        return self

    def _noised(self, counts: np.ndarray, noise: Source) -> np.ndarray:
        longest = float(np.linalg.norm(self.projection_, axis=1).max())
        sketch = counts @ self.projection_
        sketch += noise.normals(sketch.shape) * (self.multiplier * self.cap * longest)
        return sketch @ self.projection_.T


def truncated(rows: sparse.csr_array, cap: int, source: Source) -> sparse.csr_array:
    """Documents of at most `cap` words; longer ones lose words drawn at random.

    >>> from textveil.noise import seeded
    >>> truncated(checked([[5, 7], [1, 0]]), 6, seeded(1)).sum(axis=1).tolist()
    [6, 1]
    """
    lengths = np.asarray(rows.sum(axis=1)).ravel()
    out = rows.copy()
    for row in np.flatnonzero(lengths > cap):
        cells = slice(rows.indptr[row], rows.indptr[row + 1])
        tokens = np.repeat(np.arange(cells.stop - cells.start), rows.data[cells])
        kept = tokens[source.permutation(len(tokens))[:cap]]
        out.data[cells] = np.bincount(kept, minlength=cells.stop - cells.start)
    out.eliminate_zeros()
    return out
