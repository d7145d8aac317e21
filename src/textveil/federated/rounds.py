"""The round loop, written once, for any Flower Grid: a simulation, a deployment, one process.

    charge -> draw who takes part -> send -> collect -> check -> clip again -> sum -> divide by the constant -> noise once
    -> step -> save

Claim. The weights after each round are the plan's mechanism and nothing else: what is added to the sum has norm at most
(units) * C whatever nodes send, noise is drawn once a round, for all units together, and the divisor is `per_round`, not the
number that came. An empty Poisson round is noise alone. A node that does not answer, or answers with what is not the
layout, not finite or too long, is left out by its name and a code, and the round goes on: it contributes zero
(see `plan` for why that costs nothing).
Without a clip (plain FedAvg) the mean is over the weights that came, and an update `LONGEST` times as long as the weights
themselves is left out as too long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from textveil.core import BadInput
from textveil.noise import Source
from textveil.noise.subsets import fixed_subset, poisson_subset

from .book import Book
from .clipping import clip_flat, next_clip, norm_of
from .messages import Code, Order, Reply, ServerView, order_content, read_reply
from .plan import RoundPlan
from .server_step import ServerStep
from .state import RoundState
from .tree import TreeSums
from .weights import Flat, Layout

if TYPE_CHECKING:
    from flwr.app import Message
    from flwr.serverapp import Grid

LONGEST = 100.0
ROUNDING = 1e-4  # a sum may be so much longer than its clip by rounding; beyond, a node did not clip


@dataclass(frozen=True)
class Roster:
    """Which node trains for which unit. `anywhere`: every node holds the data of all units (a simulation)."""

    nodes: tuple[int, ...]
    home: tuple[tuple[int, int], ...] = ()  # unit -> (node, its number there); empty: anywhere
    names: Mapping[int, str] = field(default_factory=dict)  # of nodes, for messages

    @classmethod
    def anywhere(cls, grid: Grid) -> Roster:
        """All nodes can train for all units."""
        return cls(tuple(grid.get_node_ids()))

    @classmethod
    def one_unit_a_node(cls, nodes: Sequence[int], names: Mapping[int, str] | None = None) -> Roster:
        """Each node is one unit (a site): unit k is node k."""
        return cls(tuple(nodes), tuple((node, 0) for node in nodes), dict(names or {}))

    def shares(self, units: Sequence[int], *, apart: bool) -> list[tuple[int, tuple[int, ...]]]:
        """Messages of a round: (node, numbers of units there). `apart`: one unit a message."""
        if self.home:
            placed = [self.home[unit] for unit in units]
            if apart:
                return [(node, (number,)) for node, number in placed]
            return [(n, tuple(k for node, k in placed if node == n)) for n in dict.fromkeys(n for n, _ in placed)]
        if apart:
            return [(self.nodes[k % len(self.nodes)], (int(unit),)) for k, unit in enumerate(units)]
        dealt = [tuple(int(u) for u in units[k :: len(self.nodes)]) for k in range(len(self.nodes))]
        return [(node, share) for node, share in zip(self.nodes, dealt, strict=True) if share]

    def name(self, node: int) -> str:
        return self.names.get(node, f"node {self.nodes.index(node) + 1}")


@dataclass(frozen=True)
class Federation:
    """What is run: the plan, what travels and where it begins, and the server's step.

    apart: each unit's update comes in a message of its own (sites; a tap that looks at single updates).
    timeout: seconds that a round waits for its nodes; None waits for all. present: how many units there truly are, where
    the plan's number is a declared one (Poisson sampling alone can do with that).
    """

    plan: RoundPlan
    layout: Layout
    start: Flat
    step: ServerStep = field(default_factory=ServerStep)
    apart: bool = False
    timeout: float | None = None
    present: int | None = None

    def __post_init__(self) -> None:
        if self.plan.sampling != "poisson" and self.present not in (None, self.plan.users):
            raise BadInput(
                f"rounds that are not drawn by coins need exactly the declared {self.plan.users} units, and there are others",
                possible="sampling poisson, which never uses the true number",
            )


@dataclass(frozen=True)
class RoundFacts:
    """What may be said of a round while it runs: numbers, codes by name; the loss only where nothing is promised."""

    round: int
    rounds: int
    asked: int
    came: int
    refused: Mapping[str, int]
    scores: Mapping[str, float]


Watch = Callable[[RoundState], Mapping[str, float]]
Tap = Callable[[ServerView], None]


def run_rounds(
    grid: Grid,
    federation: Federation,
    book: Book,
    *,
    roster: Roster | None = None,
    watch: Watch | None = None,
    tap: Tap | None = None,
    progress: Callable[[RoundFacts], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> RoundState:
    """Run the plan on a grid from where the book left off; the state after the last round.

    watch: scores of the weights on public examples, for the history; tap: gets what the server sees; stop: asked after
    each round, when it is stored: True ends the run by KeyboardInterrupt, and it can be taken up again.
    """
    plan = federation.plan
    roster = roster or Roster.anywhere(grid)
    if not roster.nodes:
        raise BadInput("there is no node to send a round to")
    if roster.home and len(roster.home) < plan.per_round:
        raise BadInput(f"{plan.per_round} units take part in a round, and {len(roster.home)} are there")
    state = book.resume() or RoundState(0, federation.start.copy(), plan.clip)
    for turn in _turns(federation, state, book):
        source = book.begin(turn.step, tree_rounds=turn.tree_rounds)
        units = turn.units(source)
        replies = exchange(grid, federation, roster, state, turn.round, units, source)
        if tap is not None:
            tap(ServerView(turn.round, state.weights, federation.layout, tuple(replies)))
        mean = aggregate(federation, state, replies, source, in_tree=bool(turn.tree_rounds))
        _advance(federation, state, mean, turn, source)
        facts = _facts(plan, state, units, replies, roster, watch)
        book.done(state)
        if progress is not None:
            progress(facts)
        if stop():
            raise KeyboardInterrupt
    return state


# ---- who takes part --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Turn:
    """One round: what is paid for it, and who takes part."""

    round: int
    step: str
    units: Callable[[Source], list[int]]
    tree_rounds: int = 0


def _turns(federation: Federation, state: RoundState, book: Book) -> Iterator[_Turn]:
    plan, present = federation.plan, federation.present
    if plan.sampling == "in-turn" and plan.is_private:
        yield from _tree_turns(plan, state, book)
        return
    for number in range(state.round + 1, plan.rounds + 1):
        yield _Turn(number, f"round {number}", lambda source, n=number: drawn(plan, source, n, present))  # type: ignore[misc]


def drawn(plan: RoundPlan, source: Source, number: int, present: int | None = None) -> list[int]:
    """The units of a sampled round, exactly as its event says; of a cycle the next in order."""
    if plan.sampling == "poisson":
        count = plan.users if present is None else present
        return [int(u) for u in poisson_subset(source, count, Fraction(plan.per_round, plan.users))]
    if plan.sampling == "fixed":
        return [int(u) for u in fixed_subset(source, plan.users, plan.per_round)]
    return [((number - 1) * plan.per_round + k) % plan.users for k in range(plan.per_round)]


def _tree_turns(plan: RoundPlan, state: RoundState, book: Book) -> Iterator[_Turn]:
    """Rounds in turn: a tree has an order of the units, of which every round takes the next `per_round`."""
    if state.tree and book.is_lost(_tree_step(state.tree)):
        state.tree = {}
    for number in range(state.round + 1, plan.rounds + 1):
        if not state.tree:
            state.tree = {"first": number, "rounds": plan.trees(plan.rounds - number + 1)[0]}
        yield _Turn(number, _tree_step(state.tree), lambda source: _in_turn(plan, state, source), state.tree["rounds"])


def _tree_step(tree: Mapping[str, Any]) -> str:
    return f"tree {tree['first']}+{tree['rounds']}"


def _in_turn(plan: RoundPlan, state: RoundState, source: Source) -> list[int]:
    tree = state.tree
    if "order" not in tree:
        tree["order"] = [int(u) for u in source.permutation(plan.users)]
    start = (state.round + 1 - tree["first"]) * plan.per_round
    return list(tree["order"][start : start + plan.per_round])


# ---- what is sent and what comes back ----------------------------------------------------------------------------------


def exchange(
    grid: Grid,
    federation: Federation,
    roster: Roster,
    state: RoundState,
    number: int,
    units: Sequence[int],
    source: Source,
) -> list[Reply]:
    """Send a round to its nodes and read what comes back; a node that says nothing has a reply with a code."""
    plan = federation.plan
    seed = int(source.words(1)[0] >> np.uint64(1))
    asks = ("below",) if plan.clipping == "adaptive" else () if plan.is_private else ("loss",)
    sent: dict[int, tuple[int, tuple[int, ...]]] = {}
    messages: list[Message] = []
    part = number * plan.users
    for node, users in roster.shares(units, apart=federation.apart):
        order = Order(number, users, seed, part, state.clip, plan.clipping, plan.weighting, plan.cap, asks)
        content = order_content(federation.layout, state.weights, order)
        messages.append(
            grid.create_message(content=content, message_type="train", dst_node_id=node, group_id=str(number))
        )
        sent[len(messages) - 1] = (node, users)
        part += len(users)
    return _collect(grid, messages, sent, federation)


def _collect(
    grid: Grid, messages: list[Message], sent: Mapping[int, tuple[int, tuple[int, ...]]], federation: Federation
) -> list[Reply]:
    """Replies in the order of the messages. They are told apart by the message they answer: an error of a node that died
    comes from another node."""
    if not messages:
        return []
    answers = {
        answer.metadata.reply_to_message_id: answer
        for answer in grid.send_and_receive(messages, timeout=federation.timeout)
    }
    replies = []
    for place, message in enumerate(messages):
        node, users = sent[place]
        answer = answers.get(message.metadata.message_id)
        if answer is None:
            replies.append(Reply(node, users, error=Code.NO_REPLY))
        else:
            replies.append(read_reply(answer, node, users, federation.layout))
    return replies


# ---- the sum and the step ----------------------------------------------------------------------------------------------


def aggregate(
    federation: Federation, state: RoundState, replies: list[Reply], source: Source, *, in_tree: bool = False
) -> Flat:
    """The mean update of a round, with its noise; refused replies are marked in the list. Adapts the clip, too."""
    plan = federation.plan
    limit = LONGEST * max(1.0, norm_of(state.weights))
    total = np.zeros(federation.layout.size, np.float64)
    for place, reply in enumerate(replies):
        if reply.total is None:
            continue
        most = limit * max(1.0, reply.weight) if state.clip is None else state.clip * len(reply.users)
        if norm_of(reply.total) > most * (1 + ROUNDING):
            replies[place] = Reply(reply.node, reply.users, error=Code.TOO_LONG)
            continue
        total += reply.total if state.clip is None else clip_flat(reply.total, most)
    if plan.weighting == "examples" or state.clip is None:
        return (total / (sum(r.weight for r in replies) or 1.0)).astype(np.float32)
    mean, clip = (total / plan.per_round).astype(np.float32), state.clip
    if plan.is_private and not in_tree:
        deviation = np.float32(plan.update_noise * clip / plan.per_round)
        mean = mean + source.normals(len(mean), np.float32) * deviation
    if plan.clipping == "adaptive":
        state.clip = _adapted(plan, clip, replies, source)
    return mean


def _adapted(plan: RoundPlan, clip: float, replies: Sequence[Reply], source: Source) -> float:
    """The next clip from the noisy share of updates below this one; whoever is missing adds nothing to the centred sum."""
    centred = sum(reply.below - reply.count / 2 for reply in replies)
    if plan.is_private:
        centred += float(source.normals(1)[0]) * plan.quantile_noise / 2
    return next_clip(clip, 0.5 + centred / plan.per_round, plan.quantile, plan.quantile_rate)


def _advance(federation: Federation, state: RoundState, mean: Flat, turn: _Turn, source: Source) -> None:
    """Move the state one round on."""
    plan = federation.plan
    if turn.tree_rounds:
        mean = _tree_mean(federation, state, mean, source)
    step = federation.step(mean, state.memory, state.weights)
    state.weights, state.round = state.weights + step, turn.round
    if turn.tree_rounds and turn.round + 1 - state.tree["first"] == turn.tree_rounds:
        state.tree = {}
    if not np.isfinite(state.weights).all():
        raise BadInput(
            f"the weights are not finite after round {turn.round} of {plan.rounds}: the run stopped, and what it was "
            "charged stays charged",
            possible="a smaller --rate, or a clip",
        )


def _tree_mean(federation: Federation, state: RoundState, mean: Flat, source: Source) -> Flat:
    """What the noisy prefix sum of the tree grew by: the update of this round, with correlated noise."""
    plan, tree = federation.plan, state.tree
    assert state.clip is not None
    sums = TreeSums.load(len(mean), tree["sums"]) if "sums" in tree else TreeSums(len(mean))
    prefix = sums.add(mean, plan.noise * state.clip / plan.per_round, source)
    grown = prefix - tree.get("prefix", np.float32(0))
    tree["sums"], tree["prefix"] = sums.state(), prefix
    return np.asarray(grown, np.float32)


def _facts(
    plan: RoundPlan,
    state: RoundState,
    units: Sequence[int],
    replies: Sequence[Reply],
    roster: Roster,
    watch: Watch | None,
) -> RoundFacts:
    """What may be said; the history gets the scores, the state who was left out by name."""
    scores = dict(watch(state)) if watch is not None else {}
    weight = sum(r.weight for r in replies)
    if not plan.is_private and weight and all(r.loss is not None for r in replies if r.total is not None):
        scores.setdefault("training loss", sum(r.loss or 0.0 for r in replies) / weight)
    refused: dict[str, int] = {}
    for reply in replies:
        codes = [reply.error] * len(reply.users) if reply.error else reply.refused
        for code in codes:
            key = f"{roster.name(reply.node)}: {code}"
            refused[key] = refused.get(key, 0) + 1
    for key, count in refused.items():
        state.refused[key] = state.refused.get(key, 0) + count
    state.history.append({"round": state.round, **scores})
    came = sum(reply.count for reply in replies if reply.total is not None)
    return RoundFacts(state.round, plan.rounds, len(units), came, refused, scores)
