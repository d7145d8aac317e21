"""Put something else in the place of spans, and remember (for the owner alone) what stood there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textveil.pii.masking.operators import Operator, Place
from textveil.text.spans import Span


class Replaced(NamedTuple):
    """One replacement, by its place in the masked text."""

    start: int
    end: int
    original: str


class MaskedText(NamedTuple):
    """A masked text and its replacements, in order."""

    text: str
    replaced: list[Replaced]


def mask_text(text: str, spans: Sequence[Span], operator: Operator, place: Place) -> MaskedText:
    """The text with every span replaced; spans are in order and do not overlap.

    >>> from textveil.pii.masking.operators import tag
    >>> mask_text("Anna called Bo.", [Span(0, 4, "PERSON"), Span(12, 14, "PERSON")], tag, Place(0)).text
    '[PERSON] called [PERSON].'
    """
    pieces, replaced, last, size = list[str](), list[Replaced](), 0, 0
    for span in spans:
        value = text[span.start : span.end]
        shown = operator(span, value, place)
        pieces += [text[last : span.start], shown]
        start = size + span.start - last
        size = start + len(shown)
        replaced.append(Replaced(start, size, value))
        last = span.end
    pieces.append(text[last:])
    return MaskedText("".join(pieces), replaced)


def unmask_text(text: str, replaced: Sequence[Replaced]) -> str:
    """The text as it was.

    >>> unmask_text("[PERSON] called.", [Replaced(0, 8, "Anna")])
    'Anna called.'
    """
    pieces, last = list[str](), 0
    for start, end, original in replaced:
        pieces += [text[last:start], original]
        last = end
    pieces.append(text[last:])
    return "".join(pieces)


__all__ = ["MaskedText", "Replaced", "mask_text", "unmask_text"]
