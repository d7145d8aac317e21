"""Evidence: intervals at the edges, floors in closed form, what refutes what."""

from __future__ import annotations

import json
import math

import pytest
from scipy.stats import beta, binomtest

from textveil.attacks.evidence import NOT_REFUTED, Evidence, lower_limit, upper_limit
from textveil.core import (
    ZCDP,
    Adjacency,
    Approx,
    BadInput,
    BadParameter,
    CannotAdd,
    Cryptographic,
    Guarantee,
    LimitedPrecision,
    Measured,
    Metric,
    NoPromise,
    Pure,
    Unit,
)


def promise(loss, unit=Unit.WORD, adjacency=Adjacency.REPLACE) -> Guarantee:
    return Guarantee(loss, unit, adjacency)


def guess(hits: int, tries: int, chance: float, **more) -> Evidence:
    return Evidence("guess", "success", hits / tries if tries else 0.0, chance, hits, tries, **more)


def exact(value: float, chance: float, **more) -> Evidence:
    return Evidence("guess", "success", value, chance, 0, 0, **more)


def worlds(hits: int, tries: int, false_hits: int, false_tries: int, **more) -> Evidence:
    chance = false_hits / false_tries
    return Evidence(
        "test", "detection", hits / tries, chance, hits, tries, false_hits=false_hits, false_tries=false_tries, **more
    )


@pytest.mark.parametrize(("hits", "tries"), [(0, 1), (1, 1), (0, 40), (40, 40), (3, 17), (310, 1000), (1, 10**6)])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_interval_equals_an_independent_implementation(hits, tries, level):
    expected = binomtest(hits, tries).proportion_ci(level, method="exact")
    assert guess(hits, tries, 0.5).interval(level) == pytest.approx((expected.low, expected.high), abs=1e-10)


def test_limits_at_the_edges():
    assert lower_limit(0, 9, 0.95) == 0
    assert upper_limit(9, 9, 0.95) == 1
    assert upper_limit(0, 9, 0.95) == pytest.approx(1 - 0.05 ** (1 / 9))
    assert exact(0.3, 0.1).interval() == (0.3, 0.3)


@pytest.mark.parametrize("candidates", [2, 5, 100])
@pytest.mark.parametrize("loss", [0.0, 0.3, 2.0, 8.0])
@pytest.mark.parametrize("delta", [0.0, 0.01, 0.2])
def test_floor_is_tight_for_randomized_response_that_sometimes_reveals(candidates, loss, delta):
    kept = math.exp(loss) / (math.exp(loss) + candidates - 1)
    success = delta + (1 - delta) * kept
    evidence = exact(success, 1 / candidates)
    assert evidence.epsilon_floor(delta=delta) == pytest.approx(loss, abs=1e-9)
    assert evidence.allowed_success(promise(Approx(loss, delta))) == pytest.approx(success)
    assert not evidence.refutes(promise(Approx(loss, delta)))
    if loss > 0:
        assert evidence.refutes(promise(Approx(loss * 0.99, delta)))


def test_floor_uses_the_best_constant_guess_not_the_attackers_own():
    weak = guess(60, 100, chance=0.1)
    assert guess(60, 100, chance=0.1, best_prior=0.6).epsilon_floor() == 0
    assert weak.epsilon_floor() > 0
    assert guess(60, 100, chance=0.1, best_prior=0.05).epsilon_floor() == weak.epsilon_floor()


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_a_degenerate_prior_says_nothing(chance):
    assert guess(90, 100, chance).epsilon_floor() == 0


def test_floor_of_two_worlds_in_closed_form():
    evidence = worlds(900, 1000, 100, 1000)
    true = beta.ppf(0.025, 900, 101)
    false = beta.ppf(0.975, 101, 900)
    assert evidence.epsilon_floor() == pytest.approx(math.log(true / false))
    assert evidence.epsilon_floor(delta=0.1) == pytest.approx(math.log((true - 0.1) / false))


def test_the_complement_finds_what_the_plain_ratio_cannot():
    """Never a miss in world 1: the evidence lies in what is *not* said."""
    evidence = worlds(1000, 1000, 500, 1000)
    plain = math.log(beta.ppf(0.025, 1000, 1) / beta.ppf(0.975, 501, 500))
    assert plain < 0.7
    assert evidence.epsilon_floor() > 4.5


