"""Recognisers by name, and several as one.

    load("patterns")                    rules with checksums (patterns.py)
    load("names")                       capitalised words and written dates: misses little, often wrong (capitals.py)
    load("model/")                      a trained tagger (tagger.py), or a release folder that holds one
    load("presidio")                    the recognisers of presidio-analyzer, where it is installed (presidio.py)
    load(["patterns", "model/"])        all of them together

Several are combined by one rule: of findings that overlap the surest stays, then the longest, then the first; what overlaps
it is dropped, whoever found it. Scores are estimates of how often a finding is right, so they may be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput, UnknownName
from textveil.pii.patterns import PatternRecogniser
from textveil.text.spans import Finder, Span, without_overlaps

PATTERNS, NAMES, PRESIDIO = "patterns", "names", "presidio"


class Recognisers:
    """Several recognisers as one; `labels` leaves only some kinds, `thresholds` gives the least score of a kind."""

    def __init__(
        self,
        finders: Sequence[Finder],
        labels: Sequence[str] | None = None,
        thresholds: Mapping[str, float] | None = None,
    ):
        self.finders = tuple(finders)
        known = sorted({label for finder in finders for label in finder.labels})
        for label in (*(labels or ()), *(thresholds or ())):
            if label not in known:
                raise UnknownName("kind of personal data", label, known)
        self._only = None if labels is None else frozenset(labels)
        self._thresholds = dict(thresholds or {})
        self.labels = tuple(label for label in known if self._only is None or label in self._only)
        self.name = "+".join(str(getattr(finder, "name", type(finder).__name__)) for finder in finders)

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """The spans of each text: in order, without overlaps."""
        by_finder = [finder.find(texts) for finder in self.finders]
        return [
            without_overlaps(s for spans in own for s in spans if self._keeps(s))
            for own in zip(*by_finder, strict=True)
        ]

    def _keeps(self, span: Span) -> bool:
        wanted = self._only is None or span.label in self._only
        return wanted and span.score >= self._thresholds.get(span.label, 0.0) and span.end > span.start


def load(
    model: Any = PATTERNS, *, labels: Sequence[str] | None = None, thresholds: Mapping[str, float] | None = None
) -> Recognisers:
    """Recognisers by name or folder (or objects with `find`), as one."""
    models = model if isinstance(model, (list, tuple)) else [model]
    if not models:
        raise BadInput("no recogniser is named", possible="patterns, names, presidio, or the folder of a model")
    return Recognisers([_one(m, thresholds) for m in models], labels, thresholds)


def _one(model: Any, thresholds: Mapping[str, float] | None) -> Finder:
    if isinstance(model, Recognisers):
        return model
    if not isinstance(model, (str, Path)):
        if callable(getattr(model, "find", None)):
            return model  # type: ignore[no-any-return]
        raise BadInput("a recogniser has a method find(texts)")
    if str(model) == PATTERNS:
        return PatternRecogniser(thresholds=dict(thresholds or {}))
    if str(model) == NAMES:
        from textveil.pii.capitals import CapitalNames

        return CapitalNames()
    if str(model) == PRESIDIO:
        from textveil.pii.presidio import PresidioFinder

        return PresidioFinder()
    from textveil.pii.model_folder import load_tagger

    return load_tagger(Path(model))


__all__ = ["NAMES", "PATTERNS", "PRESIDIO", "Recognisers", "load"]
