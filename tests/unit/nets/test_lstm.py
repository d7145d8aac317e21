"""The own LSTM is torch's: values, gradients, names; padding adds nothing."""

# ruff: noqa: E402 (without torch the whole file is skipped)
from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from textveil.nets.lstm import LSTM


@pytest.mark.parametrize("layers, both", [(1, False), (1, True), (3, True)])
@pytest.mark.parametrize("lengths", [[3, 6, 1, 6, 2], [4, 4], [1]])
def test_equals_torch_on_packed_sentences(layers, both, lengths):
    torch.manual_seed(1)
    ours = LSTM(7, 5, layers, both).double()
    theirs = nn.LSTM(7, 5, layers, batch_first=True, bidirectional=both).double()
    theirs.load_state_dict(ours.state_dict())  # the same names
    size = torch.tensor(lengths)
    x = torch.randn(len(lengths), max(lengths) + 1, 7, dtype=torch.double, requires_grad=True)
    packed = pack_padded_sequence(x, size, batch_first=True, enforce_sorted=False)
    expected = pad_packed_sequence(theirs(packed)[0], batch_first=True, total_length=x.shape[1])[0]
    found = ours(x, size)
    assert torch.allclose(found, expected, atol=1e-12)
    weight = torch.randn_like(found)
    names = [name for name, _ in ours.named_parameters()]
    mine = torch.autograd.grad((found * weight).sum(), [x, *ours.parameters()])
    wanted = dict(theirs.named_parameters())
    true = torch.autograd.grad((expected * weight).sum(), [x, *(wanted[n] for n in names)])
    for a, b in zip(mine, true, strict=True):
        assert torch.allclose(a, b, atol=1e-12)


def test_a_sentence_alone_reads_as_in_a_batch():
    torch.manual_seed(2)
    lstm, x = LSTM(4, 3, 2, True).double(), torch.randn(3, 9, 4, dtype=torch.double)
    together = lstm(x, torch.tensor([2, 9, 5]))
    alone = lstm(x[:1, :2], torch.tensor([2]))
    assert torch.allclose(together[:1, :2], alone, atol=1e-14)
    assert not together[0, 2:].any()
