"""Promises and releases in a notebook: whole, escaped, self-contained, without the released value."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import textveil as tv
from textveil.core import Adjacency, Approx, Cryptographic, Guarantee, Measured, Metric, NoPromise, Unit
from textveil.core.notebook import described

NASTY = "<script>alert('x')</script>&\""
VOID = {"br", "img", "hr"}


class Balance(HTMLParser):
    """Refuses what is not closed, what is loaded from elsewhere, and what runs."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "link", "img", "iframe")
        assert not {name for name, _ in attrs} & {"src", "href", "onclick"}
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


PROMISES = {
    "Guarantee": Approx(1.0, 1e-6),
    "Weak guarantee": Approx(30.0, 1e-6),
    "Guarantee for near words": Metric(0.5, "hamming", "ab", 256.0),
    "Measured": Measured(2.0, 1e-5, "Renyi divergence"),
    "Cryptographic": Cryptographic("two parties, semi-honest"),
    "Heuristic": NoPromise("trained without any noise", "heuristic"),
    "Broken": NoPromise("an attack defeats it", "broken"),
    "Seeded draft": NoPromise("drawn with a seed", "seeded"),
}


@pytest.mark.parametrize("badge", PROMISES)
def test_a_promise_has_its_badge_and_all_that_it_says(badge):
    loss = PROMISES[badge]
    adjacency = Adjacency.METRIC if isinstance(loss, Metric) else Adjacency.REPLACE
    promise = Guarantee(loss, Unit.WORD, adjacency, ("the vectors are public", NASTY), f"Theorem 1 {NASTY}")
    page = Balance(promise._repr_html_())
    assert badge in page.text
    parts = promise.parts()
    for said in (
        parts.protected,
        parts.bound,
        parts.how_sure,
        *parts.assumptions,
        *parts.not_protected,
        promise.source,
    ):
        assert said in page.text


@pytest.mark.parametrize("refuted, draft", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("name", PROMISES)
def test_badges_are_those_of_cards(name, refuted, draft):
    from textveil.core.notebook import badge
    from textveil.report.first_screen import badge_of

    loss = PROMISES[name]
    promise = Guarantee(loss, Unit.WORD, Adjacency.METRIC if isinstance(loss, Metric) else Adjacency.REPLACE)
    assert badge(promise, refuted=refuted, draft=draft)[0] == badge_of(promise, refuted=refuted, draft=draft).name


@pytest.fixture
def release(tmp_path):
    vectors = tv.vectors.from_arrays(["cold", "hot", "warm"], np.eye(3, dtype=np.float32))
    ledger = tv.Ledger(tmp_path / "l.ledger")
    return ledger.release(tv.words.Laplace(vectors=vectors, keep=[NASTY]), ["cold warm"] * 3, tv.Shape())


def test_a_release_shows_everything_but_its_value(release):
    marked = replace(
        release,
        value=["kitchenmaid"],
        passes=(*release.passes, NASTY),
        evidence=({"attack": NASTY, "metric": "success", "value": 0.31, "chance": 0.01, "verdict": "refuted: no"},),
    )
    page = Balance(marked._repr_html_())
    assert "kitchenmaid" not in page.text
    for said in (release.stamp.mechanism, release.entry, "1 texts", NASTY, "31.0 %", ", refuted", *release.passes):
        assert said in page.text


def test_a_release_folder_shows_its_place(release, tmp_path):
    folder = tv.ReleaseFolder.read(release.save(tmp_path / "out"))
    page = Balance(folder._repr_html_())
    assert str(folder.card) in page.text
    assert folder.card.is_file()


def test_values_are_described_and_not_shown(tmp_path):
    from textveil.core import Payload

    assert described(np.zeros((3, 4))) == "a table of 3 x 4"
    assert described(Payload(tmp_path / "data.csv", "data.csv")) == "the file data.csv"
    assert described(["a", "b"]) == "2 texts"
    assert described({"a": 1}) == "a dict"
