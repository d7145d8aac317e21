"""The card: well-formed, self-contained, small, escaped, and loud where it must be."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from textveil.attacks.evidence import NOT_REFUTED, Evidence
from textveil.core import (
    ZCDP,
    Adjacency,
    Approx,
    Cryptographic,
    Guarantee,
    LimitedPrecision,
    Measured,
    Metric,
    NoPromise,
    Pure,
    Renyi,
    Unit,
)
from textveil.report import write_card

VOID = {"meta", "br", "link", "img", "hr", "input"}
METRIC = Guarantee(
    Metric(0.5, "hamming", "ab12", 256.0), Unit.WORD, Adjacency.METRIC, ("vectors are public",), "Theorem 3"
)
WEAK = Evidence("words.bayes", "success", 0.31, 0.01, 310, 1000)


class Balanced(HTMLParser):
    """Every element is closed, in order; collects text and attributes."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.attributes, self.names = [], [], [], []

    def handle_starttag(self, name, attributes):
        self.names.append(name)
        self.attributes += attributes
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.names.append(name)
        self.attributes += attributes

    def handle_endtag(self, name):
        assert self.open and self.open.pop() == name

    def handle_data(self, text):
        if self.open and self.open[-1] not in ("style", "script"):
            self.text.append(text)


def read(page: str) -> Balanced:
    parser = Balanced()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


def text_of(page: str) -> str:
    return " ".join(" ".join(read(page).text).split())


def manifest(promise=METRIC, evidence=(), **more) -> dict:
    shown = {
        "textveil": "0.1.0",
        "mechanism": "words.brr",
        "parameters": {"epsilon": 0.5, "bits": 256, "keep": []},
        "guarantee": promise.to_json(),
        "entry": "line-7",
        "draft": False,
        "created": "2026-01-01T00:00:00+00:00",
        "versions": {"numpy": "2.0"},
        "facts": {},
        "data": "data.jsonl",
        "evidence": [e.to_json() if isinstance(e, Evidence) else e for e in evidence],
    }
    return {**shown, **more}


FULL = manifest(
    evidence=[WEAK],
    facts={
        "document": {"max_words": 200, "epsilon_per_word_worst": 128.0, "loss": 25600.0},
        "policies": ["capital letters pass through", "vectors are public"],
        "vectors": {"name": "default", "words": 20000, "fingerprint": "c0ffee"},
        "substitution": {"stay": 0.27, "distance_hist": [3, 2, 1]},
        "sample": {"pairs": [{"before": "the old text", "after": "an ancient note"}]},
    },
)


def test_the_whole_card_is_well_formed_and_says_everything():
    text = text_of(write_card(FULL))
    for expected in (
        "words.brr", "Guarantee", "one word of the text".capitalize(), "Not protected", "The length of the text",
        "capital letters pass through", "200 × 128 = 25,600", "0.5 × 256", "entry line-7", "31.0 %", "28.1 % to 34.0 %",
        "1.0 %", "310 of 1,000", NOT_REFUTED, "vectors are public", "Theorem 3", "numpy 2.0", "default, 20,000 words",
        "27.0 %", "the old text", "an ancient note", "How to read this card",
    ):  # fmt: skip
        assert expected in text, expected
    assert text.count("vectors are public") == 1


@pytest.mark.parametrize("shown", [FULL, manifest()])
def test_nothing_is_loaded_from_outside(shown):
    page = write_card(shown)
    parsed = read(page)
    assert not {"script", "link", "img", "iframe", "object"} & set(parsed.names)
    assert not [v for k, v in parsed.attributes if k in ("src", "href", "xlink:href", "srcset", "action")]
    assert not re.search(r"https?:|url\(|@import|//[a-z]", page)


def test_a_card_stays_small_whatever_the_sample():
    facts = {"sample": {"pairs": [{"before": "x" * 10**6, "after": "&" * 10**6}] * 50}}
    many = {"keep": [f"word{i}" for i in range(100_000)]}
    assert len(write_card(manifest(facts=facts, parameters=many, evidence=[WEAK] * 20)).encode()) < 300_000


def test_everything_is_escaped():
    evil = '<script>alert("x")</script>&\'"'
    promise = Guarantee(Metric(0.5, evil, evil, 9.0), Unit.WORD, Adjacency.METRIC, (evil,), evil)
    evidence = Evidence(evil, evil, 0.5, 0.1, 5, 10, notes=(evil,))
    facts = {
        "document": {"max_words": evil, "epsilon_per_word_worst": evil, "loss": evil},
        "policies": [evil],
        "vectors": {"name": evil, "words": evil, "fingerprint": evil},
        "sample": {"pairs": [{"before": evil, "after": evil}]},
    }
    page = write_card(
        manifest(
            promise,
            [evidence],
            facts=facts,
            mechanism=evil,
            entry=evil,
            created=evil,
            versions={evil: evil},
            parameters={evil: evil},
            textveil=evil,
        )
    )
    assert "<script" not in page
    assert "script" not in read(page).names
    assert text_of(page).count(evil) >= 14


