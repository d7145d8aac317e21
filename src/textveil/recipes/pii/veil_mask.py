"""Masks before the noise: `veil --mask` covers what a recogniser finds and veils the words around it.

What may be promised. Let two texts be masked at the same places with the same kinds. The words under masks do not reach the
output at all, only their kinds do, which are the same; the words around them are drawn as `veil` draws them, each by itself.
So the promise of the word mechanism holds between these two texts. Where a mask stands depends on the words, though, and
passes without noise: between texts that are masked at different places nothing is promised. Both halves stand on the card.

How. A mask travels through the mechanism as a run of brackets that no text uses, since punctuation passes unchanged: its
number is written in eight brackets of two kinds. Whoever draws sees no masked word. Such brackets in a text become plain.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from textveil.core.errors import BadInput
from textveil.pii.recognisers import Recognisers
from textveil.recipes.pii.recogniser_choice import RecogniserChoice

_OPEN, _CLOSE, _ZERO, _ONE = "⸨", "⸩", "⸢", "⸣"
_MASK = re.compile(f"{_OPEN}([{_ZERO}{_ONE}]{{8}}){_CLOSE}")
_PLAIN = str.maketrans({_OPEN: "(", _CLOSE: ")", _ZERO: "[", _ONE: "]"})
ASSUMES = (
    "the two texts are masked at the same places, with the same kinds (which places are masked depends on the words)"
)
PASSES = "where masks stand, and their kinds: the pattern of masks follows from the words and passes without noise"


@dataclass(frozen=True)
class MaskBeforeVeil:
    """Which recognisers mask. It can be sent to the processes that draw, which load them themselves."""

    models: tuple[str, ...] = ("patterns",)
    labels: tuple[str, ...] = ()

    def check(self) -> None:
        """Load the recognisers, so that a wrong name is told before anything is charged."""
        if len(self._recogniser().labels) > 256:
            raise BadInput("more than 256 kinds cannot be masked before veiling", possible="--mask-labels")

    def cut(self, texts: Sequence[str]) -> list[str]:
        """Texts with brackets in the place of what is masked."""
        recogniser = self._recogniser()
        number = {label: n for n, label in enumerate(recogniser.labels)}
        cut = []
        for text, spans in zip(texts, recogniser.find(texts), strict=True):
            pieces, last = list[str](), 0
            for span in spans:
                pieces += [text[last : span.start].translate(_PLAIN), _written(number[span.label])]
                last = span.end
            cut.append("".join([*pieces, text[last:].translate(_PLAIN)]))
        return cut

    def restore(self, texts: Sequence[str]) -> list[str]:
        """Veiled texts with the kinds in the place of the brackets.

        >>> MaskBeforeVeil().restore(MaskBeforeVeil().cut(["Mail bo@example.org now"]))
        ['Mail [EMAIL_ADDRESS] now']
        """
        labels = self._recogniser().labels
        return [_MASK.sub(lambda hit: f"[{labels[_number(hit[1])]}]", text) for text in texts]

    def public_params(self) -> dict[str, list[str]]:
        """The recognisers by name, for the release."""
        return {"models": [model.rpartition("/")[2] for model in self.models], "labels": list(self.labels)}

    @property
    def assumes(self) -> str:
        """What the word promise takes for granted under masks."""
        return ASSUMES

    @property
    def passes(self) -> str:
        """What leaves without noise because of masks."""
        return PASSES

    @property
    def making(self) -> tuple[str, ...]:
        """How it was made, half by half."""
        return (
            f"masked by {self._recogniser().name}: what it found was replaced by its kind, without noise; a heuristic that "
            "misses what it does not know",
            "veiled: every word outside of masks was drawn under the promise above",
        )

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What the promise does not cover because of masks."""
        return (
            "the pattern of masks: between texts that are masked at different places nothing is promised",
            "personal data that was not recognised is protected as any other word, by the word promise alone",
        )

    def _recogniser(self) -> Recognisers:
        return _opened(self.models, self.labels)


@cache
def _opened(models: tuple[str, ...], labels: tuple[str, ...]) -> Recognisers:
    return RecogniserChoice(models, labels).open()


def _written(number: int) -> str:
    return _OPEN + "".join(_ONE if number >> bit & 1 else _ZERO for bit in range(8)) + _CLOSE


def _number(bits: str) -> int:
    return sum(1 << place for place, bit in enumerate(bits) if bit == _ONE)


__all__ = ["ASSUMES", "PASSES", "MaskBeforeVeil"]
