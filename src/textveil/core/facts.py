"""What the card shows beside the promise, as values: where the data came from, how it was made, what stays unprotected.

Everything here leaves with the release, so only public facts belong here: parameters, constants, what follows from the
output alone, and what its owner declared. A journey fills the sections it has:

    facts = Facts(
        data=DataFacts("letters.jsonl", "2026-01-31"),
        document=DocumentLine(per_word=128.0, max_words=200),
        making=("12 updates, noise 1.1 times the clip",),        # how it was made: public constants
        not_protected=("which words lie outside the vocabulary",),   # what the promise does not cover
    )

and `release.json` holds `facts.to_json()`. Sections and fields that a reader does not know are passed over, wrong types
are an error. Format 1 had one list, `policies`, for how it was made and for what is not protected: it is still read.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from types import UnionType
from typing import Any, Self, Union, get_args, get_origin, get_type_hints

from .errors import BadInput

_OLD_UNPROTECTED = ("not protected", "not hidden")  # format 1 said in words which of its policies these were


@dataclass(frozen=True)
class Section:
    """A part of the facts with a JSON form; empty fields are left out of it."""

    def to_json(self) -> dict[str, Any]:
        return {name: _plain(value) for name, value in asdict(self).items() if value not in (None, {})}

    @classmethod
    def from_json(cls, shown: Any) -> Self:
        if not isinstance(shown, dict):
            raise BadInput(f"the facts of a release hold no {cls.__name__} where one belongs")
        hints = get_type_hints(cls)
        known = {f.name: _typed(shown[f.name], hints[f.name], f.name) for f in fields(cls) if f.name in shown}
        try:
            return cls(**known)
        except TypeError:
            names = ", ".join(f.name for f in fields(cls))
            raise BadInput(f"{cls.__name__} in the facts of a release lacks a value", possible=names) from None


@dataclass(frozen=True)
class DataFacts(Section):
    """The input by its name. Its size is a fact of private data: only a declared or released one may stand here."""

    file: str
    read_on: str = ""  # the day, as 2026-01-31
    text_field: str | None = None
    records: int | None = None  # where the number is public: it shows in the output anyway
    words: int | None = None
    reading: dict[str, str] = field(default_factory=dict)  # fields, format and header, to read the input again


@dataclass(frozen=True)
class DocumentLine(Section):
    """What a whole document may lose: the worst loss of one word times the declared cap of words.

    >>> DocumentLine(128.0, 200).loss
    25600.0
    """

    per_word: float
    max_words: int | None = None

    @property
    def loss(self) -> float | None:
        return None if self.max_words is None else self.per_word * self.max_words


@dataclass(frozen=True)
class VectorsUsed(Section):
    """The public word vectors that distances were measured on."""

    name: str
    words: int
    fingerprint: str
    language: str = ""  # of the words; empty: not stated
    nearest: float | None = (
        None  # distance of a word to its nearest other word, in the middle of all words by frequency
    )
    near_share: float | None = None  # share of words that have another one within the reach of the promise


@dataclass(frozen=True)
class Substitution(Section):
    """How often a word stays itself, and how far substitutes lie (shares, near to far), over the public prior."""

    stay: float
    distance_hist: tuple[float, ...] = ()


@dataclass(frozen=True)
class CountsFacts(Section):
    """The released table: its shape and filling follow from the output, the scale of the noise from the parameters."""

    scale: float
    documents: int
    columns: int
    filled: float
    mean_length: float


@dataclass(frozen=True)
class ModelScores(Section):
    """Scores on a test file that its owner takes to be public: they are outside the promise."""

    lines: tuple[str, ...]
    values: dict[str, float] = field(default_factory=dict)
    test_file: str = ""


@dataclass(frozen=True)
class TrainingRun(Section):
    """The plan that a training run followed. A phase is (noise multiplier, expected batch, updates).

    >>> TrainingRun(((2.0, 256, 100), (1.0, 512, 50)), 10_000).updates
    150
    """

    phases: tuple[tuple[float, int, int], ...]
    examples: int  # declared
    clip: float = 1.0
    sampling: str = "poisson"
    unit: str = "example"
    shards: int = 1

    @property
    def updates(self) -> int:
        return sum(updates for _, _, updates in self.phases)


@dataclass(frozen=True)
class FederationRun(Section):
    """The plan that a federated run followed, and its curves: scores on a public file and the epsilon spent, by round.

    A point is (round, value). Without noise, `scores` may be the loss on the units' own examples: nothing is promised then.
    """

    strategy: str
    rounds: int
    units: int  # as declared
    per_round: int
    unit: str = "user"
    local: str = "sgd"
    sampling: str = "fixed"
    clip: float | None = None
    clipping: str = "flat"
    noise: float | None = None
    score: str = ""  # what the scores are
    scores: tuple[tuple[float, float], ...] = ()
    spent: tuple[tuple[float, float], ...] = ()
    site_epsilons: tuple[float, ...] = ()  # sites that train under DP-SGD by themselves: each one's own price
    refused: dict[str, int] = field(default_factory=dict)  # "name: code" -> how often


@dataclass(frozen=True)
class SealFacts(Section):
    """How a hashed model was sealed, and what a term of each rank (1: the commonest) costs: {"100": epsilon}."""

    mode: str
    law: str = ""
    min_documents: int | None = None
    spread: float | None = None
    lean: float | None = None
    updates: int = 0  # since it was sealed
    costs: dict[str, float] = field(default_factory=dict)
    how_counted: str = ""  # by which count of a term's rows the costs were found


@dataclass(frozen=True)
class SpentSoFar(Section):
    """What the ledger held right after the charge of this release: the total for its unit, made from public events only."""

    ledger: str  # its name
    charges: int  # that the total sums up, this one included
    unpriced: int = 0  # releases without a price, this one included if it has none: listed, never summed
    epsilon: float | None = None  # None where this release itself has no price
    delta: float = 0.0
    what: str = ""  # what the epsilon is counted for: "per step of hamming distance between two words"
    budget: float | None = None  # the tightest budget that covers it, as it stood then
    left: float | None = None


@dataclass(frozen=True)
class SamplePair(Section):
    """A text before and after. Only ever an invented one: the letters of the demo."""

    before: str
    after: str


@dataclass(frozen=True)
class Facts:
    """All that a release says about itself beside its promise and its parameters.

    >>> Facts(document=DocumentLine(128.0, 200), making=("12 updates",)).to_json()
    {'document': {'per_word': 128.0, 'max_words': 200}, 'making': ['12 updates']}
    >>> Facts.from_json({"vectors": {"name": "default", "words": 9, "fingerprint": "c0"}}).vectors.words
    9
    """

    data: DataFacts | None = None
    document: DocumentLine | None = None
    vectors: VectorsUsed | None = None
    substitution: Substitution | None = None
    counts: CountsFacts | None = None
    scores: ModelScores | None = None
    training: TrainingRun | None = None
    federation: FederationRun | None = None
    seal: SealFacts | None = None
    spent: SpentSoFar | None = None
    sample: tuple[SamplePair, ...] = ()
    making: tuple[str, ...] = ()  # how it was made: public constants, one sentence each
    not_protected: tuple[str, ...] = ()  # what the promise does not cover, one sentence each
    beware: tuple[
        str, ...
    ] = ()  # what must be read first: a total above what was asked for, a model that learnt nothing

    def to_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        for part in fields(self):
            value = getattr(self, part.name)
            if isinstance(value, Section):
                shown[part.name] = value.to_json()
            elif value:
                shown[part.name] = [v.to_json() if isinstance(v, Section) else str(v) for v in value]
        return shown

    @classmethod
    def from_json(cls, shown: Any) -> Facts:
        """The inverse of `to_json`; reads format 1 too."""
        if not isinstance(shown, dict):
            raise BadInput("the facts of a release are not an object")
        shown, hints = _renewed(shown), get_type_hints(cls)
        return cls(**{f.name: _typed(shown[f.name], hints[f.name], f.name) for f in fields(cls) if f.name in shown})


def _typed(value: Any, hint: Any, name: str) -> Any:
    """The value as the annotation wants it, or an error that names the field (never its value)."""
    kind = get_origin(hint)
    if kind in (UnionType, Union):
        inner = next(h for h in get_args(hint) if h is not type(None))
        return None if value is None else _typed(value, inner, name)
    if kind is tuple and isinstance(value, (list, tuple)):
        inner, *more = get_args(hint)
        kinds = [inner] * len(value) if more == [...] else [inner, *more]
        if len(kinds) == len(value):
            return tuple(_typed(v, k, name) for v, k in zip(value, kinds, strict=True))
    elif kind is dict and isinstance(value, dict):
        return {str(key): _typed(v, get_args(hint)[1], name) for key, v in value.items()}
    elif isinstance(hint, type) and issubclass(hint, Section):
        return hint.from_json(value)
    elif hint is float and value == "inf":
        return math.inf
    elif hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    elif hint in (str, int) and isinstance(value, hint) and not isinstance(value, bool):
        return value
    raise BadInput("in the facts of a release has the wrong type", field=name)


def _plain(value: Any) -> Any:
    match value:
        case float() if math.isinf(value):
            return "inf"
        case tuple() | list():
            return [_plain(v) for v in value]
        case dict():
            return {key: _plain(v) for key, v in value.items()}
    return value


def _renewed(shown: dict[str, Any]) -> dict[str, Any]:
    """Facts of format 1 in today's words; those of format 2 as they are."""
    renewed = dict(shown)
    document = renewed.get("document")
    if isinstance(document, dict) and "epsilon_per_word_worst" in document:
        renewed["document"] = {"per_word": document["epsilon_per_word_worst"], "max_words": document.get("max_words")}
    if isinstance(renewed.get("sample"), dict):
        renewed["sample"] = renewed["sample"].get("pairs", [])
    if "plan" in renewed:
        renewed["training"] = renewed.pop("plan")
    scores = renewed.get("scores")
    if isinstance(scores, dict) and "lines" not in scores:
        renewed["scores"] = {"lines": [], "values": scores} if scores else None
    if "costs" in renewed:
        costs = {
            rank: cost.get("larger") if isinstance(cost, dict) else cost for rank, cost in renewed["costs"].items()
        }
        renewed["seal"] = {**(renewed.get("seal") or {"mode": ""}), "costs": costs}
    said = [line for line in renewed.get("policies") or [] if isinstance(line, str)]
    if said:
        unprotected = [line for line in said if any(mark in line for mark in _OLD_UNPROTECTED)]
        renewed.setdefault("not_protected", unprotected)
        renewed.setdefault("making", [line for line in said if line not in unprotected])
    return renewed
