"""Norms and clipped sums from records equal those of gradients taken one example at a time, in double precision."""

# ruff: noqa: E402 (without torch the whole file is skipped)
from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn

from textveil.core import BadInput
from textveil.nets.lstm import LSTM
from textveil.nets.tape import per_example
from textveil.training.clipping_explicit import add_clipped_units, verify
from textveil.training.clipping_tape import NotFinite, Recorder

WORDS, WIDTH = 11, 6


class Net(nn.Module):
    """Words through `body` (B, T, WIDTH) to one loss per example, the mean over its own words."""

    def __init__(self, padding=0):
        super().__init__()
        self.vectors = nn.Embedding(WORDS, WIDTH, padding_idx=padding)
        self.out = nn.Linear(WIDTH, WORDS)

    def collate(self, examples):
        lengths = torch.tensor([len(e) for e in examples])
        words = torch.zeros(len(examples), int(lengths.max()), dtype=torch.long)
        for k, e in enumerate(examples):
            words[k, : len(e)] = torch.tensor(e)
        return {"words": words, "lengths": lengths, "inside": torch.arange(words.shape[1]) < lengths[:, None]}

    def body(self, x, batch):
        return x

    def losses(self, batch):
        x = self.body(self.vectors(batch["words"]), batch)
        targets = batch["words"].masked_fill(~batch["inside"], -100)
        each = nn.functional.cross_entropy(self.out(x).flatten(0, 1), targets.flatten(), reduction="none")
        return each.view(targets.shape).sum(1) / batch["lengths"]


class Tied(Net):
    def __init__(self):
        super().__init__(padding=None)
        self.out.weight = self.vectors.weight


class UsedTwice(Net):
    def __init__(self):
        super().__init__()
        self.mix, self.norm = nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH)

    def body(self, x, batch):
        return self.norm(x + torch.tanh(self.mix(self.norm(torch.relu(self.mix(x))))))


class Positions(Net):
    def __init__(self):
        super().__init__()
        self.places = nn.Embedding(20, WIDTH)

    def body(self, x, batch):
        return x + self.places(torch.arange(x.shape[1])[None])  # shared by all examples


class Convolved(Net):
    def __init__(self, **how):
        super().__init__()
        self.filter = nn.Conv1d(WIDTH, WIDTH, **how)

    def body(self, x, batch):
        return self.filter(x.transpose(1, 2)).transpose(1, 2)


class Recurrent(Net):
    def __init__(self, layers=1, both=True):
        super().__init__()
        self.lstm, self.narrow = LSTM(WIDTH, 5, layers, both), nn.Linear(10 if both else 5, WIDTH)

    def body(self, x, batch):
        return self.narrow(self.lstm(x, batch["lengths"]))


class Bare(Net):
    def __init__(self, recorded=True):
        super().__init__()
        self.scale, self.recorded = nn.Parameter(torch.randn(WIDTH)), recorded

    def body(self, x, batch):
        scale = per_example(self.scale, len(x))[:, None] if self.recorded else self.scale
        return torch.tanh(x * scale) + x * scale


class PartUnread(Net):
    """Layers whose output nobody reads have no gradient, and do no harm."""

    def __init__(self):
        super().__init__()
        self.idle, self.norm, self.far = nn.Linear(WIDTH, 2), nn.LayerNorm(WIDTH), nn.Embedding(WORDS, 2)
        self.lstm, self.scale = LSTM(WIDTH, 2), nn.Parameter(torch.ones(3))

    def body(self, x, batch):
        per_example(self.scale, len(x))
        self.idle(x), self.norm(x), self.far(batch["words"]), self.lstm(x, batch["lengths"])
        return x


class HalfFrozen(Recurrent):
    def __init__(self):
        super().__init__()
        self.vectors.requires_grad_(False)
        self.lstm.weight_hh_l0.requires_grad_(False)
        self.out.bias.requires_grad_(False)


class Grouped(Net):
    """A layer that only Opacus knows."""

    def __init__(self):
        super().__init__()
        self.norm = nn.GroupNorm(2, WIDTH)

    def body(self, x, batch):
        return self.norm(x.flatten(0, 1)).view_as(x) if not x.requires_grad else self.whole(x)

    def whole(self, x):
        return self.norm(x.transpose(1, 2)).transpose(1, 2)


KINDS = {
    "embedding and linear": Net,
    "tied": Tied,
    "layer used twice": UsedTwice,
    "shared positions": Positions,
    "convolution": lambda: Convolved(kernel_size=3, padding=1),
    "dilated convolution": lambda: Convolved(kernel_size=3, padding="same", dilation=2),
    "lstm": Recurrent,
    "two layers, both ways": lambda: Recurrent(2),
    "three layers, one way": lambda: Recurrent(3, False),
    "bare parameter": Bare,
    "half of it rests": HalfFrozen,
    "part of it is not read": PartUnread,
}


