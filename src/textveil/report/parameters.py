"""Parameters as a card lists them: names and choices in plain words, nested ones one by one, what says nothing left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .html import show

MOST_LISTED = 12  # values of a list that are shown
ELSEWHERE = {  # stand in a row of their own, or in a section
    "seal": "seal", "batch": "training", "clip": "training", "noise": "training", "sampling": "training",
    "micro_batch": "training", "unit": "training",
}  # fmt: skip
OF_ROUNDS = {"users", "per_round", "rounds", "sampling", "clip", "clipping", "noise", "local", "unit"}
NAMES = {
    "oov": "words outside the vocabulary",
    "case": "capital letters",
    "keep": "kept words",
    "kinds": "numbers, dates and codes drawn within their kind",
    "kinds_epsilon": "epsilon per step within a kind",
    "once": "each word of a text is drawn once",
    "lam": "lambda: shape of the noise, 0 round to 1 like the words",
    "t": "t: nearest (0) or second nearest (1)",
    "k": "k: neighbours to choose from",
    "bits": "bits of a code",
    "plan.bits": "bits: the table has 2^bits slots",
    "plan.families": "kinds of features",
    "plan.clusters": "groups of similar words",
    "plan.fold": "upper case read as lower case",
    "c": "C: largest step of one update",
    "epochs": "passes over the data",
    "widen": "finds become",
    "share": "share of a sentence that must be found",
    "shuffle": "documents taken in random order",
    "precision": "N: counts that two documents may differ in",
    "compress": "groups that words are summed into",
    "method": "method",
    "clamp": "negative counts become 0",
    "decompress": "counts of groups are dealt out to words",
    "prior": "how frequent words are taken to be",
    "prior_share": "share of epsilon for the frequency of words",
    "budget": "budget rule",
    "without": "words that were not counted",
    "paper_mode": "as printed in the paper",
    "dtype": "numbers stored as",
    "max_words": "words read of a text, at most",
    "distinct": "different words of a unit that count",
    "public_words": "public words that fill free places",
    "average": "decay of the running mean of models",
    "rate": "learning rate",
}
VALUES = {
    ("oov", "draw"): "replaced by drawn words",
    ("oov", "token"): "replaced by one sign",
    ("case", "sentence"): "by position only: after a full stop",
    ("case", "drop"): "none",
    ("case", "keep"): "as in the input",
    ("widen", "sentence"): "whole sentences",
    ("widen", "none"): "what was found, word by word",
    ("prior", "noisy"): "by noisy counts of all documents",
    ("prior", "uniform"): "all alike",
    ("prior", "vectors"): "by the public word vectors",
    ("budget", "total"): "epsilon is all that is spent",
    ("budget", "paper"): "as printed in the paper, which spends more",
}
NOTHING: tuple[object, ...] = (None, "", [], {})
WAYS = {
    "once": "once",
    "kinds": "kinds",
    "kinds_epsilon": "kinds",
    "paper_mode": "paper_mode",
}  # name -> what it belongs to
QUIET = ("also", "allow_large_delta", "empty")  # said elsewhere, or about nothing that left


def parameter_rows(parameters: Mapping[str, Any], sections: set[str]) -> Iterator[tuple[str, object]]:
    """Names and values. `sections` names the facts that have rows of their own: what they say is not repeated.

    >>> rows = parameter_rows({"oov": "draw", "keep": [], "plan": {"bits": 14}, "seal": {"mode": "quiet"}}, {"seal"})
    >>> list(rows)
    [('words outside the vocabulary', 'replaced by drawn words'), ('bits: the table has 2^bits slots', 14)]
    """
    for name, value in parameters.items():
        if value in NOTHING or name in QUIET or ELSEWHERE.get(name) in sections or _is_unused(name, parameters):
            continue
        if name in OF_ROUNDS and "federation" in sections:
            continue
        if isinstance(value, Mapping):
            for inner, part in value.items():
                if part not in NOTHING:
                    path = f"{name}.{inner}"
                    yield NAMES.get(path, f"{name.replace('_', ' ')}: {inner.replace('_', ' ')}"), _value(inner, part)
        else:
            yield NAMES.get(name, name.replace("_", " ")), _value(name, value)


def _is_unused(name: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a way of drawing was not chosen, or belongs to one that was not."""
    return parameters.get(WAYS.get(name, name)) is False and name in WAYS


def _value(name: str, value: object) -> object:
    """Choices in words; of long lists (kept words) a part."""
    if isinstance(value, str) and (name, value) in VALUES:
        return VALUES[name, value]
    if isinstance(value, list) and len(value) > MOST_LISTED:
        return f"{show(value[:MOST_LISTED])} and {len(value) - MOST_LISTED:,} more"
    return value


__all__ = ["parameter_rows"]
