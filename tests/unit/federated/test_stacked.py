"""Units trained in one pass move as units trained one after the other; one that fails stops no other."""

from __future__ import annotations

import numpy as np
import pytest
from unit.federated.small import Held, run

from textveil.federated import (
    ClientSetup,
    Federation,
    FreeBook,
    InProcessGrid,
    LocalTraining,
    NetTask,
    RoundPlan,
    StackedTraining,
    make_client_app,
)
from textveil.federated.weights import flat_of, layout_of, put_into
from textveil.nets.fit import own_randomness
from textveil.nets.language_model import CIFGLanguageModel
from textveil.noise import seeded

WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "slept"]
UNITS = [[" ".join(WORDS[(u + i) % 8 :][: 2 + i % 5]) for i in range(n)] for u, n in enumerate((7, 1, 4, 7))]


def net() -> CIFGLanguageModel:
    with own_randomness(3):
        return CIFGLanguageModel.of(WORDS, dimensions=4, hidden=5)


@pytest.mark.parametrize("optimiser", ["sgd", "momentum", "adam"])
@pytest.mark.parametrize("frozen", [(), ("vectors",), ("cell.weight_hh", "project.bias")])
def test_many_units_at_once_move_as_one_after_the_other(optimiser, frozen):
    model = NetTask("lm", net, frozen).build()
    begun, settings = flat_of(model), {"rate": 0.3 if optimiser != "adam" else 0.01, "batch": 3, "epochs": 2}
    together = StackedTraining(optimiser, **settings).many(model, UNITS, [11, 12, 13, 14])
    for own, seed, found in zip(UNITS, (11, 12, 13, 14), together, strict=True):
        put_into(model, begun)
        one = LocalTraining(optimiser, **settings)(model, own, seed=seed, part=0)
        assert np.allclose(found.update, one.update, atol=2e-5) and found.steps == one.steps
        assert found.loss == pytest.approx(one.loss, rel=1e-4)
        assert np.abs(one.update).max() > 1e-3  # something was learnt, so the comparison can fail


def trained(units, local) -> np.ndarray:
    task = NetTask("lm", net)
    grid = InProcessGrid(make_client_app(ClientSetup(task, Held(units), local)))
    plan = RoundPlan(users=len(units), per_round=len(units), rounds=2, clip=0.1)
    model = task.build()
    return run(grid, Federation(plan, layout_of(model), flat_of(model)), FreeBook(seeded(1))).weights


@pytest.mark.parametrize("spoilt", [None, [], [3.5]])
def test_a_federation_is_the_same_and_a_spoilt_unit_stops_no_other(spoilt):
    units = UNITS if spoilt is None else [*UNITS[:2], spoilt, *UNITS[2:]]
    both = [trained(units, kind("sgd", rate=0.5, batch=3)) for kind in (LocalTraining, StackedTraining)]
    assert np.allclose(*both, atol=2e-5) and not np.allclose(both[0], flat_of(net()), atol=1e-3)
