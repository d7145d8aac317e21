"""What the card of fragments says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from textveil.core.facts import DataFacts, Facts
from textveil.fragments.mechanism import Fragments

_PHRASES = "every phrase that leaves stands there in clear"
_FREQUENT = "what a frequent phrase says: it is shown, whatever it says"
_COPIES = "a document or a client: a sentence that stands in the text many times counts many times"


def fragment_facts(data: DataFacts, fragments: Fragments, rows: int, making: Iterator[str]) -> Facts:
    """The sections of the card."""
    held = (_FREQUENT, _COPIES) if fragments.epsilon is not None else (_PHRASES, "which phrases stood in one sentence")
    return Facts(data=data, making=(f"{rows:,} phrase pairs", *making), not_protected=held)


def making_lines(job: Any, cutter: Any) -> Iterator[str]:
    """How it was made: settings, which are public."""
    own = job.fragments
    yield f"phrases of {own.shortest} to {own.longest} words, in both languages"
    yield (
        "phrases overlap, as in the paper"
        if own.cut == "overlapping"
        else "no word of a sentence stands in two phrases"
    )
    if own.epsilon is not None:
        noise = own.noising()
        yield "the promise is about which phrase pairs appear, and their noisy counts: nothing else of the text is here"
        yield f"a phrase pair is shown from a noisy count of {noise.threshold():.4g} on"
        yield f"each sentence pair counts at most {noise.distinct} different phrase pairs, each once"
    elif own.drop:
        yield f"{own.drop:.0%} of the {'phrase pairs' if own.drop_by == 'type' else 'occurrences'} were left out at random"
    if own.unique:
        yield "each sentence pair was taken once"
    if own.decoys:
        yield f"{own.decoys:.0%} as many made-up phrase pairs as real ones were added"
    if job.names is not None:
        yield "phrases with a recognised name were left out; what the recogniser missed stands there"
    if job.glossary is not None:
        yield "terms of a glossary pass without being filtered or dropped"


__all__ = ["fragment_facts", "making_lines"]