def test_a_seen_impossibility_refutes_every_small_epsilon():
    assert worlds(1000, 1000, 0, 1000).refutes(promise(Pure(4.0)))
    assert not worlds(1000, 1000, 0, 1000).refutes(promise(Pure(8.0)))  # 1000 tries cannot show that much
    assert not worlds(100, 1000, 100, 1000).refutes(promise(Pure(0.0)))


@pytest.mark.parametrize(
    ("loss", "distance", "expected"),
    [
        (Metric(0.5, "hamming", "x", 256), None, (128.0, 0.0)),
        (Metric(0.5, "hamming", "x", 256), 3, (1.5, 0.0)),
        (Metric(0.5, "hamming", "x"), None, (math.inf, 0.0)),
        (LimitedPrecision(1.0, 10, 1e-5), None, (1.0, 1e-5)),
        (LimitedPrecision(1.0, 10), 5, (0.5, 0.0)),
        (Pure(2.0), None, (2.0, 0.0)),
        (Approx(2.0, 1e-6), 7, (2.0, 1e-6)),
        (ZCDP(0.5), None, None),
        (Measured(1.0, 0.0, "fitted"), None, None),
        (Cryptographic("semi-honest"), None, None),
        (NoPromise("a seed"), None, None),
    ],
)
def test_what_a_promise_allows(loss, distance, expected):
    assert guess(5, 10, 0.5, distance=distance).allowed(promise(loss)) == expected


def test_metric_promise_is_judged_at_the_distance_of_the_pair():
    near = worlds(800, 1000, 200, 1000, distance=2)
    assert near.refutes(promise(Metric(0.5, "hamming", "x", 256)))
    assert not near.refutes(promise(Metric(1.0, "hamming", "x", 256)))
    assert not worlds(800, 1000, 200, 1000).refutes(promise(Metric(0.5, "hamming", "x", 256)))


def test_another_unit_never_compares_silently():
    with pytest.raises(CannotAdd, match="per word and a promise per user"):
        guess(5, 10, 0.5).refutes(promise(Pure(1.0), Unit.USER))


def test_verdicts():
    assert guess(900, 1000, 0.5).verdict(promise(Pure(0.5))).startswith("refuted: the promise does not hold")
    assert guess(500, 1000, 0.5).verdict(promise(Pure(0.5))).startswith(NOT_REFUTED)
    assert "nothing to refute" in guess(1, 2, 0.5).verdict(promise(NoPromise("broken by design", "broken")))
    assert "allowed: any" in guess(1, 2, 0.5).verdict(promise(Metric(1.0, "l2")))


@pytest.mark.parametrize(
    "evidence",
    [
        guess(3, 10, 0.1),
        exact(1.0, 0.5, best_prior=0.6, upper=1.0),
        worlds(3, 10, 1, 9, distance=4.0, unit=Unit.USER, notes=("a note", "<b>")),
    ],
)
def test_json_round_trip(evidence):
    shown = json.loads(json.dumps(evidence.to_json(), allow_nan=False))
    assert Evidence.from_json(shown) == evidence


def test_json_limits_are_recomputed_not_believed():
    shown = {**guess(3, 10, 0.1).to_json(), "interval": [0.0, 0.0001], "epsilon_floor": 0}
    assert Evidence.from_json(shown).interval() == guess(3, 10, 0.1).interval()


@pytest.mark.parametrize(
    "wrong",
    [
        {"hits": 11},
        {"hits": -1},
        {"tries": 2.5},
        {"chance": 1.5},
        {"value": math.nan},
        {"false_hits": 1},
        {"false_hits": 1, "false_tries": 0},
        {"false_hits": 0, "false_tries": 0},
        {"distance": -1},
        {"upper": 2},
    ],
)
def test_impossible_evidence_is_refused(wrong):
    values = {"attack": "a", "metric": "m", "value": 0.1, "chance": 0.1, "hits": 1, "tries": 10, **wrong}
    with pytest.raises(BadInput):
        Evidence(**values)


def test_json_that_lacks_a_count_is_named():
    with pytest.raises(BadInput, match="evidence lacks hits, tries"):
        Evidence.from_json({"attack": "a", "metric": "m", "value": 0.5, "chance": 0.1})


@pytest.mark.parametrize("level", [0, 1, 1.2, math.nan])
def test_level_is_checked(level):
    with pytest.raises(BadParameter):
        guess(1, 2, 0.5).epsilon_floor(level)
