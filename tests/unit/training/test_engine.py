"""The loop does what its plan says: one noise per update, public batch, micro-batches of any size, users as one unit."""

# ruff: noqa: E402 (without torch the whole file is skipped)
from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn

from textveil.core import BadInput, Unit, UnknownName
from textveil.noise import secure, seeded
from textveil.testing.statistics import assert_ks
from textveil.training import gaussian
from textveil.training.clipping_tape import NotFinite, Recorder
from textveil.training.engine import PrivateTrainer
from textveil.training.gaussian import add_gaussian
from textveil.training.plan import Phase, TrainingPlan


class Line(nn.Module):
    """Loss |w.x - y|^2 of pairs (x, y)."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1, bias=False)
        nn.init.zeros_(self.layer.weight)

    def collate(self, examples):
        xs, ys = zip(*examples, strict=True)
        return {"x": torch.tensor(xs), "y": torch.tensor(ys)}

    def losses(self, batch):
        return (self.layer(batch["x"])[:, 0] - batch["y"]).square()


def pairs(count, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 3)).astype(np.float32)
    return [(row.tolist(), float(row @ [1.0, -2.0, 0.5])) for row in x]


def plan_of(**more):
    return TrainingPlan(**{"noise": 1.0, "batch": 20, "examples": 100, "steps": 1, **more})


def test_noise_is_standard_normal():
    drawn = torch.zeros(40_001)
    add_gaussian(drawn, 3.0, secure())
    from scipy.stats import norm

    assert_ks(drawn.double().numpy() / 3.0, norm.cdf)
    pairs_of = drawn[:40_000].view(2, -1) / 3.0  # the two halves of a pair share radius and angle
    assert abs(float((pairs_of[0] * pairs_of[1]).mean())) < 5 / np.sqrt(20_000)


def test_noise_does_not_depend_on_blocks(monkeypatch):
    monkeypatch.setattr(gaussian, "_BLOCK", 64)
    drawn = torch.zeros(1001)
    add_gaussian(drawn, 1.0, seeded(3))
    assert (drawn != 0).all() and len(set(drawn.tolist())) == 1001


def test_an_empty_batch_is_a_step_of_noise_alone_and_the_public_batch_divides():
    net = Line()
    trainer = PrivateTrainer(net, plan_of(batch=20, clip=0.5, noise=4.0), optimiser="sgd", rate=1.0, source=seeded(5))
    history = trainer.fit([])
    expected = torch.zeros(3)
    add_gaussian(expected, 4.0 * 0.5, seeded(5))
    assert torch.allclose(net.layer.weight[0].detach(), -expected / 20)
    assert history.draft and history.steps == 1


def test_noise_is_drawn_once_per_update_however_many_micro_batches():
    weights = []
    for micro in (1, 7, 100):
        net = Line()
        plan = plan_of(batch=100, steps=2, sampling="fixed", noise=0.3, shards=4)
        PrivateTrainer(net, plan, optimiser="sgd", rate=0.1, source=seeded(1), micro_batch=micro).fit(pairs(100))
        weights.append(net.layer.weight.detach().clone())
    assert torch.allclose(weights[0], weights[1], atol=1e-6) and torch.allclose(weights[0], weights[2], atol=1e-6)


def test_shards_noise_is_that_of_all_together():
    nets = [Line(), Line()]
    for net, noise, shards in ((nets[0], 1.0, 9), (nets[1], 3.0, 1)):
        PrivateTrainer(net, plan_of(noise=noise, shards=shards), optimiser="sgd", rate=1.0, source=seeded(2)).fit([])
    assert torch.equal(nets[0].layer.weight, nets[1].layer.weight)


def test_the_update_is_the_clipped_mean():
    net, data = Line(), pairs(10)
    trainer = PrivateTrainer(net, plan_of(clip=0.7), optimiser="sgd", rate=1.0)
    trainer.accumulate(Recorder(net), data)
    expected = torch.zeros(3)
    for x, y in data:
        g = -2 * y * torch.tensor(x)  # at weight 0
        expected += g * min(1.0, 0.7 / float(g.norm()))
    assert torch.allclose(trainer.sums[net.layer.weight][0], expected, atol=1e-4)


def test_users_are_clipped_as_one():
    net, data = Line(), pairs(12)
    users = [data[:1], data[1:11], [], data[11:]]
    trainer = PrivateTrainer(net, plan_of(clip=0.1, unit=Unit.USER), optimiser="sgd", rate=1.0, micro_batch=3)
    trainer.accumulate(Recorder(net), [users[1]])
    assert float(trainer.sums[net.layer.weight].norm()) == pytest.approx(0.1, rel=1e-4)
    history = trainer.fit(users)
    assert history.event.unit is Unit.USER


def test_it_learns_and_says_what_it_spent():
    net, shown = Line(), []
    plan = TrainingPlan(noise=1.0, batch=500, examples=1000, steps=60, clip=2.0)
    trainer = PrivateTrainer(net, plan, rate=0.1, rate_schedule="linear", average=0.8, source=seeded(4), delta=1e-5)
    history = trainer.fit(pairs(1000), progress=shown.append)
    assert torch.allclose(net.layer.weight[0].detach(), torch.tensor([1.0, -2.0, 0.5]), atol=0.1)
    epsilons = [p.epsilon for p in shown]
    assert epsilons == sorted(epsilons) and epsilons[0] > 0
    assert epsilons[-1] == pytest.approx(history.epsilon) == pytest.approx(plan.epsilon(1e-5))
    assert history.event == plan.event() and [p.step for p in shown] == list(range(1, 61))
    assert net.layer.weight.requires_grad and net.layer.weight.grad is None


def test_a_schedule_is_followed(monkeypatch):
    seen = []
    plan = TrainingPlan.scheduled([Phase(1.0, 10, 2), Phase(2.0, 20, 1)], examples=100)
    trainer = PrivateTrainer(Line(), plan, rate=0.1, source=seeded(1))
    monkeypatch.setattr(trainer, "update", lambda step, phase: seen.append((step, phase.noise, phase.batch)))
    trainer.fit(pairs(100))
    assert seen == [(0, 1.0, 10), (1, 1.0, 10), (2, 2.0, 20)]


def clipped_sum(net, data, clip=0.7, **more):
    trainer = PrivateTrainer(net, plan_of(clip=clip, **more), optimiser="sgd", rate=1.0)
    recorder = Recorder(net)
    trainer.accumulate(recorder, data)
    recorder.close()
    return torch.cat([trainer.sums[p].flatten() for p in trainer.parameters]).clone()


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("unit", [Unit.EXAMPLE, Unit.USER])
def test_an_example_without_a_finite_gradient_contributes_nothing_and_moves_nobody(bad, unit):
    data = pairs(10)
    strange = [*data[:5], ([1.0, 1.0, 1.0], bad), *data[5:]]
    if unit is Unit.USER:
        data, strange = ([[e] for e in some] for some in (data, strange))
    torch.testing.assert_close(clipped_sum(Line(), strange, unit=unit), clipped_sum(Line(), data, unit=unit))


@pytest.mark.parametrize("unit", [Unit.EXAMPLE, Unit.USER])
def test_a_gradient_as_long_as_numbers_go_is_clipped_or_left_out(unit):
    data = [([1.0, 1.0, 1.0], y) for y in (1e10, 1e18, 1e25, 1e30, 1e38)]
    for pair in data:
        assert clipped_sum(Line(), [[pair] if unit is Unit.USER else pair], unit=unit).norm() <= 0.7


def test_it_moves_no_sentence_that_shares_its_rows_in_an_lstm():
    from textveil.nets.lstm import LSTM

    class Read(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.out = LSTM(2, 3, 1, True), nn.Linear(6, 1)

        def collate(self, examples):
            return nn.utils.rnn.pad_sequence([torch.tensor(e) for e in examples], True), [len(e) for e in examples]

        def losses(self, batch):
            inside = torch.arange(batch[0].shape[1]) < torch.tensor(batch[1])[:, None]
            return (self.out(self.lstm(batch[0], torch.tensor(batch[1])))[..., 0].square() * inside).sum(1)

    torch.manual_seed(1)
    net, rng = Read(), np.random.default_rng(2)
    data = [rng.normal(size=(n, 2)).astype(np.float32).tolist() for n in (1, 4, 2, 6, 3)]
    strange = [*data, [[float("inf"), 1.0]] * 5]
    torch.testing.assert_close(clipped_sum(net, strange), clipped_sum(net, data))


def test_a_run_goes_on_whoever_is_in_it():
    data = pairs(100)
    data[0] = data[50] = ([1.0, 1.0, 1.0], float("nan"))  # among those that the net is tried on, too
    net = Line()
    history = PrivateTrainer(net, plan_of(batch=100, steps=5), rate=0.1, source=seeded(1)).fit(data)
    assert history.steps == 5 and torch.isfinite(net.layer.weight).all()


def test_weights_that_overflow_stop_the_run_and_keep_the_charge():
    plan = plan_of(batch=10, steps=5, clip=1e3)
    trainer = PrivateTrainer(Line(), plan, rate=3e38, optimiser="sgd", source=seeded(1))
    with pytest.raises(
        NotFinite, match=r"not finite after step \d of 5: the run stopped, and what it was charged stays"
    ):
        trainer.fit(pairs(100))


def test_a_plan_is_run_once():
    trainer = PrivateTrainer(Line(), plan_of(), rate=0.1)
    trainer.fit(pairs(100))
    with pytest.raises(BadInput, match="the price of both together"):
        trainer.fit(pairs(100))


class Chance(Line):
    """Its inputs are dropped at random."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def losses(self, batch):
        return (self.layer(self.drop(batch["x"]))[:, 0] - batch["y"]).square()