def test_no_text_of_the_release_without_the_bundled_sample():
    assert "Before and after" not in write_card(manifest())
    assert "Before and after" in write_card(FULL)


@pytest.mark.parametrize(
    "promise", [METRIC, Guarantee(NoPromise("drawn with a seed", "seeded"), Unit.WORD, Adjacency.METRIC)]
)
def test_a_draft_cannot_be_missed(promise):
    page = write_card(manifest(promise, draft=True))
    assert "DRAFT: DO NOT PUBLISH" in text_of(page)
    assert page.index("DRAFT") < page.index("<h1>")
    assert "DRAFT" not in text_of(write_card(manifest()))


def test_refuted_evidence_is_shown_first_and_in_the_table():
    promise = Guarantee(Pure(0.5), Unit.WORD, Adjacency.REPLACE)
    page = write_card(manifest(promise, [WEAK]))
    text = text_of(page)
    assert "THE PROMISE IS REFUTED" in text
    assert "refuted: the promise does not hold" in text
    assert page.index("THE PROMISE IS REFUTED") < page.index("<h1>")
    assert "A theorem covers what was done." not in text.split("How to read this card")[0]
    assert "REFUTED" not in text_of(write_card(FULL))


def test_a_verdict_in_the_file_is_not_believed():
    lie = {**WEAK.to_json(), "verdict": "all is well", "refuted": False, "interval": [0, 0.001]}
    text = text_of(write_card(manifest(Guarantee(Pure(0.5), Unit.WORD, Adjacency.REPLACE), [lie])))
    assert "THE PROMISE IS REFUTED" in text
    assert "all is well" not in text


def test_evidence_about_another_unit_is_not_compared():
    other = Evidence("canary", "success", 1.0, 0.5, 1000, 1000, unit=Unit.USER)
    text = text_of(write_card(manifest(evidence=[other])))
    assert "not compared" in text
    assert "REFUTED" not in text


def test_unreadable_evidence_is_counted_and_missing_evidence_said():
    assert "1 entries of evidence could not be read" in text_of(write_card(manifest(evidence=[{"attack": "x"}])))
    assert "No attack has been run" in text_of(write_card(manifest()))


LOSSES = [
    (Pure(1.0), "Guarantee", "ε 1"),
    (Approx(1.0, 1e-6), "Guarantee", "with δ 1e-06"),
    (Metric(0.5, "euclidean"), "Guarantee", "unbounded"),
    (LimitedPrecision(1.0, 10), "Guarantee", "at most 10 in total"),
    (Renyi(2.0, 0.5), "Guarantee", "order 2"),
    (ZCDP(0.5), "Guarantee", "ρ 0.5"),
    (Measured(float("inf"), 0.0, "fitted laws"), "Measured", "measured on this data, not promised"),
    (Cryptographic("two honest servers"), "Cryptographic", "two honest servers"),
    (NoPromise("it only looks safe", "heuristic"), "Heuristic", "it only looks safe"),
    (NoPromise("masks are reused", "broken"), "Broken", "it protects nobody"),
    (NoPromise("a seed", "seeded"), "Seeded draft", "DRAFT"),
]


@pytest.mark.parametrize(("loss", "badge", "said"), LOSSES)
def test_every_kind_of_loss_has_its_label_and_words(loss, badge, said):
    page = write_card(manifest(Guarantee(loss, Unit.USER, Adjacency.ADD_REMOVE), [WEAK]))
    assert f'<span class="badge">{badge}</span>' in page
    assert f'<body class="label-{loss.label}">' in page
    assert said in text_of(page)


def test_only_a_guarantee_has_a_document_line():
    facts = {"document": {"max_words": 200, "epsilon_per_word_worst": 128.0, "loss": 25600.0}}
    draft = Guarantee(NoPromise("a seed", "seeded"), Unit.WORD, Adjacency.METRIC)
    assert "25,600" not in text_of(write_card(manifest(draft, draft=True, facts=facts)))
    no_cap = {"document": {"epsilon_per_word_worst": 128.0}}
    assert "No cap on the words of a document" in text_of(write_card(manifest(facts=no_cap)))


def test_no_ledger_is_said():
    assert "not recorded in a ledger" in text_of(write_card(manifest(entry=None)))
