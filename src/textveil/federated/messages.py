"""What travels between server and nodes, as Flower records. Errors travel as fixed codes: exception text never does.

    server -> node   "weights": ArrayRecord, one array for each trainable parameter, by name
                     "order": ConfigRecord
                         round, users (numbers of units, a list of int), seed, part
                         clip (0.0: none), clipping, weighting, cap
                         asks (what may come back besides the sum: "loss", "below")
    node -> server   "sum": ArrayRecord of the same names: the sum of weight * clipped update over its units
                     "tally": ConfigRecord
                         count (units in the sum), weight (sum of their weights), refused (codes, one for each unit left out)
                         loss (sum of weight * mean loss) and below (units whose norm was at most the clip), where asked
    node -> server   "tally" alone with "error": one of the codes, when there is no sum

A node with several units returns their sum; a message with one unit returns that unit's update. What a unit's examples say
can only leave that unit out of the sum ("not-finite", "failed", "empty"), never a whole node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from .weights import Flat, Layout, WrongShape

if TYPE_CHECKING:
    from flwr.app import Message, RecordDict


class Code(StrEnum):
    """Why a unit or a node is left out of a round."""

    NO_REPLY = "no-reply"  # nothing came within the time
    FAILED = "failed"  # its own code stopped; nobody is told how
    EMPTY = "empty"  # it has no examples
    NOT_FINITE = "not-finite"
    WRONG_SHAPE = "wrong-shape"
    TOO_LONG = "too-long"  # longer than clipped updates can be
    BAD_REPLY = "bad-reply"
    UNKNOWN_UNIT = "unknown-unit"
    NOT_ALLOWED = "not-allowed"  # it was asked for something that its owner does not give


@dataclass(frozen=True)
class Order:
    """What a node is asked to do in a round."""

    round: int
    users: tuple[int, ...]
    seed: int = 0
    part: int = 0
    clip: float | None = None
    clipping: str = "flat"
    weighting: str = "equal"
    cap: int = 100
    asks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reply:
    """What a node sent back, checked: a sum and its tally, or a code."""

    node: int
    users: tuple[int, ...]
    total: Flat | None = None
    count: int = 0
    weight: float = 0.0
    loss: float | None = None
    below: int = 0
    refused: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class ServerView:
    """What the server sees in one round, for a tap: the weights it sent and every reply, before noise."""

    round: int
    weights: Flat
    layout: Layout
    replies: tuple[Reply, ...] = field(default_factory=tuple)


def order_content(layout: Layout, weights: Flat, order: Order) -> RecordDict:
    """The content of a message to a node."""
    from flwr.app import ConfigRecord, RecordDict

    config = {
        "round": order.round,
        "users": list(order.users),
        "seed": order.seed,
        "part": order.part,
        "clip": float(order.clip or 0.0),
        "clipping": order.clipping,
        "weighting": order.weighting,
        "cap": order.cap,
        "asks": list(order.asks),
    }
    return RecordDict({"weights": array_record(layout, weights), "order": ConfigRecord(config)})  # type: ignore[arg-type]


def array_record(layout: Layout, flat: Flat) -> Any:
    """Named arrays as Flower sends them."""
    from flwr.app import Array, ArrayRecord

    return ArrayRecord({name: Array(value) for name, value in layout.arrays(flat).items()})


def read_order(content: RecordDict) -> Order:
    """The order of a message; KeyError, TypeError or ValueError where it is none."""
    config: Any = content["order"]
    return Order(
        round=int(config["round"]),
        users=tuple(int(u) for u in config["users"]),
        seed=int(config["seed"]),
        part=int(config["part"]),
        clip=float(config["clip"]) or None,
        clipping=str(config["clipping"]),
        weighting=str(config["weighting"]),
        cap=int(config["cap"]),
        asks=tuple(str(a) for a in config["asks"]),
    )


def read_arrays(record: Any, layout: Layout) -> Flat:
    """The flat vector of an ArrayRecord; `WrongShape` if it holds anything else than the layout says."""
    try:
        arrays = {str(name): np.asarray(array.numpy()) for name, array in record.items()}
    except Exception:  # bytes of a stranger: whatever numpy says of them is no news
        raise WrongShape("no arrays") from None
    return layout.flat(arrays)


def reply_content(
    layout: Layout,
    total: Flat,
    *,
    count: int,
    weight: float,
    refused: Sequence[str] = (),
    loss: float | None = None,
    below: int | None = None,
) -> RecordDict:
    """The content of a node's reply."""
    from flwr.app import ConfigRecord, RecordDict

    tally: dict[str, Any] = {"count": count, "weight": float(weight), "refused": [str(code) for code in refused]}
    if loss is not None:
        tally["loss"] = float(loss)
    if below is not None:
        tally["below"] = below
    return RecordDict({"sum": array_record(layout, total), "tally": ConfigRecord(tally)})


def refusal_content(code: Code) -> RecordDict:
    """A reply that says only why there is none."""
    from flwr.app import ConfigRecord, RecordDict

    return RecordDict({"tally": ConfigRecord({"error": str(code)})})


def read_reply(message: Message, node: int, users: tuple[int, ...], layout: Layout) -> Reply:
    """A reply, checked: names, shapes, finite values, counts. Whatever is wrong with it becomes a code."""
    if message.has_error():
        return Reply(node, users, error=Code.FAILED)
    try:
        tally: Any = message.content["tally"]
        if "error" in tally:
            return Reply(node, users, error=_known(tally["error"]))
        total = read_arrays(message.content["sum"], layout)
        count, weight = int(tally["count"]), float(tally["weight"])
        refused = tuple(_known(code) for code in tally["refused"])
        loss = float(tally["loss"]) if "loss" in tally else None
        below = int(tally.get("below", 0))
    except WrongShape:
        return Reply(node, users, error=Code.WRONG_SHAPE)
    except Exception:
        return Reply(node, users, error=Code.BAD_REPLY)
    if not (0 <= count <= len(users) and 0 <= below <= count and 0 <= weight < 1e12):
        return Reply(node, users, error=Code.BAD_REPLY)
    if not np.isfinite(total).all():
        return Reply(node, users, error=Code.NOT_FINITE)
    return Reply(node, users, total, count, weight, loss, below, refused[: len(users)])


def _known(code: Any) -> str:
    """One of the codes; a stranger's words are not repeated."""
    return Code(code).value if code in set(Code) else Code.BAD_REPLY.value