def test_nothing_is_drawn_from_a_state_that_others_know():
    """With torch's generator in a known state, one example more moved every later draw; now the state plays no part."""
    ends, states = [], []
    for _ in range(2):
        torch.manual_seed(0)
        before = torch.get_rng_state()
        net = Chance()
        plan = plan_of(batch=100, steps=2, noise=1e-9, sampling="fixed")
        PrivateTrainer(net, plan, rate=0.1, optimiser="sgd").fit(pairs(100))
        ends.append(net.layer.weight.detach().clone())
        torch.manual_seed(0)
        states.append(torch.equal(torch.get_rng_state(), before))
    assert not torch.allclose(*ends, atol=1e-5) and all(states)


def test_bad_settings_are_named():
    with pytest.raises(UnknownName, match="adamw"):
        PrivateTrainer(Line(), plan_of(), rate=0.1, optimiser="adam")
    with pytest.raises(UnknownName, match="cosine"):
        PrivateTrainer(Line(), plan_of(), rate=0.1, rate_schedule="cosin")
    net = Line()
    net.layer.requires_grad_(False)
    with pytest.raises(BadInput, match="no parameter that learns"):
        PrivateTrainer(net, plan_of(), rate=0.1)


def test_micro_batches_hold_whole_samples_within_their_bounds():
    net = Line()
    net.length = len
    trainer = PrivateTrainer(net, plan_of(), rate=0.1, micro_batch=4, micro_tokens=12)
    sample = [[0] * n for n in (1, 9, 2, 2, 5, 30, 1, 1, 1, 3)]
    pieces = list(trainer.micro_batches(sample))
    assert sorted(len(e) for p in pieces for e in p) == sorted(len(e) for e in sample)
    assert all(len(p) <= 4 and (len(p) == 1 or len(p) * len(p[0]) <= 12) for p in pieces)
