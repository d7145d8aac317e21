"""Masking as a mechanism: what a recogniser finds is replaced, the rest stands as it was.

Claim. None. A mask hides what it covers (redact: all but its place; tag: its kind; hash and pseudonym: which masks are the
same value, to whoever lacks the key). What the recogniser missed stands in the output, and what is left around the masks
may single a person out. So a masked file is never called anonymous, its release is labelled heuristic, and its card has
the recall that was measured, if any.

Unit and neighbours. Two texts that differ in a recognised value of the same kind, recognised in both, give the same output
under redact and tag. No bound follows for texts in which the recogniser behaves differently, and none is stated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from textveil.core import Adjacency, BadInput, Estimator, Event, Guarantee, NoPromise, Shape, Unit, Unpriced
from textveil.core.example import Example
from textveil.core.params import choice, positive_integer
from textveil.pii.masking.keys import KEY_BYTES, MaskKey
from textveil.pii.masking.operators import HOWS, Operator, Place, operator_of
from textveil.pii.masking.people import People
from textveil.pii.masking.pseudonyms import PseudonymPlan, Pseudonyms, note_people
from textveil.pii.masking.texts import mask_text
from textveil.pii.recognisers import load
from textveil.text.spans import Span

WHY = (
    "personal data is masked only where a recogniser found it; what it missed stands as it was, and what is left around the "
    "masks may still single a person out"
)
OperatorFor = Callable[[str, Sequence[Span], Place], Operator]  # a text, its spans, where -> what replaces its values
SOURCE = "masking by recognisers; no theorem"


class Mask(Estimator):
    """Masks what recognisers find.

    Parameters
    ----------
    model
        "patterns", the folder of a trained tagger, or a list of them; anything with `find(texts)` too.
    how
        "redact", "tag", "hash" or "pseudonym".
    labels
        Only these kinds; None: all.
    shift_days
        Pseudonyms of dates: they move by at most so many days.
    numbers
        Pseudonyms of numbers: their checksums are "invalid" or "valid".
    seed
        Of the key of hashes and pseudonyms; None: a secret one.

    Examples
    --------
    >>> Mask(how="tag").transform(["Write to anna@example.org, or call +49 30 1234567."])
    ['Write to [EMAIL_ADDRESS], or call [PHONE_NUMBER].']
    """

    name = "pii.mask"

    def __init__(
        self,
        model: Any = "patterns",
        how: str = "tag",
        labels: Sequence[str] | None = None,
        shift_days: int = 365,
        numbers: str = "invalid",
        seed: int | None = None,
    ):
        self.model = model
        self.how = how
        self.labels = labels
        self.shift_days = shift_days
        self.numbers = numbers
        self.seed = seed

    def fit(self, texts: Any = None, y: Any = None) -> Self:
        """Load the recognisers; nothing is learnt from texts."""
        self.check()
        self.recogniser_ = load(self.model, labels=self.labels)
        return self

    @property
    def guarantee_(self) -> Guarantee:
        """What is promised: nothing."""
        return Guarantee(NoPromise(WHY), Unit.DOCUMENT, Adjacency.REPLACE, (), SOURCE)

    def event(self, shape: Shape) -> Event:
        """An unpriced one: nothing is promised."""
        return Event(Unpriced(NoPromise(WHY)), Unit.DOCUMENT, Adjacency.REPLACE, source=SOURCE, mechanism=self.name)

    def check_data(self, data: Any, shape: Shape) -> None:
        """Refuse what is no list of texts."""
        if isinstance(data, str) or not all(isinstance(text, str) for text in data):
            raise BadInput("masking takes a list of texts")
        self.check()

    def check(self) -> None:
        """Refuse settings outside their range."""
        choice("how", self.how, HOWS)
        choice("numbers", self.numbers, ("invalid", "valid"))
        positive_integer("shift_days", self.shift_days)

    def passes(self) -> tuple[str, ...]:
        """What leaves unprotected."""
        shown = {
            "redact": "where a value was masked",
            "tag": "where a value was masked, and its kind",
            "hash": "where a value was masked, its kind, and which masked values are the same",
            "pseudonym": "where a value was masked to whoever can tell, its kind, and which masked values are the same",
        }
        return ("all words that no recogniser marked", shown[self.how])

    def public_params(self) -> dict[str, Any]:
        """Parameters as they may be published: recognisers by name."""
        models = self.model if isinstance(self.model, (list, tuple)) else [self.model]
        return {
            "model": [str(getattr(m, "name", m)).rpartition("/")[2] for m in models],
            "how": self.how,
            "labels": None if self.labels is None else sorted(self.labels),
            **({"numbers": self.numbers, "shift_days": self.shift_days} if self.how == "pseudonym" else {}),
        }

    def apply(self, data: Sequence[str], *, noise: Any) -> list[str]:
        """Masked texts; the key of hashes and pseudonyms is drawn and forgotten."""
        self.check_data(data, Shape())
        if not hasattr(self, "recogniser_"):
            self.fit()
        people, spans = People(), self.recogniser_.find(data)
        for text, found in zip(data, spans, strict=True):
            note_people(people, text, found, Place(0))
        operator_for = self.operators(drawn_key(noise), people)
        masked = []
        for number, (text, found) in enumerate(zip(data, spans, strict=True)):
            place = Place(number)
            masked.append(mask_text(text, found, operator_for(text, found, place), place).text)
        return masked

    def transform(self, texts: Sequence[str]) -> list[str]:
        """Masked texts, outside of any ledger."""
        from textveil.accounting.account import unrecorded

        return self.apply(list(texts), noise=unrecorded(self.seed))

    def fit_transform(self, texts: Sequence[str], y: Any = None) -> list[str]:
        return self.fit().transform(texts)

    def operators(self, key: MaskKey, people: People) -> OperatorFor:
        """What makes the operator of each document, under a key; `people` knows those that are named in full."""
        if self.how == "pseudonym":
            people.key = key
            plan = PseudonymPlan(self.shift_days, self.numbers == "valid")
            return Pseudonyms(key, people, plan).operator
        operator = operator_of(self.how, key)
        return lambda text, spans, place: operator

    @classmethod
    def example(cls) -> Example:
        """What the conformance suite checks it on."""
        sample = ["Mail anna@example.org today.", "Card 4111 1111 1111 1111, or call +49 30 1234567.", "Nothing here."]
        return Example(cls(how="hash"), sample)


def drawn_key(noise: Any) -> MaskKey:
    """A key from a source of noise."""
    return MaskKey(noise.words(KEY_BYTES // 8).tobytes())


__all__ = ["Mask", "drawn_key"]
