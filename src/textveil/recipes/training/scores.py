"""Scores of a trained model on a test file, with the baseline that never learns anything."""

from __future__ import annotations

from collections import Counter
from typing import Any

from textveil.text.examples import Examples
from textveil.training.usefulness import HELP


def scores(model: Any, test: Examples) -> dict[str, Any]:
    """Entity F1 and the all-O baseline, accuracy and the largest class, or perplexity."""
    kind = model.name.removeprefix("training.")
    if kind == "tagger":
        return _tagger(model, test)
    if kind == "classifier":
        largest = Counter(test.targets).most_common(1)[0][1] / len(test.targets)
        return {"accuracy": model.score(test.inputs, test.targets), "largest_class": largest}
    return {"perplexity": model.perplexity(test.inputs)}


def _tagger(model: Any, test: Examples) -> dict[str, Any]:
    from textveil.nets.entity_scores import all_outside, entity_score, token_score

    said = model.predict(test.inputs)
    found = entity_score(test.targets, said)
    return {
        "entity_f1": found.f1,
        "entity_precision": found.precision,
        "entity_recall": found.recall,
        "token_f1": token_score(test.targets, said).f1,
        "all_outside_entity_f1": entity_score(test.targets, all_outside(test.targets)).f1,
        "all_outside_token_f1": token_score(test.targets, all_outside(test.targets)).f1,
    }


def score_warnings(kind: str, found: dict[str, Any], words: int | None = None) -> list[str]:
    """Says where the score shows that nothing was learnt; `words`: how many words a language model chooses among.

    >>> score_warnings("classifier", {"accuracy": 0.3, "largest_class": 0.3})[0][:66]
    'on the test file the model is no better than always saying the lar'
    """
    useless = {
        "tagger": ("entity_f1", 0.0, "finds no entity"),
        "classifier": (
            "accuracy",
            found.get("largest_class", 0.0),
            "is no better than always saying the largest class",
        ),
    }
    if not found:
        return []
    if kind == "lm":
        learnt, what = words is None or found["perplexity"] < words, "is no better than a word drawn at random"
    else:
        name, floor, what = useless[kind]
        learnt = found[name] > floor
    return [] if learnt else [f"on the test file the model {what}: it has learnt nothing that is of use; {HELP}"]


def score_lines(kind: str, found: dict[str, Any]) -> list[str]:
    """The scores in words.

    >>> score_lines("lm", {"perplexity": 55.31})
    ['test perplexity 55.3']
    """
    if not found:
        return []
    if kind == "tagger":
        return [
            f"test entity F1 {found['entity_f1']:.3f} (precision {found['entity_precision']:.3f}, recall "
            f"{found['entity_recall']:.3f}; all O: {found['all_outside_entity_f1']:.3f})",
            f"test token-weighted F1 {found['token_f1']:.3f} (all O: {found['all_outside_token_f1']:.3f})",
        ]
    if kind == "classifier":
        return [f"test accuracy {found['accuracy']:.3f} (the largest class alone: {found['largest_class']:.3f})"]
    return [f"test perplexity {found['perplexity']:.1f}"]
