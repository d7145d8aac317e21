"""Algorithm 1 against slow loops, and what follows from it."""

from __future__ import annotations

import numpy as np
import pytest

from textveil.core import BadInput
from textveil.federated.texthide import HidingPlan, TextHide, drawn_key, hide, mask_pool, mix_labels
from textveil.federated.texthide_step import batch_rows, pool_sizes
from textveil.noise import seeded

BATCH, WIDTH = 9, 7


def drawn(masks=5, mixed=3, scheme="intra", seed=1):
    pool = mask_pool(masks or 0, WIDTH, b"key")
    return drawn_key(HidingPlan(masks, mixed, scheme), pool, BATCH, noise=seeded(seed), public=4), pool


@pytest.mark.parametrize(("scheme", "mixed"), [("intra", 3), ("inter", 4), ("inter", 3), ("inter", 1)])
def test_hiding_is_the_sum_of_the_paper_and_labels_come_from_private_texts_alone(scheme, mixed):
    key, _ = drawn(mixed=mixed, scheme=scheme)
    noise = seeded(2)
    own, labels, public = noise.normals((BATCH, WIDTH)), np.eye(2)[noise.below(2, BATCH)], noise.normals((4, WIDTH))
    hidden, mixed_labels = hide(key, own, public), mix_labels(key, labels)
    private = mixed if scheme == "intra" else (mixed + 1) // 2
    for i in range(BATCH):
        total, label, weight = np.zeros(WIDTH), np.zeros(2), 0.0
        for j in range(mixed):
            share, row = float(key.shares[i, j]), int(key.rows[i, j])
            total += share * (own[row] if j < private else public[row])
            if j < private:
                label, weight = label + share * labels[row], weight + share
        assert np.allclose(hidden[i], key.signs[i] * total, atol=1e-6)
        assert np.allclose(mixed_labels[i], label / weight, atol=1e-6)


def test_each_item_is_mixed_with_others_of_its_batch_by_permutations_and_shares_that_sum_to_one():
    key, pool = drawn()
    assert key.rows[:, 0].tolist() == list(range(BATCH))
    assert all(sorted(key.rows[:, j]) == list(range(BATCH)) for j in range(3))
    assert (key.shares >= 0).all() and np.allclose(key.shares.sum(1), 1)
    assert (key.signs == pool[key.mask_numbers]).all()


def test_no_mask_changes_an_absolute_value():
    own = seeded(3).normals((BATCH, WIDTH))
    masked, bare = drawn(masks=5)[0], drawn(masks=0)[0]
    assert np.allclose(np.abs(hide(masked, own)), np.abs(hide(bare, own)))


def test_a_pool_belongs_to_its_key_and_fresh_masks_to_nobody():
    assert (mask_pool(6, WIDTH, b"a") == mask_pool(6, WIDTH, b"a")).all()
    assert (mask_pool(64, WIDTH, b"a") != mask_pool(64, WIDTH, b"b")).any()
    assert set(mask_pool(64, WIDTH, b"a").ravel().tolist()) == {-1, 1}
    fresh = drawn(masks=None)[0]
    assert (fresh.mask_numbers == -1).all() and len({row.tobytes() for row in fresh.signs}) > 1


def test_pools_of_clients_sum_to_m_unless_each_has_its_own():
    assert pool_sizes(256, 10) == 25
    assert pool_sizes(16, 40) == 1
    assert pool_sizes(256, 10, per_client=True) == 256
    assert (pool_sizes(0, 10), pool_sizes(None, 10)) == (0, None)


@pytest.mark.parametrize(
    "bad", [{"masks": -1}, {"masks": True}, {"mixed": 0}, {"scheme": "outer"}], ids=lambda bad: next(iter(bad))
)
def test_bad_settings_are_refused(bad):
    with pytest.raises(BadInput):
        TextHide(**bad).transform((np.eye(2), np.eye(2)))


def test_inter_without_public_text_and_tables_that_do_not_fit_are_refused():
    with pytest.raises(BadInput, match="public"):
        TextHide(scheme="inter").transform((np.eye(4), np.eye(4)))
    with pytest.raises(BadInput, match="two tables"):
        TextHide().transform((np.eye(4), np.eye(3)))


def test_nothing_is_promised_and_it_is_called_broken():
    assert TextHide().guarantee_.label == "broken"


def test_the_rows_of_a_batch_follow_from_the_number_that_was_sent():
    assert batch_rows(50, 8, 7) == batch_rows(50, 8, 7)
    assert len(set(batch_rows(5, 8, 7))) == 5
