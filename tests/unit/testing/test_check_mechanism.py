"""The suite on the real mechanisms, and its parts on cases that can be computed by hand.

False alarms: 1e-6 for each check of a real mechanism (fresh noise in every run), 1e-6 for each audit.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from textveil.accounting.ledger import Ledger
from textveil.core import Adjacency, Event, Guarantee, LaplaceNoise, Metric, Pure, Release, Stamp, Unit, UnknownName
from textveil.noise import secure, seeded
from textveil.testing import BrokenLaw, Worlds, certify, check_mechanism, laws_of_events, two_worlds
from textveil.testing.designs import circle, cube, lattice, word_names
from textveil.testing.laws_of_promises import PROMISE
from textveil.testing.values import alike, same
from textveil.text.codes import Codes
from textveil.text.vectors import from_arrays
from textveil.words import BRR, Exponential, Laplace, Vickrey

TRIES = 40_000
TEXTS = ["The cold and the warm.", "Hot, cool: cold?", "warm hot cool cold and the hot and the cool"]
NAMES = ["cold", "cool", "warm", "hot", "the", "and"]
MATRIX = [[-2.0, 1.0], [-1.0, 1.0], [1.0, 1.0], [2.0, 1.0], [0.5, -1.0], [-0.5, -1.0]]


@pytest.fixture(scope="module")
def vectors():
    return from_arrays(NAMES, MATRIX, np.array([[1], [3], [7], [15], [31], [63]], dtype=np.uint64))


# ---- the real mechanisms -------------------------------------------------------------------------------------------


def test_a_real_mechanism_keeps_every_law_in_another_metric(vectors):
    """All that is registered is checked as it comes by test_conformance.py."""
    found = check_mechanism(Exponential(epsilon=0.5, distance="hamming").fit(vectors), list(TEXTS), tries=TRIES)
    assert found.skipped == {}


def test_declared_policies_are_no_faults(vectors):
    mechanism = Laplace(epsilon=2.0, keep=["the", "and"], oov="token", case="drop").fit(vectors)
    assert check_mechanism(mechanism, list(TEXTS), tries=TRIES, audit="none").skipped == {
        PROMISE: "no audit was asked for"
    }


def test_a_seeded_mechanism_is_audited_by_its_noise(vectors):
    assert PROMISE in check_mechanism(BRR(epsilon=0.5, seed=3).fit(vectors), list(TEXTS), tries=4000).held


def test_paper_mode_promises_nothing_and_is_not_audited(vectors):
    found = check_mechanism(
        Vickrey(epsilon=2.0, paper_mode=True, k=1).fit(vectors), list(TEXTS), tries=4000, audit="statistical"
    )
    assert found.skipped[PROMISE] == "it promises nothing"


def test_an_exact_audit_needs_odds(vectors):
    with pytest.raises(ValueError, match="exact audit needs"):
        check_mechanism(Laplace(epsilon=2.0).fit(vectors), list(TEXTS), tries=1000, audit="exact")
    with pytest.raises(UnknownName):
        check_mechanism(Laplace(epsilon=2.0).fit(vectors), list(TEXTS), audit="thorough")


# ---- exact certificates --------------------------------------------------------------------------------------------


def line_odds(points: np.ndarray, epsilon: float) -> np.ndarray:
    """Odds of the nearest word after Laplace noise on a line: differences of the distribution function."""
    edges = np.concatenate([[-math.inf], (points[1:] + points[:-1]) / 2, [math.inf]])
    away = edges[None] - points[:, None]
    cdf = np.where(away < 0, np.exp(epsilon * np.minimum(away, 0)) / 2, 1 - np.exp(-epsilon * np.maximum(away, 0)) / 2)
    return np.diff(cdf, axis=1)


def code_odds(bits: np.ndarray, epsilon: float) -> np.ndarray:
    """Odds of the nearest code after flips, ties shared, by going through all noised codes."""
    width, p = bits.shape[1], 1 / (1 + math.exp(epsilon))
    odds = np.zeros((len(bits), len(bits)))
    for noised in itertools.product((0, 1), repeat=width):
        away = (bits != np.array(noised)).sum(axis=1)
        odds += np.outer(p**away * (1 - p) ** (width - away), (away == away.min()) / (away == away.min()).sum())
    return odds


def test_laplace_on_a_line_is_certified():
    points = np.array([-2.0, -1.0, -0.9, 1.0, 2.5])
    apart = np.abs(points[:, None] - points)
    assert certify(line_odds(points, 1.5), apart, 1.5).holds(1e-9)
    found = certify(line_odds(points, 1.5), apart, 1.4)
    assert found.worst == pytest.approx(0.1 * 3.5)  # the outer cell ends at -1.5: from -1 and 2.5 it is all on one side
    assert found.at == (1, 4, 0)


def test_laplace_draws_what_was_certified():
    points = np.array([-2.0, -1.0, -0.9, 1.0, 2.5], dtype=np.float32)
    mechanism = Laplace(epsilon=1.5).fit(from_arrays(NAMES[:5], points[:, None]))

    def transition(_):
        exact = points.astype(float)
        return line_odds(exact, 1.5), np.abs(exact[:, None] - exact)

    assert check_mechanism(mechanism, list(TEXTS), tries=TRIES, audit="exact", transition=transition).skipped == {}


def test_randomized_response_is_certified_and_drawn_so():
    bits = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]])
    vectors = from_arrays(NAMES[:5], MATRIX[:5]).with_codes(Codes.from_bits(NAMES[:5], bits))
    apart = (bits[:, None] != bits).sum(axis=-1)
    found = check_mechanism(
        BRR(epsilon=0.7).fit(vectors),
        list(TEXTS),
        tries=TRIES,
        audit="exact",
        transition=lambda m: (code_odds(bits, 0.7), apart),
    )
    assert PROMISE in found.held


def test_other_odds_than_those_drawn_are_noticed(vectors):
    apart = np.abs(np.subtract.outer(range(6), range(6))).astype(float)
    with pytest.raises(BrokenLaw, match="do not follow the odds") as caught:
        check_mechanism(
            BRR(epsilon=0.7).fit(vectors),
            list(TEXTS),
            tries=TRIES,
            audit="exact",
            transition=lambda m: (np.full((6, 6), 1 / 6), apart),
        )
    assert caught.value.law == PROMISE


def test_an_excluded_input_is_infinitely_far_from_any_promise():
    odds = np.array([[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]])
    found = certify(odds, 1 - np.eye(3), epsilon=100.0)
    assert found.worst == math.inf and not found.holds()
    a, b, y = found.at
    assert odds[a, y] > 0 and odds[b, y] == 0


def test_certify_equals_a_slow_oracle():
    odds = secure().uniforms((40, 25)) + 0.01
    odds /= odds.sum(axis=1, keepdims=True)
    apart = np.abs(np.subtract.outer(np.arange(40.0), np.arange(40.0)))
    slow = max(
        math.log(odds[a, y] / odds[b, y]) - 0.1 * apart[a, b]
        for a in range(40)
        for b in range(40)
        if a != b
        for y in range(25)
    )
    found = certify(odds, apart, 0.1)
    assert found.worst == pytest.approx(slow, abs=1e-12)
    a, b, y = found.at
    assert math.log(odds[a, y] / odds[b, y]) - 0.1 * apart[a, b] == pytest.approx(slow, abs=1e-12)


@pytest.mark.parametrize(
    ("odds", "apart"),
    [([[0.5, 0.4]], [[0]]), ([[0.5, 0.5]], [[0, 1]]), ([[1.5, -0.5]], [[0]]), ([[1.0]], [[math.inf]])],
)
def test_certify_refuses_what_are_no_odds(odds, apart):
    with pytest.raises(ValueError, match="must"):
        certify(odds, apart, 1.0)


# ---- the two-world audit -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["whole numbers", "real numbers", "two columns"])
def test_the_audit_finds_the_loss_and_not_more(kind):
    """Laplace noise of scale 1 on worlds 0 and 2: the loss is 2; the floor must come close from below."""
    noise, n = secure(), 40_000
    first, second = (shift + noise.exponentials(n) - noise.exponentials(n) for shift in (0, 2))
    if kind == "whole numbers":
        first, second = np.round(first), np.round(second)
    if kind == "two columns":
        first, second = (np.stack([noise.uniforms(n), x], axis=1) for x in (first, second))
    found = two_worlds(first, second, level=1 - 1e-6, distance=2.0)
    assert 1.6 < found.epsilon_floor(1 - 1e-6) <= 2.0
    assert found.refutes(Guarantee(Metric(0.75, "absolute"), Unit.WORD, Adjacency.METRIC), 1 - 1e-6)
    assert not found.refutes(Guarantee(Metric(1.0, "absolute"), Unit.WORD, Adjacency.METRIC), 1 - 1e-6)


def test_a_small_delta_is_granted_and_no_more():
    """A mechanism that tells all with chance 1/100."""
    noise, n = secure(), 40_000
    tells = noise.uniforms((2, n)) < 0.01
    first, second = (np.where(t, 1 + world, 0) for world, t in enumerate(tells))
    allowed = two_worlds(first, second, level=1 - 1e-6, delta=0.01)
    assert allowed.epsilon_floor(1 - 1e-6, 0.01) < 0.1
    assert two_worlds(first, second, level=1 - 1e-6, delta=0.001).epsilon_floor(1 - 1e-6, 0.001) > 1


@pytest.mark.parametrize("seed", range(20))
def test_values_that_never_repeat_do_not_hide_a_difference(seed):
    """Always 0 against 0 half of the time: a question about values met once would find none of them again.

    Hits are binomial, 2,000 tries with share .5 (bins may lose some hundredths): a floor below 3 has odds below 1e-100.
    """
    source = seeded(seed)
    other = np.where(source.uniforms(4_000) < 0.5, source.normals(4_000), 0.0)
    assert two_worlds(np.zeros(4_000), other, level=1 - 1e-6).epsilon_floor(1 - 1e-6) > 3


def test_the_audit_needs_tries():
    with pytest.raises(ValueError, match="two tries"):
        two_worlds(np.zeros(1), np.zeros(1), level=0.99)


# ---- laws about ledgers and plain mechanisms -----------------------------------------------------------------------


class Count:
    name = "count"

    def event(self, shape):
        return Event(LaplaceNoise(1.0), Unit.USER, Adjacency.ADD_REMOVE, source="Dwork et al. 2006", mechanism="count")

    def apply(self, data, *, noise):
        return data.sum(axis=-1) + noise.exponentials(data.shape[:-1]) - noise.exponentials(data.shape[:-1])


class LateLedger(Ledger):
    """Applies first and charges afterwards."""

    def release(self, mechanism, data, shape=None, **_):
        event = mechanism.event(shape)
        value = mechanism.apply(data, noise=secure())
        entry = self.charge(event)
        return Release(
            value,
            event,
            Guarantee(Pure(1.0), event.unit, event.adjacency),
            entry.id,
            Stamp.now("count", {}, draft=False),
        )


class ForgetfulLedger(Ledger):
    """Takes a charge back when the mechanism fails."""

    def release(self, mechanism, data, shape=None, **_):
        try:
            return super().release(mechanism, data, shape)
        except RuntimeError:
            self.path.unlink()
            raise


@pytest.mark.parametrize(("ledger", "what"), [(LateLedger, "before its charge"), (ForgetfulLedger, "lost the charge")])
def test_a_ledger_that_charges_late_is_noticed(ledger, what, monkeypatch):
    monkeypatch.setattr(laws_of_events, "Ledger", ledger)
    with pytest.raises(BrokenLaw, match=what) as caught:
        check_mechanism(Count(), np.ones((2, 3)))
    assert caught.value.law == laws_of_events.CHARGED


def test_rows_are_tried_many_at_once():
    found = check_mechanism(Count(), np.ones((2, 3)), worlds=[Worlds(np.zeros(3), np.array([1.0, 0, 0]), by_row=True)])
    (evidence, guarantee) = found.evidence[0]
    assert evidence.tries == 50_000 and not evidence.refutes(guarantee)
    with pytest.raises(BrokenLaw, match=r"a loss of at least 1.* where 1 is allowed"):
        check_mechanism(Count(), np.ones((2, 3)), worlds=[Worlds(np.zeros(3), np.array([2.0, 0, 0]), by_row=True)])


def test_what_could_not_be_asked_is_said():
    found = check_mechanism(Count(), np.ones((2, 3)))
    assert "give worlds" in found.skipped[PROMISE]
    assert found.skipped[laws_of_events.REFUSED] == "it has no parameter 'epsilon'"


# ---- designs and values --------------------------------------------------------------------------------------------


def test_designs_are_what_they_say():
    for design in (lattice(1, 2.0), lattice(2, 2.0), lattice(3, 2.0), circle(64), cube(), cube(4)):
        assert len(set(design.words)) == len(design.words) == len(design.matrix) == len(design.codes)
        assert len(np.unique(design.matrix, axis=0)) == len(design.matrix)
        assert len(np.unique(design.codes, axis=0)) == len(design.codes)
        assert np.abs(design.matrix).sum(axis=1).min() > 0
    far = lattice(2, 2.0)
    step = far.matrix[far.inputs[2]] - far.matrix[far.inputs[0]]
    assert step == pytest.approx([0.8, 0.8])  # the diagonal
    bits = [int(np.bitwise_count(cube(2).codes[i] ^ cube(2).codes[0]).sum()) for i in cube(2).inputs]
    assert bits == [0, 1, 3, 6]
    assert len(set(word_names(5000))) == 5000


def test_same_and_alike():
    assert same({"a": np.array([1, math.nan])}, {"a": np.array([1, math.nan])})
    assert not same([np.zeros(2)], [np.ones(2)]) and not same(1, 1.0) and not same([1], [1, 2])
    assert alike({"a": 1.0}, {"a": 1.001}) and not alike({"a": 1.0}, {"b": 1.0}) and not alike([1.0], [2.0])
    assert alike(["x"] * 200, ["x"] * 199 + ["y"]) and not alike(["x", "y"], ["x", "z"])
