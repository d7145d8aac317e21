"""What all word mechanisms share: words in, words out, and what else passes through.

The unit is one word occurrence; the neighbour is the same text with that word replaced by any other; the adversary sees
the whole output and knows the vectors, the mechanism and epsilon.

Every word of the text (see text.tokens) becomes a row of the public vectors, and the mechanism draws a row in its place.
A word outside the vocabulary becomes the public fallback point and is drawn like any other, so that nothing of it passes
(`oov="draw"`); `oov="token"` writes a fixed token instead, which tells that the word was outside the vocabulary. Words in
`keep` pass unchanged and are not protected. Punctuation, spaces, the number and the order of words pass through; so do
capitals (first letter or whole word) unless `case="drop"`.

Only rows of the vocabulary leave a mechanism. Noised points never do, which closes attacks on the low bits of floats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from textveil.core import (
    Adjacency,
    BadInput,
    Estimator,
    Event,
    Guarantee,
    MetricNoise,
    NoPromise,
    Shape,
    Unit,
    Unpriced,
)
from textveil.core.events import Noise
from textveil.core.params import choice, positive
from textveil.noise import Source, source_for
from textveil.text import tokens
from textveil.text.codes import Codes
from textveil.text.vectors import Vectors, load
from textveil.words.codes_only import CodesOnly
from textveil.words.forms import CASES, COPIED, KEPT, Forms, join

TOKEN = "UNK"
DRAWS_AT_ONCE = 16_384


class Veiled(list[str]):
    """New texts, and of how many words they were made: to count them again costs a twentieth of the whole."""

    words: int = 0


class WordMechanism(Estimator):
    """Base of the word mechanisms. A subclass names its metric and draws rows for rows."""

    name: ClassVar[str]
    metric: ClassVar[str]
    source: ClassVar[str]
    rounding: ClassVar[str]  # what is assumed of its arithmetic

    # Declared by the subclasses' constructors:
    epsilon: float
    vectors: Any
    oov: str
    keep: Iterable[str]
    case: str
    seed: int | None

    # ---- fit: public vectors only ------------------------------------------------------------------------------

    def fit(self, vectors: Any = None, y: Any = None) -> Self:
        """Take the public vectors. In a pipeline this is called with the texts, which are not looked at."""
        self._check()
        self.vectors_ = self._public_vectors(vectors)
        self._prepare()
        self._choose()
        return self

    def _public_vectors(self, given: Any) -> Vectors | CodesOnly:
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
        choice("case", self.case, ("keep", "drop"))
        source_for(self.seed)

    def _prepare(self) -> None:
        """Build what drawing needs from `vectors_`."""

    def _choose(self) -> None:
        keep = [self.keep] if isinstance(self.keep, str) else list(self.keep)
        self.kept_ = frozenset(tokens.fold(w) for w in keep)
        self.rows_ = {word: row for row, word in enumerate(self.vectors_.words) if word not in self.kept_}
        self._outputs = list(self.vectors_.words)

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be built again from the rest, such as the search: workers build their own."""
        built = {n for c in type(self).__mro__ for n, v in vars(c).items() if isinstance(v, cached_property)}
        return {name: value for name, value in self.__dict__.items() if name not in built}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "vectors_")

    def _ready(self) -> None:
        if not self.__sklearn_is_fitted__():
            self.fit()

    # ---- the promise -------------------------------------------------------------------------------------------

    def metric_id(self) -> str:
        return self.vectors_.fingerprint

    def diameter(self) -> float:
        """Largest distance between two inputs, or an upper bound of it; public."""
        raise BadInput(f"{self.name} states no diameter")

    def event(self, shape: Shape | None = None) -> Event:
        """What one veiling costs each word; the length of the text does not matter."""
        self._ready()
        noise: Noise = self._noise()
        if self.seed is not None:
            noise = Unpriced(
                NoPromise(f"drawn with a seed, which undoes the noise for whoever knows it ({noise})", "seeded")
            )
        return Event(noise, Unit.WORD, Adjacency.METRIC, 1, self.assumes(), self.source, self.name)

    def _noise(self) -> Noise:
        return MetricNoise(float(self.epsilon), self.metric, self.metric_id(), self.diameter())

    def assumes(self) -> tuple[str, ...]:
        """Assumptions and policies, in plain words."""
        found = ["the vectors are public and were not made from the text", self.rounding]
        if self.oov == "token":
            found.append(f"words outside the vocabulary become '{TOKEN}': that they are outside is not protected")
        if self.kept_:
            found.append(f"{len(self.kept_)} kept words pass unchanged and are not protected")
        return tuple(found)

    @property
    def guarantee_(self) -> Guarantee:
        from textveil.accounting import guarantee_of

        return guarantee_of(self.event())

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

    def apply(self, data: Iterable[str], *, noise: Source) -> list[str]:
        """New texts with each word drawn; the given ones are not changed."""
        self._ready()
        cut = [_cut(text, number) for number, text in enumerate(data)]
        words = [word for pieces in cut for word in pieces[1::2]]
        forms = np.fromiter(map(self._forms().__getitem__, words), np.int64, len(words))
        drawn = forms >= 0
        new = self._put_back(words, forms, self.draw(forms[drawn] // CASES, noise).tolist())
        veiled = Veiled(join(cut, new, (forms != KEPT).tolist()))
        veiled.words = len(words)
        return veiled

    def _forms(self) -> Forms:
        return Forms(self.rows_, self.kept_, self._unknown if self.oov == "draw" else None, self.case == "keep")

    def _put_back(self, words: list[str], forms: np.ndarray, drawn: list[int]) -> list[str]:
        """The word that stands in the place of each: itself if it is kept, the token, or the one that was drawn."""
        outputs = self._outputs
        new = [outputs[row] for row in drawn]
        if len(new) < len(words):
            rest = iter(new)
            new = [
                next(rest) if f >= 0 else w if f == KEPT else TOKEN for w, f in zip(words, forms.tolist(), strict=True)
            ]
        cases = np.where(forms >= 0, forms % CASES, np.where(forms == KEPT, 0, -1 - forms))
        for i in np.flatnonzero(cases).tolist():
            new[i] = tokens.recase(new[i], COPIED[cases[i]])
        return new

    def transform(self, texts: Iterable[str]) -> list[str]:
        """Veil texts, outside any ledger."""
        if isinstance(texts, str):
            raise BadInput("transform takes a list of texts, not one text", possible="[text]")
        return self.apply(texts, noise=source_for(self.seed))

    def substitutes(self, word: str, draws: int = 1000) -> Counter[str]:
        """How often each word is drawn in the place of `word`."""
        self._ready()
        row = self.rows_.get(tokens.fold(word), self._unknown)
        drawn = self.draw(np.full(draws, row), source_for(self.seed))
        return Counter(self._outputs[i] for i in drawn.tolist())


def _cut(text: Any, number: int) -> list[str]:
    if not isinstance(text, str):
        raise BadInput(f"text {number} is a {type(text).__name__}, not a string")
    return tokens.split(text)[0]
