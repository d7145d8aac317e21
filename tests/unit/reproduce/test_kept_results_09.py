"""What was promised of finding personal data, held against the kept results: whoever keeps worse ones has to say so here.

The figures are made by `textveil reproduce 09` and `bench/keep.py pii`; no test is quick enough to make them again.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from textveil.reproduce.claims import load_claims

RESULTS = Path(__file__).parents[3] / "docs" / "results"
PATTERN_ENTITIES = (
    "credit_card",
    "email_address",
    "iban_code",
    "ip_address",
    "phone_number",
    "us_ssn",
    "url",
    "date_time",
)


@pytest.fixture(scope="module")
def kept():
    return json.loads((RESULTS / "09" / "results.json").read_text())


@pytest.fixture(scope="module")
def ratios():
    return json.loads((RESULTS / "bench-pii.json").read_text())["ratios"]


def figure(kept, cell, path, **parameters):
    (row,) = [
        c
        for c in kept["cells"]
        if c["cell"] == cell and all(c["parameters"].get(name) == value for name, value in parameters.items())
    ]
    found = row["result"]
    for name in path:
        found = found[name]
    return found


def test_kept_claims_are_todays(kept):
    assert {c["id"] for c in kept["claims"]} <= {c.id for c in load_claims("09")}


def test_the_matcher_is_above_the_papers(kept):
    for marked in ("first", "second"):
        assert figure(kept, "matcher", ["strict", "low"], marked=marked) > 0.37
        assert figure(kept, "matcher", ["strict", "value"], marked=marked) > 0.60
        assert figure(kept, "matcher", ["partial", "value"], marked=marked) > 0.54
    assert figure(kept, "unseen", ["strict", "low"]) > 0.60


def test_the_chain_is_above_the_papers_strict_and_partial(kept):
    chosen = ["phrases", "manual"]
    assert figure(kept, "recogniser", [*chosen, "strict", "low"], labels="said") > 0.55
    assert figure(kept, "recogniser", [*chosen, "partial", "low"], labels="said") > 0.80


def test_the_transformer_is_above_the_papers_and_the_chain_near_it(kept):
    """Of its partial F1 the value is above .80, the interval is not: that claim stays undecided."""
    chosen = ["phrases", "manual", "strict"]
    assert figure(kept, "transformer", [*chosen, "low"], labels="said") > 0.55
    assert figure(kept, "transformer", ["phrases", "manual", "partial", "value"], labels="said") > 0.80
    chain, transformer = (
        figure(kept, cell, [*chosen, "value"], labels="said") for cell in ("recogniser", "transformer")
    )
    assert chain > transformer - 0.10


def test_the_choice_was_made_on_the_marked_articles(kept):
    sums = {
        (labels, reading): sum(
            figure(kept, "recogniser", [reading, test, "strict", "value"], labels=labels)
            for test in ("articles", "articles_all")
        )
        for labels in ("printed", "repaired", "said")
        for reading in ("bare", "spread", "phrases")
    }
    assert max(sums, key=sums.__getitem__) == ("said", "phrases")


def test_patterns_are_not_below_presidio_and_far_quicker(ratios):
    assert ratios["words_over_presidio"] >= 5
    assert ratios["crf_words_per_second"] >= 20_000
    for entity in PATTERN_ENTITIES:
        assert ratios[f"f1_over_presidio_low_{entity}"] >= 0, entity
