"""Nets that would carry private values past the noise are refused: running statistics, shortened rows, half precision."""

# ruff: noqa: E402 (without torch the whole file is skipped)
from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn

from textveil.core import BadInput, Unit
from textveil.training import PrivateTrainer, TrainingPlan, verify

WIDTH = 4
ROWS = torch.randn(12, 3, WIDTH, generator=torch.Generator().manual_seed(1)).tolist()


class Through(nn.Module):
    """Rows (places, WIDTH) through a layer to one loss each."""

    def __init__(self, layer):
        super().__init__()
        self.layer, self.out = layer, nn.Linear(WIDTH, 1)

    def collate(self, examples):
        return torch.tensor(examples)

    def losses(self, batch):
        return self.out(self.layer(batch)).square().sum((1, 2))


class Reads(Through):
    """Piece numbers through an embedding."""

    def collate(self, examples):
        return torch.tensor([[int(abs(place[0]) * 10) % 9 for place in row] for row in examples])


class Turned(nn.Module):
    """A layer over channels, for rows whose last dimension they are."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x.transpose(1, 2)).transpose(1, 2)


class Tracks(nn.Module):
    """Keeps the mean of what it read, and does not use it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(WIDTH))

    def forward(self, x):
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * x.detach().mean((0, 1))
        return x


def frozen(layer):
    return layer.requires_grad_(False)


LEAKS = {
    "batch norm without parameters": (lambda: Turned(nn.BatchNorm1d(WIDTH, affine=False)), "BatchNorm1d mixes"),
    "frozen batch norm": (lambda: Turned(frozen(nn.BatchNorm1d(WIDTH))), "BatchNorm1d mixes"),
    "running means": (lambda: Turned(nn.InstanceNorm1d(WIDTH, track_running_stats=True)), "keeps running means"),
    "a buffer that changes": (Tracks, "changes values of its own while it reads .layer.mean"),
    "spectral norm": (lambda: nn.utils.spectral_norm(nn.Linear(WIDTH, WIDTH)), "changes values of its own"),
}


def trainer(net, unit=Unit.EXAMPLE, batch=6):
    return PrivateTrainer(net, TrainingPlan(noise=1.0, batch=batch, examples=12, steps=1, unit=unit), rate=0.1)


@pytest.mark.parametrize("unit", [Unit.EXAMPLE, Unit.USER])
@pytest.mark.parametrize("name", LEAKS)
def test_what_no_noise_protects_is_refused(name, unit):
    make, why = LEAKS[name]
    with pytest.raises(BadInput, match=why):
        trainer(Through(make()), unit).fit(ROWS if unit is Unit.EXAMPLE else [ROWS[:6], ROWS[6:]])


@pytest.mark.parametrize("rests", [False, True])
def test_an_embedding_that_shortens_what_it_reads_is_refused(rests):
    table = nn.Embedding(9, WIDTH, max_norm=1.0).requires_grad_(not rests)
    before = table.weight.detach().clone()
    with pytest.raises(BadInput, match="max_norm shortens the rows that it reads"):
        trainer(Reads(table)).fit(ROWS)
    assert torch.equal(table.weight, before)


def test_values_that_change_later_on_are_refused_too():
    class Late(Tracks):
        def forward(self, x):
            return super().forward(x) if len(x) > 3 else x

    with pytest.raises(BadInput, match="changes values of its own"):
        trainer(Through(Late()), batch=12).fit(ROWS)  # everybody takes part


def test_one_example_alone_is_enough_to_see_it():
    with pytest.raises(BadInput, match="changes values of its own"):
        verify(Through(Tracks()), ROWS[:1])


def test_dropout_is_allowed_and_verified_without():
    verify(Through(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Dropout(0.5))), ROWS[:3])
    net = Through(nn.Dropout(0.5)).train()
    verify(net, ROWS[:3])
    assert all(module.training for module in net.modules())


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision_is_refused(kind):
    with pytest.raises(BadInput, match=r"the net holds numbers of kind b?float16.*net.float"):
        trainer(Through(nn.Linear(WIDTH, WIDTH)).to(kind))


def test_half_precision_on_the_way_is_refused():
    net = Through(nn.Linear(WIDTH, WIDTH))
    with pytest.raises(BadInput, match="half precision"), torch.autocast("cpu", torch.bfloat16):
        verify(net, ROWS[:3])


OTHERS = {
    "RMSNorm": lambda: nn.RMSNorm(WIDTH),
    "PReLU": nn.PReLU,
    "GroupNorm": lambda: Turned(nn.GroupNorm(2, WIDTH)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_layers_without_a_rule_of_ours(name):
    pytest.importorskip("opacus")
    torch.manual_seed(2)
    verify(Through(OTHERS[name]()), ROWS[:5], 1e-4)


def test_a_layer_that_gives_no_gradients_of_examples_is_named():
    pytest.importorskip("opacus")

    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(WIDTH))

        def forward(self, x):
            return x * self.scale * float(x.mean())  # a number of Python, which torch.func cannot follow

    with pytest.raises(BadInput, match="kind Odd does not give the gradients of single examples"):
        verify(Through(Odd()), ROWS[:3])
