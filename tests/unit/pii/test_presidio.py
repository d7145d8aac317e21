"""Presidio's recognisers here and ours there; skipped where presidio-analyzer is not installed (extra: bench)."""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import pytest

from textveil.pii.patterns import PatternRecogniser
from textveil.pii.recognisers import load

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("presidio_analyzer") is None, reason="presidio-analyzer is not installed"),
]


@pytest.fixture(scope="module")
def engine():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from textveil.pii.presidio import blank_engine

        return blank_engine()


@pytest.mark.filterwarnings("ignore")
def test_its_recognisers_find_here(engine):
    from textveil.pii.presidio import PresidioFinder

    text = "mail bo@example.org, BSN 111222333"
    together = load([PresidioFinder(engine), "patterns"]).find([text])[0]
    assert [(s.label, s.rule) for s in together] == [("EMAIL_ADDRESS", "presidio"), ("NL_BSN", "dutch bsn")]


@pytest.mark.filterwarnings("ignore")
def test_ours_find_in_its_engine(engine):
    from textveil.pii.presidio import as_presidio

    engine.registry.add_recognizer(as_presidio(PatternRecogniser(labels=["NL_BSN"])))
    found = engine.analyze("BSN 111222333", language="en", return_decision_process=True, score_threshold=0.5)
    assert [(r.entity_type, r.analysis_explanation.textual_explanation) for r in found] == [("NL_BSN", "dutch bsn bsn")]
