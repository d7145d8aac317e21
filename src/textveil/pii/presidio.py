"""Presidio's recognisers here, and ours in Presidio, where presidio-analyzer is installed. It is imported late (8 s).

    tv.pii.load(["patterns", "presidio"])                      its pattern recognisers beside ours
    analyzer.registry.add_recognizer(as_presidio(load("model/")))   our recognisers (a model, the patterns) in its engine

Presidio's engine wants a pipeline of spaCy; a blank one is made, without a model, so recognisers that need one (names) find
nothing. Nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textveil.core.params import needs
from textveil.text.spans import Finder, Span

LANGUAGE = "en"


def blank_engine() -> Any:
    """Presidio's analyzer with its predefined recognisers on a blank spaCy pipeline."""
    needs("bench", "presidio_analyzer", "spacy", "tldextract")
    import spacy
    import tldextract.tldextract
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NerModelConfiguration, SpacyNlpEngine

    # Its check of e-mail addresses would fetch a list of domains: the one that came with the package is used instead.
    tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=())
    engine = SpacyNlpEngine(ner_model_configuration=NerModelConfiguration())
    engine.nlp = {LANGUAGE: spacy.blank(LANGUAGE)}
    return AnalyzerEngine(nlp_engine=engine, supported_languages=[LANGUAGE])


class PresidioFinder:
    """What Presidio finds, as spans."""

    name = "presidio"

    def __init__(self, engine: Any = None, least: float = 0.5):
        self._engine = blank_engine() if engine is None else engine
        self._least = least
        self.labels = tuple(sorted(self._engine.get_supported_entities(language=LANGUAGE)))

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """The spans of each text; its findings may overlap."""
        return [sorted(self._found(text)) for text in texts]

    def _found(self, text: str) -> list[Span]:
        results = self._engine.analyze(text=text, language=LANGUAGE, score_threshold=self._least)
        return [Span(r.start, r.end, r.entity_type, float(r.score), "presidio") for r in results]


def as_presidio(finder: Finder, name: str = "textveil") -> Any:
    """A recogniser for Presidio's registry that finds what ours finds."""
    needs("bench", "presidio_analyzer")
    from presidio_analyzer import AnalysisExplanation, EntityRecognizer, RecognizerResult

    class TextveilRecognizer(EntityRecognizer):  # type: ignore[misc]
        """Findings of a Textveil recogniser, each with its rule and score."""

        def load(self) -> None:
            """Nothing is left to load."""

        def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:
            wanted = set(entities)
            return [
                RecognizerResult(
                    entity_type=span.label,
                    start=span.start,
                    end=span.end,
                    score=span.score,
                    analysis_explanation=AnalysisExplanation(
                        recognizer=name,
                        original_score=span.score,
                        textual_explanation=" ".join((span.rule, *span.context)),
                    ),
                )
                for span in finder.find([text])[0]
                if span.label in wanted
            ]

    return TextveilRecognizer(supported_entities=list(finder.labels), name=name, supported_language=LANGUAGE)


__all__ = ["PresidioFinder", "as_presidio", "blank_engine"]
