"""The facts of a card: typed, there and back, old ones still read, nothing private in an error."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from textveil.core import BadInput
from textveil.core.facts import (
    CountsFacts,
    DataFacts,
    DocumentLine,
    Facts,
    ModelScores,
    SamplePair,
    SealFacts,
    Substitution,
    TrainingRun,
    VectorsUsed,
)

FULL = Facts(
    data=DataFacts("letters.jsonl", "2026-01-31", "text", records=100),
    document=DocumentLine(128.0, 200),
    vectors=VectorsUsed("default", 20_000, "c0ffee"),
    substitution=Substitution(0.27, (0.5, 0.3, 0.2)),
    counts=CountsFacts(10.0, 100, 50, 0.4, 12.5),
    scores=ModelScores(("test accuracy 0.711",), {"accuracy": 0.711}, "test.jsonl"),
    training=TrainingRun(((1.1, 64, 12),), 1_000),
    seal=SealFacts("quiet", "kernel", 3, 0.1, 0.5, costs={"1": math.inf, "100": 2.8}),
    sample=(SamplePair("the old text", "an ancient note"),),
    making=("12 updates",),
    not_protected=("tags",),
    beware=("the true total is 34",),
)


def test_facts_come_back_from_json():
    assert Facts.from_json(json.loads(json.dumps(FULL.to_json(), allow_nan=False))) == FULL


def test_empty_sections_are_left_out():
    assert Facts().to_json() == {}
    assert Facts.from_json({}) == Facts()
    assert Facts(document=DocumentLine(1.0)).to_json() == {"document": {"per_word": 1.0}}


def test_unknown_sections_and_fields_are_passed_over():
    newer = {**FULL.to_json(), "hologram": {"x": 1}}
    newer["vectors"] = {**newer["vectors"], "colour": "green"}
    assert Facts.from_json(newer) == FULL


@pytest.mark.parametrize(
    "shown",
    [
        [],
        {"document": 3},
        {"document": {"per_word": "secret"}},
        {"document": {}},
        {"making": "secret"},
        {"making": [3]},
        {"vectors": {"name": "n", "words": "secret", "fingerprint": "f"}},
        {"training": {"phases": [["secret", 1, 1]], "examples": 1}},
        {"training": {"phases": [[1.0, 1]], "examples": 1}},
        {"counts": {"scale": True, "documents": 1, "columns": 1, "filled": 1, "mean_length": 1}},
    ],
)
def test_wrong_types_are_an_error_without_values(shown):
    with pytest.raises(BadInput) as raised:
        Facts.from_json(shown)
    assert "secret" not in str(raised.value)


def test_facts_of_format_1_are_read():
    old = {
        "document": {"epsilon_per_word_worst": 128.0, "max_words": 200, "loss": 25600.0},
        "policies": ["not hidden: ordinary words", "12 updates", "3 kept words pass unchanged and are not protected"],
        "sample": {"pairs": [{"before": "the old text", "after": "an ancient note"}]},
        "plan": {"phases": [[1.1, 64, 12]], "examples": 1000, "clip": 1.0, "sampling": "poisson", "unit": "example"},
        "scores": {"accuracy": 0.7},
        "seal": {"mode": "quiet", "law": "kernel", "min_documents": 3, "spread": 0.1, "lean": 0.5},
        "costs": {"1": {"larger": "inf", "paper": 1.0}, "100": {"larger": 2.8, "paper": 1.0}},
    }
    facts = Facts.from_json(old)
    assert facts.document == FULL.document
    assert facts.making == ("12 updates",)
    assert facts.not_protected == ("not hidden: ordinary words", "3 kept words pass unchanged and are not protected")
    assert facts.sample == FULL.sample
    assert facts.training == FULL.training
    assert facts.scores == ModelScores((), {"accuracy": 0.7})
    assert facts.seal == FULL.seal


def test_costs_of_an_old_update_are_bare_numbers():
    assert Facts.from_json({"seal": {"mode": "paper"}, "costs": {"100": 2.0}}).seal == SealFacts(
        "paper", costs={"100": 2.0}
    )


def test_facts_do_not_change():
    with pytest.raises(AttributeError):
        FULL.making = ()  # type: ignore[misc]
    assert replace(FULL, making=()).making == ()
