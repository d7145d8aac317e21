"""TextHide (Huang et al. 2020, Algorithm 1): encodings are mixed and their signs flipped before a head is trained on them.

Claim. None. The paper states no theorem; it argues from the hardness of a subset-sum problem. Two facts defeat it:
- a mask is a vector of signs, so |hidden| = |mixed| whatever the mask, and few masks are used many times;
- the gradient of the encoder is that of a layer H = X W, dL/dW = X^T G: masks and mixing change G alone, and the rows of X
  (the tokens of the batch) span what is sent.
So a release is labelled broken, and `attacks.texthide` holds the attacks.

The scheme. Of a batch of b encodings e_i with labels y_i (rows: one-hot, or one number), k - 1 random permutations, shares
|N(0, I_k)| scaled to sum 1, and a mask for each item from a pool of m:
    hidden_i = mask_i * sum_j share_ij e_perm_j(i)        label_i = sum_j share_ij y_perm_j(i)
inter: ceil(k / 2) of the k come from the batch and floor(k / 2) from public text; labels are mixed over the private ones
alone, their shares scaled to sum 1 (section 3.3). m = 0: no mask (mix-only); m = None: a new mask for every item.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.core import Adjacency, BadInput, Estimator, Event, Guarantee, NoPromise, Shape, Unit, Unpriced
from textveil.core.example import Example
from textveil.core.params import choice, positive_integer

SCHEMES = ("intra", "inter")
WHY = (
    "TextHide is broken: the gradients that it sends show the tokens of a batch, and its masks can be told apart and taken "
    "off; it protects nobody"
)
SOURCE = "Huang et al. 2020, TextHide (Algorithms 1 and 2); no theorem"
Signs = npt.NDArray[np.int8]


@dataclass(frozen=True)
class HidingPlan:
    """(m, k)-TextHide. masks: 0 uses none, None a new one for each item."""

    masks: int | None = 256
    mixed: int = 4
    scheme: str = "intra"

    def __post_init__(self) -> None:
        choice("scheme", self.scheme, SCHEMES)
        positive_integer("mixed", self.mixed)
        if self.masks is not None and (isinstance(self.masks, bool) or self.masks < 0):
            raise BadInput(f"masks must be 0 (none), a whole number, or None (a new one each time), not {self.masks}")

    @property
    def private(self) -> int:
        """How many of the k are private texts."""
        return -(-self.mixed // 2) if self.scheme == "inter" else self.mixed


@dataclass(frozen=True)
class HidingKey:
    """The secret of one batch. Columns of `rows` from `private` on count public encodings."""

    rows: npt.NDArray[np.int64]  # (b, k): what is mixed
    shares: npt.NDArray[np.float32]  # (b, k)
    signs: Signs  # (b, width)
    mask_numbers: npt.NDArray[np.int64]  # (b,), -1 without a pool
    private: int


def mask_pool(masks: int, width: int, key: bytes) -> Signs:
    """So many masks of +1 and -1, the same for the same key (SHAKE-256): a client keeps its pool by keeping its key."""
    bits = np.unpackbits(np.frombuffer(hashlib.shake_256(key).digest(-(-masks * width // 8)), np.uint8))
    return (bits[: masks * width].reshape(masks, width).astype(np.int8) * 2 - 1).astype(np.int8)


def drawn_key(plan: HidingPlan, pool: Signs, batch: int, *, noise: Any, public: int = 0) -> HidingKey:
    """Draw what hides one batch (lines 7 to 11). `pool` has a row for each mask, and the width even where it has none."""
    own = plan.private
    if plan.mixed > own and public < 1:
        raise BadInput("the scheme inter mixes in public text, and there is none")
    columns = [np.arange(batch)] + [noise.permutation(batch) for _ in range(own - 1)]
    columns += [noise.below(public, batch) for _ in range(plan.mixed - own)]
    shares = np.abs(noise.normals((batch, plan.mixed)))
    shares /= shares.sum(1, keepdims=True)
    numbers = np.full(batch, -1)
    signs: Signs = np.ones((batch, pool.shape[1]), np.int8)
    if plan.masks is None:
        signs = (noise.below(2, signs.shape) * 2 - 1).astype(np.int8)
    elif len(pool):
        numbers = noise.below(len(pool), batch)
        signs = pool[numbers]
    return HidingKey(np.stack(columns, 1), shares.astype(np.float32), signs, numbers, own)


def hide(key: HidingKey, encodings: Any, public: Any = None) -> Any:
    """Hidden encodings (line 12), of arrays or of tensors with a gradient."""
    mixture = 0
    for column in range(key.rows.shape[1]):
        among = encodings if column < key.private else public
        mixture = mixture + _like(key.shares[:, [column]], encodings) * among[key.rows[:, column]]
    return _like(key.signs, encodings) * mixture


def mix_labels(key: HidingKey, labels: Any) -> Any:
    """Mixed labels (line 13, and the formula of section 3.3)."""
    own = key.shares[:, : key.private] / key.shares[:, : key.private].sum(1, keepdims=True)
    return sum(_like(own[:, [c]], labels) * labels[key.rows[:, c]] for c in range(key.private))


def _like(array: npt.NDArray[Any], values: Any) -> Any:
    """The array as the kind and type of number that `values` has."""
    if isinstance(values, np.ndarray):
        return array.astype(values.dtype)
    import torch

    return torch.as_tensor(array, dtype=values.dtype)


class TextHide(Estimator):
    """Hides a batch of encodings on one machine. Broken: kept to be measured and attacked.

    Parameters
    ----------
    masks
        Size of the pool; 0: none, None: a new mask for each item.
    mixed
        How many encodings are mixed into one.
    scheme
        "intra", or "inter" with public encodings.
    seed
        None: secret randomness; a number makes a draft.

    Examples
    --------
    >>> encodings, labels = np.eye(4, dtype=np.float32), np.eye(4, 2, dtype=np.float32)
    >>> hidden, mixed = TextHide(masks=0, mixed=1).transform((encodings, labels))
    >>> bool((hidden == encodings).all() and (mixed == labels).all())
    True
    """

    name = "texthide.model"

    def __init__(self, masks: int | None = 256, mixed: int = 4, scheme: str = "intra", seed: int | None = None):
        self.masks = masks
        self.mixed = mixed
        self.scheme = scheme
        self.seed = seed

    @property
    def plan(self) -> HidingPlan:
        return HidingPlan(self.masks, self.mixed, self.scheme)

    @property
    def guarantee_(self) -> Guarantee:
        """What is promised: nothing, and it is broken."""
        return Guarantee(NoPromise(WHY, "broken"), Unit.EXAMPLE, Adjacency.REPLACE, (), SOURCE)

    def event(self, shape: Shape) -> Event:
        """An unpriced one: nothing is promised."""
        return broken_event()

    def check(self) -> None:
        """Refuse settings outside their range."""
        _ = self.plan

    def check_data(self, data: Any, shape: Shape) -> None:
        """Refuse what is no encodings with labels."""
        self.check()
        encodings, labels = np.asarray(data[0]), np.asarray(data[1])
        if encodings.ndim != 2 or labels.ndim != 2 or len(encodings) != len(labels):
            raise BadInput("TextHide takes (encodings, labels): two tables with a row for each example")

    def apply(self, data: Any, *, noise: Any) -> tuple[Any, Any]:
        """Hidden encodings and mixed labels, in the order of the data. inter: data has public encodings as a third part."""
        self.check_data(data, Shape())
        encodings, labels, *more = (np.asarray(part, np.float32) for part in data)
        public = more[0] if more else None
        pool = mask_pool(self.masks or 0, encodings.shape[1], noise.words(4).tobytes())
        count = 0 if public is None else len(public)
        key = drawn_key(self.plan, pool, len(encodings), noise=noise, public=count)
        return hide(key, encodings, public), mix_labels(key, labels)

    def transform(self, data: Any) -> tuple[Any, Any]:
        """The same, outside of any ledger."""
        from textveil.accounting.account import unrecorded

        return self.apply(data, noise=unrecorded(self.seed))

    @classmethod
    def example(cls) -> Example:
        """What the conformance suite checks it on."""
        numbers = np.arange(48.0, dtype=np.float32).reshape(8, 6) / 7 + 1
        return Example(cls(masks=16, mixed=2), (numbers, np.eye(8, 2, dtype=np.float32)), see=lambda hidden: hidden[0])


def broken_event() -> Event:
    """What the ledger notes of any use of TextHide."""
    return Event(
        Unpriced(NoPromise(WHY, "broken")), Unit.EXAMPLE, Adjacency.REPLACE, source=SOURCE, mechanism=TextHide.name
    )


__all__ = ["HidingKey", "HidingPlan", "TextHide", "broken_event", "drawn_key", "hide", "mask_pool", "mix_labels"]
