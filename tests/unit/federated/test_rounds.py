"""The loop on a grid of nodes that misbehave: they are left out by name, and the round goes on."""

from __future__ import annotations

import numpy as np
import pytest
from flwr.app import ArrayRecord, ConfigRecord, Error, Message, RecordDict
from unit.federated.small import SIZE, federation_of, grid_of, run

from textveil.core import BadInput
from textveil.federated import Federation, FreeBook, InProcessGrid, Roster, RoundPlan
from textveil.federated.rounds import drawn
from textveil.noise import seeded

C = 0.5
ONES = [[np.ones(SIZE)] for _ in range(3)]
HONEST = C / np.sqrt(SIZE)


class OddGrid(InProcessGrid):
    """The second of three nodes answers as `spoil` says."""

    def __init__(self, spoil):
        grid = grid_of(ONES, 3)
        self.__dict__.update(grid.__dict__)
        self.spoil = spoil

    def pull_messages(self, message_ids):
        answers = list(super().pull_messages(message_ids))
        kept = []
        for answer in answers:
            if answer.metadata.src_node_id == self.node_ids[1]:
                answer = self.spoil(answer)
            kept += [] if answer is None else [answer]
        return kept[::-1]  # in another order than they were sent


def with_sum(answer, change, **tally):
    """The answer with another sum."""
    record = {name: change(array.numpy()) for name, array in answer.content["sum"].items()}
    config = ConfigRecord({**dict(answer.content["tally"]), **tally})
    content = RecordDict({"sum": ArrayRecord({n: _array(v) for n, v in record.items()}), "tally": config})
    return Message(content, metadata=answer.metadata)


def _array(value):
    from flwr.app import Array

    return Array(np.asarray(value))


ODD = {
    "no-reply": lambda answer: None,
    "failed": lambda answer: _error(answer),
    "not-finite": lambda answer: with_sum(answer, lambda v: v * np.float32(np.nan)),
    "too-long": lambda answer: with_sum(answer, lambda v: v * np.float32(1e6)),
    "wrong-shape": lambda answer: with_sum(answer, lambda v: np.zeros((7, 7), np.float32)),
    "bad-reply": lambda answer: with_sum(answer, lambda v: v, count=99),
}


def _error(answer):
    message = Message.__new__(Message)
    message.__dict__.update({"_metadata": answer.metadata, "_content": None, "_error": Error(2, "text of a user")})
    return message


def the_round(grid, **more):
    plan = RoundPlan(users=3, per_round=3, rounds=1, clip=C, unit="client")
    nodes = list(grid.get_node_ids())
    roster = Roster(
        tuple(nodes), tuple((n, k) for k, n in enumerate(nodes)), {n: f"site {k}" for k, n in enumerate(nodes)}
    )
    return run(grid, federation_of(plan, apart=True, **more), FreeBook(seeded(1)), roster=roster)


@pytest.mark.parametrize("code", ODD)
def test_a_node_that_misbehaves_is_left_out_by_name(code):
    state = the_round(OddGrid(ODD[code]))
    assert state.refused == {f"site 1: {code}": 1}
    assert state.weights == pytest.approx(np.full(SIZE, 2 * HONEST / 3), rel=1e-4)  # two came, the divisor stays three


def test_nobody_is_left_out_when_all_behave():
    state = the_round(grid_of(ONES, 3))
    assert state.refused == {} and state.weights == pytest.approx(np.full(SIZE, HONEST), rel=1e-4)


def test_a_round_is_the_same_however_it_is_dealt_to_nodes():
    plan = RoundPlan(users=3, per_round=3, rounds=2, clip=C, noise=0.3)
    runs = [
        run(grid_of(ONES, nodes), federation_of(plan, apart=apart), FreeBook(seeded(4))).weights
        for nodes, apart in ((1, False), (2, False), (3, True))
    ]
    assert runs[0] == pytest.approx(runs[1]) and runs[0] == pytest.approx(runs[2])


def test_fixed_rounds_draw_without_replacement_and_poisson_ones_by_coins():
    fixed = RoundPlan(users=5, per_round=4, rounds=1, clip=1.0)
    poisson = RoundPlan(users=5, per_round=2, rounds=1, clip=1.0, sampling="poisson")
    source = seeded(8)
    rounds = [drawn(fixed, source, 1) for _ in range(200)]
    assert all(len(set(units)) == 4 for units in rounds)
    sizes = {len(drawn(poisson, source, 1)) for _ in range(200)}
    assert {0, 1, 2, 3} <= sizes


def test_only_coins_do_without_the_true_number():
    with pytest.raises(BadInput, match="exactly the declared 5"):
        federation_of(RoundPlan(users=5, per_round=4, rounds=1), present=6)
    assert isinstance(
        federation_of(RoundPlan(users=5, per_round=4, rounds=1, sampling="poisson"), present=6), Federation
    )


def test_a_tap_sees_single_updates_before_noise():
    views = []
    plan = RoundPlan(users=3, per_round=3, rounds=1, clip=C, noise=5.0)
    run(grid_of(ONES), federation_of(plan, apart=True), FreeBook(seeded(1)), tap=views.append)
    assert [reply.users for reply in views[0].replies] == [(0,), (1,), (2,)]
    assert views[0].replies[0].total == pytest.approx(np.full(SIZE, HONEST), rel=1e-4)


def test_adaptive_clipping_finds_the_quantile():
    units = [[np.eye(1, SIZE)[0] * (k + 1)] for k in range(20)]  # norms 1 .. 20
    plan = RoundPlan(users=20, per_round=20, rounds=80, clip=0.1, clipping="adaptive", quantile=0.5)
    assert run(grid_of(units), federation_of(plan), FreeBook(seeded(1))).clip == pytest.approx(10.5, abs=1.0)


def test_in_turn_everybody_takes_part_once_in_a_tree_and_sums_are_exact_without_noise():
    views = []
    plan = RoundPlan(users=6, per_round=2, rounds=6, sampling="in-turn", clip=100.0, noise=1e-12)
    units = [[np.eye(1, SIZE)[0] * (k + 1)] for k in range(6)]
    state = run(grid_of(units, 1), federation_of(plan), FreeBook(seeded(1)), tap=views.append)
    for tree in (views[:3], views[3:]):
        assert sorted(u for view in tree for reply in view.replies for u in reply.users) == list(range(6))
    assert state.weights[0] == pytest.approx(2 * sum(range(1, 7)) / 2, rel=1e-5)


def test_a_model_passed_round_is_trained_by_one_site_after_the_other():
    views = []
    plan = RoundPlan(users=3, per_round=1, rounds=6, sampling="cycle", unit="client")
    run(grid_of(ONES), federation_of(plan), FreeBook(seeded(1)), tap=views.append)
    assert [view.replies[0].users for view in views] == [(0,), (1,), (2,)] * 2
