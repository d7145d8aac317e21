"""A linear chain of labels over tokens that are rows of slots: what the extractors of `hashed` and the tagger of `pii` share.

Score of a labelling y: the weights of the slots of every token for its label, and those of the steps between labels. Here
are the plain versions (and the oracle of the tests); `chain_kernel` has them compiled.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np


def has_numba() -> bool:
    """Whether the compiled versions can be used."""
    return find_spec("numba") is not None


def slow_emissions(indices: np.ndarray, starts: np.ndarray, first: int, last: int, weights: np.ndarray) -> np.ndarray:
    rows = weights[indices[starts[first] : starts[last]]].astype(np.float64)
    ends = np.concatenate([np.zeros((1, weights.shape[1])), np.cumsum(rows, axis=0)])
    places = starts[first : last + 1] - starts[first]
    return ends[places[1:]] - ends[places[:-1]]


def slow_viterbi(scores: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """The best path, the first label where two are equal."""
    best, back = scores[0], list[np.ndarray]()
    for row in scores[1:]:
        reach = best[:, None] + steps
        back.append(reach.argmax(axis=0))
        best = reach.max(axis=0) + row
    path = [int(best.argmax())]
    for step in reversed(back):
        path.append(int(step[path[-1]]))
    return np.array(path[::-1], np.int64)


def slow_score(scores: np.ndarray, steps: np.ndarray, path: np.ndarray) -> float:
    return float(scores[np.arange(len(path)), path].sum() + steps[path[:-1], path[1:]].sum())


__all__ = ["has_numba", "slow_emissions", "slow_score", "slow_viterbi"]
