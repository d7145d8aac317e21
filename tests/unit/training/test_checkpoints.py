"""Stopped runs go on; lost steps are charged again; other data is refused; no generator is saved."""

# ruff: noqa: E402 (without torch the whole file is skipped)
from __future__ import annotations

import stat
from contextlib import closing

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn

from textveil.core import BadInput
from textveil.noise import secure, seeded
from textveil.training.checkpoints import Checkpoint, fingerprint
from textveil.training.engine import PrivateTrainer
from textveil.training.plan import Phase, TrainingPlan

PLAN = TrainingPlan.scheduled([Phase(1.0, 20, 4), Phase(2.0, 20, 4)], examples=100)


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
    x = np.random.default_rng(seed).normal(size=(count, 3)).astype(np.float32)
    return [(row.tolist(), float(row @ [1.0, -2.0, 0.5])) for row in x]


class Crash(Exception):
    pass


def crash_at(step):
    def watch(progress):
        if progress.step == step:
            raise Crash

    return watch


def trainer(net, plan=PLAN, source=None):
    return PrivateTrainer(net, plan, rate=0.1, average=0.9, source=source or secure())


def test_a_stopped_run_goes_on_and_its_lost_steps_are_charged_again(tmp_path):
    data, path, charged = pairs(100), tmp_path / "run.pt", []
    with pytest.raises(Crash):
        trainer(Line()).fit(data, checkpoint=path, save_every=3, progress=crash_at(5))
    with closing(Checkpoint(path, PLAN, data)) as saved:
        assert (saved.step, saved.lost()) == (3, [1, 1])  # steps 4 (first phase) and 5 (second) were begun and lost
    with pytest.raises(Crash):  # stopped again before anything was saved: what was charged is not charged again
        trainer(Line()).fit(data, checkpoint=path, progress=crash_at(4), charge_repeated=charged.append)
    assert charged == [PLAN.event(begun=[1, 1])]
    net, steps = Line(), []
    history = trainer(net).fit(
        data, checkpoint=path, save_every=3, progress=lambda p: steps.append(p.step), charge_repeated=charged.append
    )
    assert steps == [4, 5, 6, 7, 8]
    assert charged == [PLAN.event(begun=[1, 1]), PLAN.event(begun=[1, 0])]
    assert history.repeated == 3 and history.event == PLAN.event(begun=[6, 5])
    assert history.epsilon > PLAN.epsilon(1e-5)
    again = trainer(Line()).fit(data, checkpoint=path, charge_repeated=charged.append)
    assert len(charged) == 2 and again.repeated == 3  # nothing was left to do, and nothing is charged


def test_a_run_in_two_parts_ends_like_a_run_in_one(tmp_path):
    """With the randomness taken out (everybody takes part, hardly any noise) the weights agree: all state came back."""
    plan = TrainingPlan(noise=1e-9, batch=100, examples=100, steps=6, sampling="fixed")
    data, whole, parts = pairs(100), Line(), Line()
    trainer(whole, plan).fit(data)
    with pytest.raises(Crash):
        trainer(Line(), plan).fit(data, checkpoint=tmp_path / "c.pt", save_every=2, progress=crash_at(2))
    trainer(parts, plan).fit(data, checkpoint=tmp_path / "c.pt", save_every=2)
    assert torch.allclose(whole.layer.weight, parts.layer.weight, atol=1e-6)


def test_a_step_done_again_draws_fresh_noise_and_no_generator_is_saved(tmp_path):
    with pytest.raises(Crash):
        trainer(Line()).fit([], checkpoint=tmp_path / "c.pt", save_every=1, progress=crash_at(1))
    kept = (tmp_path / "c.pt").read_bytes()
    ends = []
    for _ in range(2):
        (tmp_path / "c.pt").write_bytes(kept)
        net = Line()
        trainer(net).fit([], checkpoint=tmp_path / "c.pt")
        ends.append(net.layer.weight.detach().clone())
    assert not torch.equal(*ends)
    state = torch.load(tmp_path / "c.pt", weights_only=True)
    known = {"form", "key", "mark", "plan", "begun", "step", "net", "optimiser", "average"}
    assert set(state) == known


def test_other_data_and_other_plans_are_refused(tmp_path):
    data, path = pairs(100), tmp_path / "run.pt"
    trainer(Line(), source=seeded(1)).fit(data, checkpoint=path)
    with pytest.raises(BadInput, match=r"other data \(the fingerprints differ"):
        trainer(Line()).fit(pairs(100, seed=1), checkpoint=path)
    with pytest.raises(BadInput, match="another plan"):
        trainer(Line(), PLAN.with_noise(3.0)).fit(data, checkpoint=path)
    wider = Line()
    wider.layer = nn.Linear(3, 2, bias=False)
    with pytest.raises(BadInput, match="another net"):
        trainer(wider).fit(data, checkpoint=path)
    (tmp_path / "bad.pt").write_text("nothing")
    with pytest.raises(BadInput, match="not a checkpoint"):
        trainer(Line()).fit(data, checkpoint=tmp_path / "bad.pt")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_checkpoint_lives_in_any_folder(tmp_path):
    path = tmp_path / "work" / "inner" / "state.pt"
    trainer(Line()).fit(pairs(100), checkpoint=path)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700 and path.is_file()


def test_fingerprints_tell_values_and_their_grouping():
    key = bytes(32)
    different = [
        [["ab"], ["c"]],
        [["a"], ["bc"]],
        [["ab", "c"]],
        [{"a": 1}],
        [{"a": 1.0}],
        [np.array([1])],
        [(1, None)],
    ]
    assert len({fingerprint(d, key) for d in different}) == len(different)
    assert fingerprint([torch.tensor([1.0])], key) == fingerprint([np.array([1.0], np.float32)], key)
    with pytest.raises(BadInput, match="has no fingerprint"):
        fingerprint([object()], key)
