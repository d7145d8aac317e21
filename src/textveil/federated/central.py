"""Strategies of paper 09 that are no federation of updates: "central", where sites send batches of their examples.

The operator receives the text itself, trains on it and is trusted to forget it. There is no promise, and the card says so. A
node gives examples away only if its owner set `sends_examples`. ("remote", the model passed from site to site, is a
RoundPlan with the sampling `cycle`.)
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .book import Book
from .local import LocalTraining
from .messages import Code, Order, order_content, refusal_content
from .rounds import Federation, Roster, RoundFacts, Watch
from .state import RoundState
from .weights import flat_of, put_into

if TYPE_CHECKING:
    from flwr.app import RecordDict
    from flwr.serverapp import Grid

    from .client import ClientSetup


def examples_content(setup: ClientSetup, content: RecordDict) -> RecordDict:
    """A node's answer: one batch of each unit's examples, in an order that goes on from call to call."""
    from flwr.app import ConfigRecord, RecordDict

    from .client import opened
    from .messages import read_order

    if not setup.sends_examples:
        return refusal_content(Code.NOT_ALLOWED)
    node, order = opened(setup), read_order(content)
    batch: list[Any] = []
    for user in order.users:
        batch += _batch(node.users[user], order)
    return RecordDict({"tally": ConfigRecord({"examples": [json.dumps(example) for example in batch]})})


def _batch(examples: Any, order: Order) -> list[Any]:
    """Batch number `part` of a pass through the unit's examples; each pass has an order of its own (the seed's)."""
    size = order.cap
    batches = max(1, -(-len(examples) // size))
    turn, place = divmod(order.part, batches)
    mixed = np.random.default_rng([order.seed, turn]).permutation(len(examples))
    return [examples[i] for i in mixed[place * size : (place + 1) * size].tolist()]


def run_central(
    grid: Grid,
    federation: Federation,
    book: Book,
    net: Any,
    local: LocalTraining,
    *,
    steps: int,
    roster: Roster | None = None,
    watch: Watch | None = None,
    progress: Callable[[RoundFacts], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> RoundState:
    """Each round asks every site in turn for `steps` batches and trains on them, here. A stopped run begins its optimiser
    afresh at the round it goes on with."""
    plan, roster = federation.plan, roster or Roster.anywhere(grid)
    state = book.resume() or RoundState(0, federation.start.copy())
    learner = local._learner(net)
    for number in range(state.round + 1, plan.rounds + 1):
        source = book.begin(f"round {number}")
        put_into(net, state.weights)
        net.train()
        seed, total, count = int(source.words(1)[0] >> np.uint64(33)), 0.0, 0
        for step in range(steps * plan.users):
            node, users = roster.shares([step % plan.users], apart=True)[0]
            part = (number - 1) * steps + step // plan.users
            batch = _asked(grid, federation, Order(number, users, seed, part, cap=local.batch), node)
            if not batch:
                continue
            loss = net.losses(net.collate(batch)).mean()
            learner.zero_grad(set_to_none=True)
            loss.backward()
            learner.step()
            total, count = total + float(loss.detach()), count + 1
        state.weights, state.round = flat_of(net), number
        scores = dict(watch(state)) if watch is not None else {}
        scores.setdefault("training loss", total / max(1, count))
        state.history.append({"round": number, **scores})
        book.done(state)
        if progress is not None:
            progress(RoundFacts(number, plan.rounds, steps * plan.users, count, {}, scores))
        if stop():
            raise KeyboardInterrupt
    return state


def _asked(grid: Grid, federation: Federation, order: Order, node: int) -> list[Any]:
    """The batch of one site, or nothing where it gave none."""
    content = _order_only(order)
    message = grid.create_message(
        content=content, message_type="train.examples", dst_node_id=node, group_id=str(order.round)
    )
    for answer in grid.send_and_receive([message], timeout=federation.timeout):
        if answer.has_content():
            tally: Any = answer.content["tally"]
            return [_tupled(json.loads(text)) for text in tally.get("examples", [])]
    return []


def _order_only(order: Order) -> RecordDict:
    """A message without weights: the model stays with the operator."""
    from flwr.app import RecordDict

    from .weights import Layout

    content = order_content(Layout((), ()), np.zeros(0, np.float32), order)
    return RecordDict({"order": content["order"]})


def _tupled(example: Any) -> Any:
    """Pairs as they were before JSON made lists of them."""
    return tuple(example) if isinstance(example, list) else example