def some(count=7, seed=0, longest=12):
    rng = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, longest, (count,), generator=rng).tolist()
    return [torch.randint(1, WORDS, (n,), generator=rng).tolist() for n in lengths]


def both_ways(net, examples, clip):
    recorder = Recorder(net)
    fast, slow = ({p: torch.zeros_like(p) for p in recorder.parameters} for _ in range(2))
    norms = recorder.add_clipped(net.collate(examples), len(examples), clip, fast)
    recorder.close()
    expected = add_clipped_units(net, recorder.parameters, [[e] for e in examples], clip, slow)
    return norms, expected, fast, slow


@pytest.mark.parametrize("kind", KINDS)
def test_records_equal_gradients_taken_one_by_one(kind):
    torch.manual_seed(3)
    net = KINDS[kind]().double()
    clip = 0.8
    norms, expected, fast, slow = both_ways(net, some(), clip)
    assert (expected > clip).any() and (expected < 2 * clip).any()  # some are clipped
    assert torch.allclose(norms.double(), expected.double(), rtol=2e-5)
    for p in slow:
        assert torch.allclose(fast[p], slow[p], rtol=1e-4, atol=2e-5)


def test_single_precision_is_as_good():
    torch.manual_seed(4)
    norms, expected, *_ = both_ways(Recurrent(2), some(30, longest=40), 0.1)
    assert torch.allclose(norms, expected, rtol=1e-4)


def test_no_clipped_gradient_is_longer_than_the_clip():
    torch.manual_seed(5)
    for kind in (Recurrent, Tied, UsedTwice):
        net = kind()
        for example in some(5):
            _, _, fast, _ = both_ways(net, [example], 1e-3)
            assert sum(g.double().square().sum() for g in fast.values()).sqrt() <= 1e-3


def test_padding_contributes_exactly_nothing():
    torch.manual_seed(6)
    net, (short, *_), long = Recurrent(), some(3), list(range(1, 11)) * 4
    alone, _, _, _ = both_ways(net.double(), [short], 1.0)
    padded, _, _, _ = both_ways(net, [short, long], 1.0)
    assert float(padded[0]) == pytest.approx(float(alone[0]), rel=1e-12)


def test_a_gradient_that_cancels_is_not_understated():
    from textveil.training.norms_dense import gram_norms

    a = torch.tensor([[[1.0, 3e3], [1.0, 3e3]]])
    g = torch.tensor([[[1e3, 1.0], [-1e3, -1.0 + 1e-3]]])  # sums to almost nothing
    true = (g.double().transpose(1, 2) @ a.double()).square().sum()
    assert gram_norms(a @ a.mT, g @ g.mT)[0] >= true


def test_opacus_helps_where_no_rule_is_known():
    pytest.importorskip("opacus")
    torch.manual_seed(7)
    equal = [e[:3] for e in some(9) if len(e) >= 3]  # group norm sees padding: sentences of one length
    verify(Grouped(), equal, 1e-4)


def test_a_net_that_cannot_be_trusted_is_refused_and_its_parameter_named():
    torch.manual_seed(8)
    with pytest.raises(BadInput, match="scale"):
        verify(Bare(recorded=False), some())

    class Mixed(Net):
        def body(self, x, batch):
            return x - x.mean(0)  # each example sees the others

    with pytest.raises(BadInput, match="mix examples"):
        verify(Mixed(), some())


def test_batch_normalisation_and_strange_losses_are_refused():
    class Normed(Net):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(WIDTH)

    with pytest.raises(BadInput, match="BatchNorm1d mixes the examples"):
        Recorder(Normed())

    class Summed(Net):
        def losses(self, batch):
            return super().losses(batch).sum()

    net = Summed()
    recorder = Recorder(net)
    with pytest.raises(BadInput, match="one loss per example"):
        recorder.add_clipped(net.collate(some()), 7, 1.0, {p: torch.zeros_like(p) for p in net.parameters()})


def test_where_a_gradient_is_not_finite_nothing_is_added():
    net = Net()
    with torch.no_grad():
        net.out.bias[0] = float("nan")
    sums = {p: torch.zeros_like(p) for p in net.parameters()}
    norms = Recorder(net).add_clipped(net.collate(some()), 7, 1.0, sums)
    assert not torch.isfinite(norms).any()
    assert all((g == 0).all() for g in sums.values())


def test_a_net_that_gives_no_number_at_all_is_told_before_it_trains():
    net = Net()
    with torch.no_grad():
        net.out.bias[0] = float("nan")
    with pytest.raises(NotFinite, match="not finite for the examples it was tried on"):
        verify(net, some())
