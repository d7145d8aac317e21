"""Audits of training: exposure and its line, one-run limits, membership. Exact laws wherever there are any."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import Members, TwoWorlds
from textveil.attacks.training.canaries import Canaries, Canary, as_example, make_canaries, spread
from textveil.attacks.training.canary_rank import ExposureAttack, bound_line, exposed, extrapolated
from textveil.attacks.training.membership import LiraAttack, LossAttack
from textveil.attacks.training.one_run import OneRunAttack, guessed, one_run_floor, p_value
from textveil.attacks.training.seen import CanariesSeen, ModelSeen
from textveil.core import Adjacency, Approx, BadInput, Guarantee, Pure, Unit
from textveil.noise import seeded

SECRETS = [f"s{i}" for i in range(64)]
HSH = Canary("HSH", ("a", "b", "c"), 1, 1)


# ---- canaries --------------------------------------------------------------------------------------------------------


def test_canaries_have_their_forms_and_copies():
    made = make_canaries(SECRETS, seeded(1), copies=(1, 3), each=2, generic=8)
    assert [len(c.words) for c in made.canaries[::4]] == [2, 3, 5, 5]
    assert len(made.examples()) == sum(c.copies for c in made.canaries) == 4 * 2 * (1 + 3)
    for canary in made.canaries:
        texts = made.alternatives(canary, seeded(2))
        assert texts[0] == canary.text and len(texts) == 64
        if canary.place is not None:
            assert len(set(texts)) == 64
            assert all(t.split()[: canary.place] == list(canary.words[: canary.place]) for t in texts)


def test_coins_leave_some_out_and_files_come_back(tmp_path):
    made = make_canaries(SECRETS, seeded(1), forms=["HS"], copies=[1], each=40, coin=True, tags=["O", "B-X"])
    assert 5 < sum(c.inserted for c in made.canaries) < 35
    made.save(tmp_path / "c.json")
    assert Canaries.load(tmp_path / "c.json") == made
    words, tags = as_example(made.canaries[0], made.canaries[0].text)
    assert words == list(made.canaries[0].words) and len(tags) == 2
    (tmp_path / "c.json").write_text("{}")
    with pytest.raises(BadInput, match="no file of canaries"):
        Canaries.load(tmp_path / "c.json")


def test_spread_keeps_everything():
    assert sorted(spread(["a", "b"], ["c"], seeded(1))) == ["a", "b", "c"]


# ---- exposure --------------------------------------------------------------------------------------------------------


def test_rank_ties_and_cap():
    best = exposed(HSH, np.array([0.0, 1, 2, 3]))
    assert best.rank == 1 and best.exposure == best.cap == best.high == 2
    tied = exposed(HSH, np.ones(5))
    assert tied.rank == 5  # all of them stand before it
    worst = exposed(HSH, np.array([9.0, 1, 2, 3]))
    assert worst.exposure == 0 and worst.low == 0
    assert best.low <= best.exposure <= best.high


def test_the_extrapolated_exposure_of_a_normal_law():
    from scipy.special import log_ndtr
    from scipy.stats import norm

    losses = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    for own in (-6.0, -3.0, 0.0):
        assert extrapolated(own, losses) == pytest.approx(-float(log_ndtr(own)) / math.log(2), rel=0.02)
    assert extrapolated(0.0, np.zeros(3)) == 1.0


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_line_holds_for_randomized_response(epsilon):
    """One of n secrets is told by randomized response; candidates are ranked by what was told, the rest at random. The
    law of the rank is known, and at no b is a secret above it more often than the bound says."""
    n = 256
    tells = math.exp(epsilon) / (math.exp(epsilon) + n - 1)  # replace-one: its promise for add/remove is no smaller
    for bits in range(9):
        found = tells + (1 - tells) * (n / 2**bits - 1) / (n - 1) if bits < 8 else tells
        assert found <= math.exp(epsilon) * 2.0**-bits + 1e-12
    line = bound_line(epsilon, 0.0, 1, 4)
    assert math.exp(epsilon) * 2**-line == pytest.approx(0.01 / 4)


def test_the_line_follows_copies_and_delta():
    assert [bound_line(0.5, 0.0, k, 1) for k in (1, 2, 3)] == pytest.approx(
        [(0.5 * k + math.log(100)) / math.log(2) for k in (1, 2, 3)]
    )
    assert bound_line(1.0, 0.01, 1, 1) == math.inf
    assert bound_line(100.0, 0.0, 10, 1) == math.inf


def memory(kept: set[str]):
    """A model that likes the texts that it kept and is blind to all others."""

    def losses(texts):
        return np.array([0.1 if t in kept else 1 + (hash_of(t) % 1000) / 1000 for t in texts])

    return losses


def hash_of(text: str) -> int:
    return sum((i + 7) * ord(c) * 2654435761 for i, c in enumerate(text)) % 1_000_003


PROMISE = Guarantee(Approx(1.0, 1e-6), Unit.EXAMPLE, Adjacency.ADD_REMOVE)


def test_a_model_that_remembers_is_found_and_a_blind_one_is_not():
    made = make_canaries(SECRETS, seeded(3), copies=(1,), each=10, generic=8)
    remembers = CanariesSeen(memory({c.text for c in made.canaries}), made)
    found = ExposureAttack(epsilon=1.0, delta=1e-6).run(remembers, rng=seeded(1))
    assert found.hits == found.tries == 40 and found.chance == 4 / 64
    assert not found.refutes(PROMISE)  # its canaries share one model
    assert "no false-alarm rate is known" in found.verdict(PROMISE)
    assert any("above the cap" in note for note in found.notes)
    blind = ExposureAttack().run(CanariesSeen(memory(set()), made), rng=seeded(1))
    assert not blind.refutes(PROMISE)


def test_ties_never_raise_the_false_alarm_rate():
    """A secret drawn at random among |R|, losses with many ties: P[exposure >= b] <= 2^-b for every b."""
    for losses in (np.repeat([1.0, 2.0, 3.0], [2, 4, 58]), np.zeros(64), np.arange(64) // 2, np.arange(64.0)):
        canary = Canary("HS", ("a", "b"), 1, 1)
        exposures = [
            exposed(canary, np.concatenate([losses[i : i + 1], np.delete(losses, i)])).exposure for i in range(64)
        ]
        for bits in exposures:
            assert np.mean(np.array(exposures) >= bits) <= 2**-bits * (1 + 1e-12)


def test_crossing_the_line_is_said():
    made = make_canaries([f"s{i}" for i in range(4096)], seeded(3), forms=["HS"], copies=(1,), each=1)
    seen = CanariesSeen(memory({made.canaries[0].text}), made)
    notes = ExposureAttack(epsilon=0.5, delta=1e-9).run(seen, rng=seeded(1)).notes
    assert any("CROSSED" in note for note in notes)


def test_copies_are_read_as_a_group():
    many = Evidence("a", "b", 1.0, 0.1, 20, 20, unit=Unit.EXAMPLE, false_hits=100, false_tries=1000, group=3)
    assert many.allowed(PROMISE).epsilon == 3
    assert many.allowed(PROMISE).delta == pytest.approx(3 * math.exp(2) * 1e-6)
    assert Evidence.from_json(many.to_json()) == many
    assert not many.refutes(PROMISE) and Evidence.from_json({**many.to_json(), "group": 1}).refutes(PROMISE)


# ---- one run ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("coins", [10, 200])
def test_the_limit_never_exceeds_randomized_response(epsilon, coins):
    """Coins told by randomized response: the number of right guesses is binomial, so the coverage is a sum."""
    right = 1 / (1 + math.exp(-epsilon))
    exceeds = sum(
        binom.pmf(v, coins, right) for v in range(coins + 1) if one_run_floor(coins, coins, v, 0.95) > epsilon + 1e-9
    )
    assert exceeds <= 0.05


@pytest.mark.parametrize(("epsilon", "reached"), [(1.0, 0.7), (2.0, 1.6), (4.0, 3.0)])
def test_the_limit_has_power(epsilon, reached):
    right = 1 / (1 + math.exp(-epsilon))
    enough = next(v for v in range(600, 1001) if p_value(1000, 1000, v, reached) <= 0.05)
    assert one_run_floor(1000, 1000, enough, 0.95) >= reached
    assert binom.sf(enough - 1, 1000, right) > 0.99


def test_the_p_value_of_delta_is_the_formula():
    def f(v):
        return binom.sf(v - 1, 12, 1 / (1 + math.exp(-0.7)))

    expected = f(9) + 2 * 50 * 1e-3 * max((f(9 - i) - f(9)) / i for i in range(1, 10))
    assert p_value(50, 12, 9, 0.7, 1e-3) == pytest.approx(expected)
    values = [p_value(50, 12, 9, e, 1e-3) for e in np.linspace(0, 4, 30)]
    assert all(a <= b + 1e-12 for a, b in pairwise(values))


def test_a_gaussian_sum_is_audited_within_its_promise():
    """Each canary has a coordinate of its own; noise of deviation 1 keeps (4.38, 1e-5). 40 audits at level 1 - 2.5e-8:
    false alarm at most 1e-6 in all. Power is checked on the same fixed seeds."""
    floors, sure = [], 1 - 2.5e-8
    for seed in range(40):
        rng = np.random.default_rng(seed)
        coins = rng.random(2000) < 0.5
        scores = coins + rng.normal(size=2000)
        right, guesses = guessed(scores, coins, 0.05, seeded(seed))
        assert one_run_floor(2000, guesses, right, sure, 1e-5) <= 4.38
        floors.append(one_run_floor(2000, guesses, right, 0.95, 1e-5))
    assert np.mean(floors) > 1.2


def test_one_run_finds_a_model_that_remembers():
    made = make_canaries(SECRETS, seeded(3), forms=["random"], copies=(1,), each=200, coin=True)
    kept = {c.text for c in made.canaries if c.inserted}
    found = OneRunAttack(share=0.5).run(CanariesSeen(memory(kept), made), rng=seeded(1))
    assert found.value == 1 and found.coins == 200 and found.tries == 100
    assert found.epsilon_floor() == pytest.approx(one_run_floor(200, 100, 100))
    assert found.refutes(PROMISE) and Evidence.from_json(found.to_json()) == found
    blind = OneRunAttack(share=0.5).run(CanariesSeen(memory(set()), made), rng=seeded(1))
    assert not blind.refutes(PROMISE)


def test_one_run_needs_coins():
    made = make_canaries(SECRETS, seeded(3), forms=["HS"], copies=(1,), each=4)
    with pytest.raises(BadInput, match="coins"):
        OneRunAttack().run(CanariesSeen(memory(set()), made), rng=seeded(1))
    with pytest.raises(BadInput, match="takes CanariesSeen"):
        OneRunAttack().run(TwoWorlds(None), rng=seeded(1))


# ---- membership ------------------------------------------------------------------------------------------------------


def examples_with(level: float):
    """Hard and easy examples; members' losses are lower by `level`, which hardness hides from a plain threshold."""
    rng = np.random.default_rng(0)
    hard = rng.normal(0, 3, 600)
    noise = rng.normal(0, 0.3, 600)
    member = np.arange(600) < 200
    target = hard + noise - level * member
    references = [
        lambda asked, r=r: hard[list(asked)] + np.random.default_rng(r).normal(0, 0.3, 600)[list(asked)] for r in (1, 2)
    ]
    return ModelSeen(
        losses=lambda asked: target[list(asked)],
        examples=range(400),
        own_examples=range(400, 600),
        references=references,
        truth=Members(member[:400].astype(int)),
    )


