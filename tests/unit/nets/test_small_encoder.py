"""The small encoder: a batch of one equals the padded batch, gradients per example, tags, losses of a masked place."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from textveil.nets.plain_fit import fit_plainly  # noqa: E402
from textveil.nets.references import fitted_anew  # noqa: E402
from textveil.nets.small_encoder import SmallEncoder  # noqa: E402


def net() -> SmallEncoder:
    torch.manual_seed(0)
    return SmallEncoder(40, width=16, layers=2, heads=4, longest=12).eval()


ROWS = [[10, 11, 12, 13, 14, 15, 16, 17, 18], [20, 21, 22, 23], [30]]


def test_a_batch_of_one_equals_the_padded_batch():
    made = net()
    together = made.losses(made.collate(ROWS))
    alone = torch.cat([made.losses(made.collate([row])) for row in ROWS])
    assert torch.allclose(together, alone, atol=1e-5)


def test_the_engine_takes_it():
    from textveil.noise import seeded
    from textveil.training.engine import PrivateTrainer
    from textveil.training.plan import TrainingPlan

    made = net()
    before = made.words.weight.clone()
    PrivateTrainer(made, TrainingPlan(1.0, 4, 12, 2), rate=0.01, source=seeded(1)).fit(ROWS * 4)
    assert not torch.equal(before, made.words.weight)


def test_losses_of_a_place_are_a_law_and_follow_what_was_learnt():
    made = net()
    assert np.exp(-made.piece_losses([5, 6, 7], 1)).sum() == pytest.approx(1)
    fit_plainly(made, [[5, 6, 7]] * 64, epochs=6, batch=16, rate=0.01, seed=1)
    losses = made.piece_losses([5, 6, 7], 1)
    assert int(losses.argmin()) == 6


def test_tags_are_learnt_from_first_pieces():
    made = net().tagger(["O", "B-X"])
    told = [([[10, 11], [20]], ["B-X", "O"]), ([[20], [20], [10]], ["O", "O", "B-X"])] * 20
    fit_plainly(made, told, epochs=8, batch=8, rate=0.01, seed=1)
    assert made.tag([s for s, _ in told[:2]]) == [t for _, t in told[:2]]
    assert made.tag([[[20]] * 14])[0][12:] == ["O", "O"]  # beyond the longest


def test_a_reference_starts_afresh():
    made = net()
    fresh = fitted_anew(made, ROWS, epochs=1, rate=1e-3, batch=2, seed=3)
    assert not torch.allclose(fresh.words.weight, made.words.weight, atol=1e-3)
