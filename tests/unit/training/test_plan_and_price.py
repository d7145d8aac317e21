"""A plan emits the event that is priced; figures of paper 08; what has no price is refused."""

from __future__ import annotations

import json
import math

import pytest

from textveil.cli import run
from textveil.core import Adjacency, BadInput, Event, Unit
from textveil.core.events import FixedSampled, GaussianNoise, PoissonSampled, Stated, event_from_json
from textveil.training.calibrate import calibrate_plan, calibrated
from textveil.training.plan import Phase, TrainingPlan, price_together, steps_for
from textveil.training.schedules import growing, rate_factor

PAPER_08 = {(1, "pld"): 0.122, (1, "rdp"): 0.461, (1, "rdp-classic"): 0.688}
PAPER_08 |= {(32, "pld"): 0.762, (32, "rdp"): 1.05, (32, "rdp-classic"): 1.38}


def asked(*options: object) -> list[str]:
    plan = ["--noise", 1, "--batch", 32, "--examples", 14041, "--epochs", 10, "--delta", 1e-5]
    return ["train", "price", *(str(o) for o in (*plan, *options))]


@pytest.mark.parametrize("batch, accountant", PAPER_08)
def test_prices_from_the_command_line(batch, accountant, capsys):
    assert run(asked("--batch", batch, "--sampling", "poisson", "--accountant", accountant, "--json")) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["epsilon"] == pytest.approx(PAPER_08[batch, accountant], abs=0.006)
    assert (shown["accountant"], shown["delta"], shown["steps"]) == (accountant, 1e-5, {1: 140410, 32: 4388}[batch])


def test_the_answer_is_the_smaller_of_pld_and_rdp(capsys):
    assert run(asked("--json")) == 0
    best = json.loads(capsys.readouterr().out)
    assert best["accountant"] == "pld" and best["epsilon"] == pytest.approx(0.762, abs=0.001)


MISMATCH = {
    "pld has no fixed size": (("--sampling", "fixed", "--accountant", "pld"), "fixed size"),
    "exact has no sampling": (("--accountant", "exact"), "no price for anything but plain Gaussian"),
    "unknown sampling": (("--sampling", "posson"), "unknown sampling 'posson'"),
    "batch above the examples": (("--batch", 20000), "at most the 14041 examples"),
    "both noise and epsilon": (("--epsilon", 1), "needs the noise, or the epsilon"),
    "both epochs and steps": (("--steps", 3), "--epochs or --steps"),
}


@pytest.mark.parametrize("name", MISMATCH)
def test_what_has_no_price_is_refused_in_one_sentence(name, capsys):
    options, words = MISMATCH[name]
    assert run(asked(*options)) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


@pytest.mark.parametrize("name", ["shuffle", "balls-and-bins"])
def test_batches_without_a_price_are_refused_with_the_reason(name, capsys):
    with pytest.raises(BadInput, match=f"sampling '{name}' has no price: "):
        TrainingPlan(noise=1.0, batch=10, examples=100, steps=3, sampling=name)
    assert run(asked("--sampling", name)) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_epsilon_out_of_reach_names_the_smallest_that_can_be_reached():
    with pytest.raises(
        BadInput, match=r"epsilon 1e-09 cannot be reached at delta 1e-05: the smallest .* is "
    ) as caught:
        calibrated(1e-9, 1e-5, batch=10, examples=100, steps=5)
    smallest = float(str(caught.value).split(" is ")[1].split(" ")[0])
    assert calibrated(smallest, 1e-5, batch=10, examples=100, steps=5).epsilon(1e-5) <= smallest


def test_events_carry_adjacency_and_sensitivity_of_their_sampler():
    poisson = TrainingPlan(noise=2.0, batch=10, examples=100, steps=7).event()
    assert (poisson.noise, poisson.adjacency, poisson.times) == (
        PoissonSampled(0.1, GaussianNoise(2.0)),
        Adjacency.ADD_REMOVE,
        7,
    )
    fixed = TrainingPlan(noise=2.0, batch=10, examples=100, steps=7, sampling="fixed").event()
    assert (fixed.noise, fixed.adjacency) == (FixedSampled(100, 10, GaussianNoise(2.0)), Adjacency.REPLACE)
    assert event_from_json(json.loads(json.dumps(fixed.to_json()))) == fixed


def test_shards_are_priced_as_one_noise_of_sigma_root_p():
    four = TrainingPlan(noise=1.0, batch=10, examples=100, steps=7, shards=4)
    assert four.event().noise == TrainingPlan(noise=2.0, batch=10, examples=100, steps=7).event().noise


def test_a_schedule_costs_what_its_phases_cost_together():
    phases = [Phase(2.0, 10, 5), Phase(3.0, 20, 4)]
    plan = TrainingPlan.scheduled(phases, examples=100)
    apart = [TrainingPlan(noise=p.noise, batch=p.batch, steps=p.steps, examples=100).event() for p in phases]
    assert plan.epsilon(1e-5, "rdp") == pytest.approx(price_together(apart, 1e-5, "rdp").epsilon, rel=1e-12)
    assert [plan.phase(k).noise for k in (0, 4, 5, 8)] == [2.0, 2.0, 3.0, 3.0]
    with pytest.raises(BadInput, match="9 steps"):
        plan.phase(9)


def test_a_calibrated_plan_keeps_its_promise_and_little_less_noise_does_not():
    plan = calibrated(2.0, 1e-5, batch=50, examples=1000, epochs=3, tolerance=0.01)
    assert plan.steps == 60
    assert plan.epsilon(1e-5) <= 2.0 < plan.with_noise(plan.noise * 0.98).epsilon(1e-5)


def test_a_calibrated_schedule_keeps_its_ratios():
    plan = calibrate_plan(
        TrainingPlan.scheduled([Phase(1.0, 10, 5), Phase(2.0, 20, 5)], examples=100), 2.0, 1e-5, tolerance=0.1
    )
    assert plan.epsilon(1e-5) <= 2.0
    assert plan.phases[1].noise / plan.phases[0].noise == pytest.approx(2.0)


def test_other_events_share_the_promise():
    vocabulary = Event(GaussianNoise(8.0), Unit.EXAMPLE, Adjacency.ADD_REMOVE)
    threshold = Event(Stated(0.0, 1e-6), Unit.EXAMPLE, Adjacency.ADD_REMOVE)
    alone = calibrated(1.5, 1e-5, batch=50, examples=1000, steps=40, tolerance=0.05)
    plan = calibrated(1.5, 1e-5, batch=50, examples=1000, steps=40, also=(vocabulary, threshold), tolerance=0.05)
    assert plan.noise > alone.noise
    assert (
        plan.price(1e-5, also=(vocabulary, threshold)).epsilon
        <= 1.5
        < price_together([vocabulary, threshold, alone.event()], 1e-5).epsilon
    )
    with pytest.raises(BadInput, match="with what else is charged the smallest is"):
        calibrated(0.2, 1e-5, batch=50, examples=1000, steps=40, also=(vocabulary,))


def test_steps_round_up():
    assert [steps_for(10, 3, 1), steps_for(9, 3, 1), steps_for(10, 10, 0.1)] == [4, 3, 1]


def test_rates_and_growing_batches():
    assert [rate_factor("cosine", s, 4) for s in (0, 2)] == pytest.approx([1.0, 0.5])
    phases = growing(1.0, (10, 40), 9)
    assert [p.steps for p in phases] == [4, 5] and math.isclose(phases[1].noise / phases[1].batch, 0.1)