def test_references_see_through_hardness():
    plain = LossAttack().run(examples_with(1.0), rng=seeded(1))
    lira = LiraAttack().run(examples_with(1.0), rng=seeded(1))
    assert lira.value > 0.95 > 0.75 > plain.value > 0.5
    assert lira.epsilon_floor() > 1 > plain.epsilon_floor()


@pytest.mark.parametrize("attack", [LossAttack(), LiraAttack()], ids=lambda a: a.name)
def test_counts_of_one_model_claim_no_false_alarm_rate(attack):
    """All tries look at one draw of the training: what would refute a promise in independent tries refutes nothing here."""
    found = attack.run(examples_with(4.0), rng=seeded(1))
    promise = Guarantee(Pure(0.1), Unit.EXAMPLE, Adjacency.ADD_REMOVE)
    assert found.epsilon_floor() > 0.1 and replace(found, dependent=False).refutes(promise)
    assert found.dependent and not found.refutes(promise)
    assert "no false-alarm rate is known" in found.verdict(promise)


def test_no_leak_no_finding():
    found = LiraAttack().run(examples_with(0.0), rng=seeded(1))
    assert abs(found.value - 0.5) < 0.1 and found.epsilon_floor() == 0


def test_the_truth_must_match():
    with pytest.raises(BadInput, match="1 or 0 for each"):
        ModelSeen(len, range(3), range(2), truth=Members(np.array([1, 0])))
