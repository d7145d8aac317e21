"""Which places of a text are hidden while a masked-word model learns: decided for each text by keys of its own.

Private training draws the keys from the source of its noise, one text at a time (`draw` of a net); a plain fit, which
promises nothing, draws places from torch's generator. Otherwise every seventh place is hidden, so that a text has one loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch

SHARE = 0.15  # of the open places


class Words(Protocol):
    """A source of uniform 64-bit words (one of `textveil.noise`, which this room does not import)."""

    def words(self, n: int) -> Any: ...


@dataclass(frozen=True)
class Keyed:
    """An example and the keys that order its places."""

    example: Any
    keys: Any  # one 64-bit word for each place that is ever read


def plain(example: Any) -> Any:
    """The example without its keys.

    >>> plain(Keyed("a text", ())), plain("a text")
    ('a text', 'a text')
    """
    return example.example if isinstance(example, Keyed) else example


def hidden_places(example: Any, count: int, training: bool) -> list[int]:
    """Places among 0 .. count-1 that are hidden.

    >>> hidden_places(Keyed("", np.array([5, 1, 9, 3], np.uint64)), 4, True)
    [1]
    >>> hidden_places("", 12, False)
    [3, 10]
    """
    wanted = max(1, round(SHARE * count))
    if isinstance(example, Keyed):
        return np.argsort(example.keys[:count], kind="stable")[:wanted].tolist()
    if training:
        return torch.randperm(count)[:wanted].tolist()
    return list(range(3, count, 7)) if count > 3 else [0][:count]
