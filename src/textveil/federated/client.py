"""The ClientApp: train for each unit of the list, clip each, return the sum. Nothing that it raises reaches the server.

Claim. What a node returns is the sum over its units of weight * clipped update, each of norm at most the clip; a unit whose
update cannot be made or is not finite adds zero and moves no other unit's part. Exceptions become fixed codes, here, since
Flower would forward their text.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .clipping import clipped, is_finite, norm_of
from .local import LocalStep, LocalUpdate
from .messages import Code, Order, read_arrays, read_order, refusal_content, reply_content
from .task import Task
from .weights import Flat, Layout, WrongShape, layout_of, put_into

if TYPE_CHECKING:
    from flwr.app import Context, Message, RecordDict
    from flwr.clientapp import ClientApp

UnitExamples = Sequence[Sequence[Any]]  # the examples of each unit that this node can train for


@dataclass(frozen=True)
class ClientSetup:
    """What a node needs. It is picklable and small: `users` opens the data where it is used, once in a process.

    sends_examples: whether this node gives its examples away (strategy `central`); no other strategy asks.
    """

    task: Task
    users: Callable[[], UnitExamples]
    local: LocalStep
    threads: int | None = None  # of torch; None leaves it as it is
    sends_examples: bool = False
    token: str = field(default_factory=lambda: secrets.token_hex(8))


@dataclass(frozen=True)
class HeldUnits:
    """Units that are in memory already, for a run within this process."""

    units: UnitExamples

    def __call__(self) -> UnitExamples:
        return self.units


@dataclass
class OpenedNode:
    """The net and the data of a node, in the process that trains."""

    net: Any
    layout: Layout
    users: UnitExamples


_OPEN: dict[str, OpenedNode] = {}  # by token: a process serves many messages of one run


def opened(setup: ClientSetup) -> OpenedNode:
    """The node, opened when a process first needs it."""
    if setup.token not in _OPEN:
        _OPEN.clear()
        import torch

        if setup.threads is not None:
            torch.set_num_threads(setup.threads)
        net = setup.task.build()
        _OPEN[setup.token] = OpenedNode(net, layout_of(net), setup.users())
    return _OPEN[setup.token]


def make_client_app(setup: ClientSetup) -> ClientApp:
    """A Flower ClientApp: "train" sums updates, "query" tells how many units the node has, "train.examples" gives some."""
    from flwr.clientapp import ClientApp

    app = ClientApp()

    @app.train()
    def train(message: Message, context: Context) -> Message:
        return _answer(message, lambda: trained_sum(setup, message.content))

    @app.query()
    def query(message: Message, context: Context) -> Message:
        return _answer(message, lambda: _count(setup))

    @app.train("examples")
    def examples(message: Message, context: Context) -> Message:
        from .central import examples_content

        return _answer(message, lambda: examples_content(setup, message.content))

    return app


def _answer(message: Message, make: Callable[[], RecordDict]) -> Message:
    """The reply; whatever goes wrong becomes a code."""
    from flwr.app import Message as Answer

    try:
        content = make()
    except WrongShape:
        content = refusal_content(Code.WRONG_SHAPE)
    except Exception:  # its text may hold what the unit wrote
        content = refusal_content(Code.FAILED)
    return Answer(content, reply_to=message)


def _count(setup: ClientSetup) -> RecordDict:
    from flwr.app import ConfigRecord, RecordDict

    return RecordDict({"tally": ConfigRecord({"units": len(opened(setup).users)})})


def trained_sum(setup: ClientSetup, content: RecordDict) -> RecordDict:
    """Train for each unit that is asked for, and sum up."""
    node, order = opened(setup), read_order(content)
    weights = read_arrays(content["weights"], node.layout)
    total, weight, loss, below = np.zeros(node.layout.size, np.float64), 0.0, 0.0, 0
    refused: list[str] = []
    for user, found in zip(order.users, _unit_updates(setup, node, order, weights), strict=True):
        if isinstance(found, Code):
            refused.append(found)
            continue
        own = unit_weight(order, len(node.users[user]))
        below += norm_of(found.update) <= (order.clip or np.inf)
        update = found.update if order.clip is None else clipped(found.update, order.clip, order.clipping, node.layout)
        total += own * update
        weight, loss = weight + own, loss + own * found.loss
    return reply_content(
        node.layout,
        total.astype(np.float32),
        count=len(order.users) - len(refused),
        weight=weight,
        refused=refused,
        loss=loss if "loss" in order.asks else None,
        below=below if "below" in order.asks else None,
    )


def unit_weight(order: Order, examples: int) -> float:
    """Equal, capped at 1, or by the number of examples (which no noise has a price for)."""
    if order.weighting == "examples":
        return float(examples)
    return min(1.0, examples / order.cap) if order.weighting == "capped" else 1.0


def _unit_updates(setup: ClientSetup, node: OpenedNode, order: Order, weights: Flat) -> Iterator[LocalUpdate | Code]:
    """Every unit's update in the order's order: many at once where the local step can, else one after the other."""
    size = getattr(setup.local, "at_once", 1)
    for start in range(0, len(order.users), size):
        users = order.users[start : start + size]
        yield from _together(setup, node, order, weights, users) or (
            _unit_update(setup, node, order, weights, user, start + place) for place, user in enumerate(users)
        )


def _together(
    setup: ClientSetup, node: OpenedNode, order: Order, weights: Flat, users: Sequence[int]
) -> list[LocalUpdate | Code]:
    """The updates of units that are trained in one pass; none where that is not to be had, or any unit stands in its way."""
    many = getattr(setup.local, "many", None)
    if many is None or not all(0 <= user < len(node.users) and len(node.users[user]) for user in users):
        return []
    try:
        put_into(node.net, weights)
        found = many(node.net, [node.users[user] for user in users], [_seed(order, user) for user in users])
    except Exception:
        return []
    return [one if is_finite(one.update) else Code.NOT_FINITE for one in found]


def _seed(order: Order, user: int) -> int:
    return int(np.random.SeedSequence([order.seed, user]).generate_state(1, np.uint64)[0] >> 1)


def _unit_update(
    setup: ClientSetup, node: OpenedNode, order: Order, weights: Flat, user: int, place: int
) -> LocalUpdate | Code:
    """One unit's update, or why there is none. Nothing that a unit's examples do may stop the others."""
    if not 0 <= user < len(node.users):
        return Code.UNKNOWN_UNIT
    try:
        examples = node.users[user]
        if not len(examples):
            return Code.EMPTY
        put_into(node.net, weights)
        found = setup.local(node.net, examples, seed=_seed(order, user), part=order.part + place)
    except Exception:
        return Code.FAILED
    return found if is_finite(found.update) else Code.NOT_FINITE
