"""What all word mechanisms share: words in, words out, and what else passes through.

The unit is one word occurrence; the neighbour is the same text with that word replaced by any other; the adversary sees
the whole output and knows the vectors, the mechanism and epsilon. With `once=True` the unit is one word of a document at all
its places (words/once.py).

Every word of the text (see text.tokens) becomes a row of the public vectors, and the mechanism draws a row in its place.
A word outside the vocabulary becomes the public fallback point and is drawn like any other, so that nothing of it passes
(`oov="draw"`); `oov="token"` writes a fixed token instead, which tells that the word was outside the vocabulary. Words in
`keep` pass and are not protected. Punctuation, spaces, signs, the number and the order of words pass (`passes`).

Letter case does not pass: texts that differ only in it have the same outputs. Capitals stand where a sentence begins
(`case="sentence"`: the first word, and after a full stop, ! or ?, which pass anyway) or nowhere (`drop`); kept words are
written as the list of kept words has them. `case="keep"` copies capitals from the text, unprotected.

Only rows of the vocabulary leave a mechanism. Noised points never do, which closes attacks on the low bits of floats.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar, Self, overload

import numpy as np

from textveil.core import (
    Adjacency,
    BadInput,
    Estimator,
    Event,
    Guarantee,
    MetricNoise,
    Shape,
    Unit,
)
from textveil.core.draft import as_draft
from textveil.core.events import Noise
from textveil.core.example import Example
from textveil.core.inputs import check_texts, in_series, texts_of
from textveil.core.params import choice, positive, seed_or_none, truth_value
from textveil.noise import Source
from textveil.text import tokens
from textveil.text.codes import Codes
from textveil.text.vectors import Vectors, load
from textveil.words.codes_only import CodesOnly, PublicWords
from textveil.words.forms import CASES, COPIED, KEPT, OF_A_KIND, Forms, join, put_capitals
from textveil.words.kept import KeptWords
from textveil.words.kinds.drawing import DIAMETER as KINDS_DIAMETER
from textveil.words.kinds.drawing import draw_kinds, in_texts
from textveil.words.once import draw_once
from textveil.words.policies import TOKEN, assumed_by, passing_with

CASE_POLICIES = ("sentence", "drop", "keep")
DRAWS_AT_ONCE = 16_384
_BLANK = re.compile(r"\s")


class Veiled(list[str]):
    """New texts, and of how many words they were made: to count them again costs a twentieth of the whole."""

    words: int = 0


class WordMechanism(Estimator):
    """Base of the word mechanisms. A subclass names its metric and draws rows for rows.

    Parameters
    ----------
    epsilon
        How much a word may show, per step of distance to another word: smaller hides more. What a step is depends
        on the metric, so figures of different mechanisms do not compare; `textveil words compare` sets them side by
        side.
    vectors
        Public word vectors: None for the bundled 30,000 English words, a file, or `Vectors` (`tv.vectors.load`).
    oov
        "draw": a word outside the vocabulary is drawn like any other; "token": it becomes one fixed sign, which
        shows that it is outside.
    keep
        Words that pass unchanged: a list of words, "function-words" for the public list that ships (English), or both in
        one list. They are not protected, and neither is that all other words are none of them.
    case
        Capitals: "sentence" puts them where a sentence begins, "drop" nowhere, "keep" copies them from the text,
        unprotected.
    once
        Draw each distinct word of a text once and use the draw wherever it stands there: repeated words cannot be averaged,
        and names stay consistent. The promise is then about a word at all its places of a text; which places hold equal
        words passes, and one occurrence alone has no promise.
    kinds
        Draw numbers, dates and codes among those of the same form (words/kinds), instead of a word in their place. Which
        words they are, and their form, passes.
    kinds_epsilon
        Loss per step within a kind: a tenth of the range of a number, 365 days of a date, one character of a code. Only
        with `kinds`.
    seed
        None draws from the secure source. A number makes a draft, which protects nobody: whoever knows it can undo
        it.
    """

    name: ClassVar[str]
    metric: ClassVar[str]
    source: ClassVar[str]
    rounding: ClassVar[str]  # what is assumed of its arithmetic

    # Declared by the subclasses' constructors:
    epsilon: float
    vectors: Any
    oov: str
    keep: str | Iterable[str]
    case: str
    once: bool = False  # defaults here: a plug-in need not know of them
    kinds: bool = False
    kinds_epsilon: float = 1.0
    seed: int | None

    fitted_parameters: ClassVar[tuple[str, ...]] = ("vectors", "keep")  # that `fit` builds on

    # ---- fit: public vectors only ------------------------------------------------------------------------------

    def fit(self, vectors: Any = None, y: Any = None) -> Self:
        """Take the public vectors. In a pipeline this is called with the texts, which are not looked at."""
        self._check()
        self.vectors_ = self._public_vectors(vectors)
        self._prepare()
        self._choose()
        self._fitted_with = {name: getattr(self, name) for name in self.fitted_parameters}
        return self

    def set_params(self, **values: Any) -> Self:
        """Set parameters; a fitted mechanism is fitted again, so that its promise and its noise stay one."""
        super().set_params(**values)
        if self.__sklearn_is_fitted__():
            self.fit(None if "vectors" in values else self.vectors_)
        return self

    def _public_vectors(self, given: Any) -> PublicWords:
        for candidate in (given, self.vectors):
            if isinstance(candidate, (Vectors, CodesOnly)):
                return candidate
            if isinstance(candidate, Codes):
                return CodesOnly(candidate)
        if str(self.vectors).endswith(".tvc"):
            return CodesOnly.load(self.vectors)
        return load(self.vectors or "default")

    def _check(self) -> None:
        positive("epsilon", self.epsilon)
        choice("oov", self.oov, ("draw", "token"))
        choice("case", self.case, CASE_POLICIES)
        truth_value("once", self.once)
        truth_value("kinds", self.kinds)
        positive("kinds_epsilon", self.kinds_epsilon)
        seed_or_none("seed", self.seed)

    def _prepare(self) -> None:
        """Build what drawing needs from `vectors_`."""

    def _choose(self) -> None:
        self._kept = KeptWords.of(self.keep, self.vectors_.language)
        self.kept_ = self._kept.folded
        self.rows_ = {word: row for row, word in enumerate(self.vectors_.words) if word not in self.kept_}
        # Phrases are written as one word, so that a token never becomes two.
        self._outputs = [_BLANK.sub("_", word) for word in self.vectors_.words]

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be built again from the rest, such as the search: workers build their own."""
        built = {n for c in type(self).__mro__ for n, v in vars(c).items() if isinstance(v, cached_property)}
        return {name: value for name, value in self.__dict__.items() if name not in built}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "vectors_")

    def _ready(self) -> None:
        if not self.__sklearn_is_fitted__():
            self.fit()
        for name, value in self._fitted_with.items():
            now = getattr(self, name)
            if now is not value and now != value:
                raise BadInput(f"{name} was changed after fit", possible="set_params, or fit again")

    # ---- the promise -------------------------------------------------------------------------------------------

    def metric_id(self) -> str:
        return self.vectors_.fingerprint

    def diameter(self) -> float:
        """Largest distance between two inputs, or an upper bound of it; public."""
        raise BadInput(f"{self.name} states no diameter")

    def event(self, shape: Shape | None = None) -> Event:
        """What one veiling costs each word; the length of the text does not matter."""
        self._ready()
        return Event(self._noise(), self.unit, Adjacency.METRIC, 1, self.assumes(), self.source, self.name)

    @property
    def unit(self) -> Unit:
        """What one draw covers: an occurrence, or a word at all its places of a text."""
        return Unit.DOCUMENT_TERM if self.once else Unit.WORD

    def _noise(self) -> Noise:
        return MetricNoise(float(self.epsilon), *self.space())

    def space(self) -> tuple[str, str, float]:
        """Name, identity and diameter of the metric of the promise; the diameter within one kind of word (`kinds`)."""
        name, identity, widest = self.metric, self.metric_id(), self.diameter()
        if not self.kinds:
            return name, identity, widest
        ratio = float(self.kinds_epsilon) / float(self.epsilon)
        own = hashlib.blake2b(f"{identity} kinds {ratio:.12g}".encode(), digest_size=16).hexdigest()
        return f"{name}+kinds", own, max(widest, ratio * KINDS_DIAMETER)

    def assumes(self) -> tuple[str, ...]:
        """Assumptions and policies, in plain words."""
        return assumed_by(self)

    def passes(self) -> tuple[str, ...]:
        """What leaves a text unprotected, in words for a card."""
        self._ready()
        return passing_with(self)

    @property
    def kept_named(self) -> str:
        """The kept words in words for a card: a list by its name."""
        return self._kept.named

    @property
    def guarantee_(self) -> Guarantee:
        from textveil.accounting import guarantee_of

        return guarantee_of(self.event() if self.seed is None else as_draft(self.event()))

    def public_params(self) -> dict[str, Any]:
        """The vectors by their name; kept words as they are: they are public by choice and listed as not protected."""
        self._ready()
        named = "default" if self.vectors is None else str(getattr(self.vectors, "name", self.vectors))
        return {**super().public_params(), "vectors": named, "keep": sorted(self.kept_)}

    # ---- drawing -----------------------------------------------------------------------------------------------

    def draw(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        """A drawn row for each row; row `len(vectors)` is the public point of unknown words."""
        self._ready()
        rows = np.asarray(rows, dtype=np.int64)
        out = np.empty(len(rows), dtype=np.int32)
        for start in range(0, len(rows), DRAWS_AT_ONCE):
            out[start : start + DRAWS_AT_ONCE] = self._draw(rows[start : start + DRAWS_AT_ONCE], noise)
        return out

    def _draw(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        raise BadInput(f"{self.name} cannot draw")

    @property
    def _unknown(self) -> int:
        return len(self.vectors_)

    def log_odds(self, noised: np.ndarray) -> np.ndarray:
        """Log density of each noised point from each word, up to a constant per point: (points, words)."""
        raise BadInput(f"{self.name} has no odds given the noised point")

    def noised(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        """The noised points. They are private: only what the search makes of them may leave."""
        raise BadInput(f"{self.name} draws no noised points")

    def posterior_peak(self, rows: np.ndarray, prior: np.ndarray, noise: Source) -> np.ndarray:
        """The largest posterior of any word given the noised point of each row, which nobody outside ever sees.

        Its mean over rows drawn from the prior bounds the success of every adversary: the output is a function of the
        noised point and of randomness that does not depend on the input.
        """
        with np.errstate(divide="ignore"):
            log_prior = np.log(prior)
        peaks = np.empty(len(rows))
        for start in range(0, len(rows), 256):
            some = slice(start, start + 256)
            score = self.log_odds(self.noised(rows[some], noise)) + log_prior
            score -= score.max(axis=1, keepdims=True)
            peaks[some] = 1 / np.exp(score).sum(axis=1)
        return peaks

    def check_data(self, data: Any, shape: Shape) -> None:
        """Refuse what is no texts, before anything is charged."""
        check_texts(data)

    def apply(self, data: Iterable[str], *, noise: Source) -> list[str]:
        """New texts with each word drawn; the given ones are not changed."""
        self._ready()
        cut = [tokens.split(text)[0] for text in texts_of(data)]
        words = [word for pieces in cut for word in pieces[1::2]]
        forms = np.fromiter(map(self._forms().__getitem__, words), np.int64, len(words))
        special = in_texts(cut, self.kept_) if self.kinds else []
        forms[[place for text in special for word in text for place in word.places]] = OF_A_KIND
        drawn = forms >= 0
        new = self._put_back(words, forms, self._draw_places(cut, words, forms, drawn, noise).tolist())
        for place, written in draw_kinds(special, self.kinds_epsilon, noise, once=self.once).items():
            new[place] = tokens.recase_like(written, words[place]) if self.case == "keep" else written
        if self.case == "sentence":
            put_capitals(cut, new)
        veiled = Veiled(join(cut, new, (forms != KEPT).tolist()))
        veiled.words = len(words)
        return veiled

    def places_of_kinds(self, text: str) -> set[int]:
        """Which words of a text are drawn as numbers, dates or codes."""
        special = in_texts([tokens.split(text)[0]], self.kept_) if self.kinds else []
        return {place for own in special for word in own for place in word.places}

    def _draw_places(
        self, cut: list[list[str]], words: list[str], forms: np.ndarray, drawn: np.ndarray, noise: Source
    ) -> np.ndarray:
        """A drawn row for each place that is drawn: by itself, or once for equal words of a text."""
        rows = forms[drawn] // CASES
        if not self.once:
            return self.draw(rows, noise)
        documents = np.repeat(np.arange(len(cut)), [len(pieces) // 2 for pieces in cut])[drawn]
        places = [words[i] for i in np.flatnonzero(drawn).tolist()]
        return draw_once(documents, places, rows, self._unknown, lambda distinct: self.draw(distinct, noise))

    def _forms(self) -> Forms:
        return Forms(self.rows_, self.kept_, self._unknown if self.oov == "draw" else None, self.case == "keep")

    def _put_back(self, words: list[str], forms: np.ndarray, drawn: list[int]) -> list[str]:
        """The word that stands in the place of each: itself if it is kept, the token, or the one that was drawn."""
        outputs = self._outputs
        new = [outputs[row] for row in drawn]
        if len(new) < len(words):
            rest = iter(new)
            new = [
                next(rest) if f >= 0 else self._as_kept(w) if f == KEPT else TOKEN
                for w, f in zip(words, forms.tolist(), strict=True)
            ]
        if self.case == "keep":
            cases = np.where(forms >= 0, forms % CASES, np.where(forms == KEPT, 0, -1 - forms))
            for i in np.flatnonzero(cases).tolist():
                new[i] = tokens.recase(new[i], COPIED[cases[i]])
        return new

    def _as_kept(self, word: str) -> str:
        """A kept word as it stands in the text, or as it was listed where letter case may not pass."""
        return word if self.case == "keep" else self._kept.spelling[tokens.fold(word)]

    def words_written(self) -> str:
        """Every word that may stand in the output, in every case, and signs that may join them: one string of them all."""
        words = "\x1f".join([*self._outputs, *self._kept.spelling.values(), TOKEN, "-"])
        return "\x1f".join((words, words.upper(), words.title()))

    @overload
    def transform(self, texts: list[str] | tuple[str, ...]) -> list[str]: ...
    @overload
    def transform(self, texts: Any) -> Any: ...
    def transform(self, texts: Any) -> Any:
        """Veil texts, outside any ledger. A list comes back; a pandas Series comes back as one, with its index.

        Each call draws anew: veiling the same texts again costs each word epsilon again, and nothing records it. In a
        pipeline that is each `fit` and each `predict` (docs/scikit-learn.md).
        """
        check_texts(texts)  # first: what is refused draws nothing, and nothing is to be warned about
        return in_series(texts, self.apply(texts, noise=self._own_noise(of_a_transform=True)))

    def fit_transform(self, texts: Any, y: Any = None) -> Any:
        """`fit` and `transform` in one; the texts are not looked at by `fit`."""
        return self.fit(texts).transform(texts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit, tags.non_deterministic = False, True
        return tags

    def _own_noise(self, *, of_a_transform: bool = False) -> Source:
        """Noise outside of any ledger. Imported late: the words alone need no accounting."""
        from textveil.accounting.account import unrecorded

        return unrecorded(self.seed, of_a_transform=of_a_transform)

    def substitutes(self, word: str, draws: int = 1000) -> Counter[str]:
        """How often each word is drawn in the place of `word`."""
        self._ready()
        row = self.rows_.get(tokens.fold(word), self._unknown)
        drawn = self.draw(np.full(draws, row), self._own_noise())
        return Counter(self._outputs[i] for i in drawn.tolist())

    @classmethod
    def example(cls) -> Example:
        """What the conformance suite checks it on."""
        from textveil.words.example import word_example

        return word_example(cls)
