"""Attacks on hashed tables: laws of attacks on made-up tables, exact values in small worlds, the permutation test."""

from __future__ import annotations

import math

import numpy as np
import pytest

from textveil.attacks.exposure import AnswersSeen, Labelled, Members, TwoWorlds
from textveil.attacks.hashed.api import ApiAttack
from textveil.attacks.hashed.lookup import LookupAttack
from textveil.attacks.hashed.membership import DETECTORS, TermMembershipAttack
from textveil.attacks.hashed.probing import ProbingAttack
from textveil.attacks.hashed.redacted import RedactedAttack
from textveil.attacks.hashed.retrain import RetrainAttack
from textveil.attacks.hashed.seen import TableSeen
from textveil.attacks.hashed.table import TableView, Touched, bins
from textveil.attacks.permutation import permutation_p
from textveil.core import Adjacency, Approx, BadInput, Guarantee, Unit, registry
from textveil.noise import secure, seeded
from textveil.testing import check_attack

ROWS, TERMS, EACH = 4096, 120, 8


def _places() -> np.ndarray:
    return secure().permutation(ROWS)[: TERMS * EACH].reshape(TERMS, EACH)


def _truth() -> np.ndarray:
    return np.repeat([1, 0], TERMS // 2)


def _candidates(labels=None) -> Labelled:
    return Labelled([str(i) for i in range(TERMS)], list(labels if labels is not None else range(TERMS)))


def table_world(what: str) -> TableSeen:
    """All rows drawn from one law; where all is told, rows of trained terms share one lean and repeat the same numbers."""
    rng, places, truth = secure(), _places(), _truth()
    weights = rng.normals((ROWS, 2)).astype(np.float32)
    present = np.zeros((ROWS, 2), bool)
    if what == "all":
        weights[places[truth == 1]] = np.array([-2.5, 2.5], np.float32)
        present[places[truth == 1]] = True
    else:
        present[:] = rng.uniforms((ROWS, 1)) < 0.3
    known = Touched(places[truth == 1].ravel() if what == "all" else np.arange(500))
    view = TableView(
        weights,
        lambda text, label: Touched(places[int(text)]),
        present,
        (np.zeros(2), np.eye(2)),
    )
    return TableSeen(view, _candidates(), known, truth=Members(truth))


def sealed_world(what: str) -> TableSeen:
    """The same, every slot filled."""
    seen = table_world(what)
    view = seen.table
    filled = TableView(view.weights, view.touched, None, view.law)
    return TableSeen(filled, _candidates(np.arange(TERMS) % 2), seen.known, truth=seen.truth)


def retrained_world(what: str) -> TableSeen:
    rng, places, truth = secure(), _places(), _truth()
    weights = rng.normals((ROWS, 2)).astype(np.float32)
    own = rng.normals((ROWS, 2)).astype(np.float32)
    if what == "all":
        own[places[truth == 1]] = weights[places[truth == 1]]
    view = TableView(weights, lambda text, label: Touched(places[int(text)]))
    return TableSeen(
        table=view,
        candidates=_candidates(),
        truth=Members(truth),
        retrain=lambda text, label: (places[int(text)], own[places[int(text)]]),
    )


def probed_world(what: str) -> AnswersSeen:
    truth = _truth()
    score = secure().normals(TERMS) + (5.0 * truth if what == "all" else 0.0)
    answers = np.column_stack([score, score > 2])
    return AnswersSeen(_candidates(), scores=lambda texts: answers[[int(t) for t in texts]], truth=Members(truth))


def api_world(what: str) -> AnswersSeen:
    """Three probes a term."""
    seen = probed_world(what)
    texts = [str(i) for i in range(TERMS) for _ in range(3)]
    return AnswersSeen(
        query=lambda asked: seen.scores(asked)[:, 1],
        candidates=Labelled(texts, texts),
        truth=Members(np.repeat(_truth(), 3)),
    )


@pytest.mark.parametrize(
    ("attack", "factory"),
    [
        (LookupAttack(), table_world),
        *((TermMembershipAttack(detector), sealed_world) for detector in DETECTORS),
        (RedactedAttack(), sealed_world),
        (RetrainAttack(), retrained_world),
        (ProbingAttack(), probed_world),
    ],
    ids=lambda value: getattr(value, "detector", getattr(value, "name", "")),
)
def test_laws_of_attacks(attack, factory):
    check_attack(attack, factory)


def test_an_api_that_answers_for_trained_terms_alone_tells_them():
    found = ApiAttack().run(api_world("all"), rng=secure())
    assert found.value > 0.95 and found.tries == found.false_tries == TERMS // 2
    with pytest.raises(BadInput, match="needs query"):
        ApiAttack().run(AnswersSeen(_candidates(), truth=Members(_truth())), rng=secure())


def test_every_attack_is_registered():
    names = [name for name in registry.names("attack") if name.startswith("hashed.")]
    assert names == [f"hashed.{n}" for n in ("api", "lookup", "membership", "probing", "redacted", "retrain")]
    assert all(registry.make("attack", name).name == name for name in names)


def test_look_up_says_nothing_once_every_slot_is_filled():
    found = LookupAttack().run(sealed_world("all"), rng=secure())
    assert found.value == 0.5 and found.hits == found.false_hits == 0


def test_an_unknown_detector_is_named():
    with pytest.raises(BadInput, match="correlation, granularity, likelihood"):
        TermMembershipAttack("weather").run(sealed_world("all"), rng=secure())


def test_bins_have_equal_chances_under_the_law():
    """Exact: quantiles of the law fall one into each bin, whatever its mean and covariance."""
    from scipy.special import ndtri

    covariance = np.array([[2.0, -1.2], [-1.2, 1.0]])
    grid = ndtri((np.arange(8) + 0.5) / 8)
    white = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    rows = white @ np.linalg.cholesky(covariance).T + np.array([3.0, -1.0])
    assert sorted(bins(rows, (np.array([3.0, -1.0]), covariance), 8)) == list(range(64))


class GaussianWorlds:
    """Two worlds `distance` apart under noise of standard deviation 1, spread over several slots."""

    def __init__(self, distance: float):
        self.expected = np.stack([np.zeros(4), np.full(4, distance / 2)])

    def sample(self, worlds, source):
        return self.expected[worlds] + source.normals((len(worlds), 4))


@pytest.mark.parametrize("distance", [0.0, 0.5, 2.0])
def test_two_worlds_under_gaussian_noise_have_the_area_of_theory(distance):
    """A = Phi(distance / sqrt 2); false alarm below 1e-6 (five standard errors and more)."""
    from scipy.special import ndtr

    found = RetrainAttack(tries=4000).run(TwoWorlds(GaussianWorlds(distance)), rng=secure())
    expected = float(ndtr(distance / math.sqrt(2)))
    assert abs(found.value - expected) < 5.5 * math.sqrt(0.25 / 4000)
    assert found.unit is Unit.EXAMPLE and found.two_worlds


def test_too_little_noise_is_refuted_and_enough_is_not():
    promise = Guarantee(Approx(1.0, 1e-6), Unit.EXAMPLE, Adjacency.REPLACE)
    broken = RetrainAttack(tries=4000).run(TwoWorlds(GaussianWorlds(6.0)), rng=secure())
    kept = RetrainAttack(tries=4000).run(TwoWorlds(GaussianWorlds(0.1)), rng=secure())
    assert broken.refutes(promise) and not kept.refutes(promise)


def test_probing_counts_and_tests():
    found = ProbingAttack().run(probed_world("all"), rng=seeded(0))
    assert any("of 60 trained terms" in note for note in found.notes)
    assert any("p = 5e-05" in note or "p = 4.9" in note for note in found.notes)


def test_permutation_p_is_exact_when_all_groupings_are_listed():
    """Over all groupings the p-values of distinct scores are uniform: the level is kept exactly."""
    from itertools import combinations

    scores = np.array([0.1, 0.7, 1.9, 3.2, 5.5])
    found = []
    for some in combinations(range(5), 2):
        member = np.isin(np.arange(5), some)
        found.append(permutation_p(scores, member, seeded(0)))
    assert np.allclose(sorted(found), np.arange(1, 11) / 10)


def test_drawn_groupings_agree_with_theory():
    """The two highest of 250: p = 1 / C(250, 2), too many groupings to list; the others are never that low."""
    scores = np.arange(250.0)
    member = scores >= 248
    assert permutation_p(scores, member, seeded(1)) < 0.001
    assert permutation_p(scores, ~member, seeded(1)) > 0.999
