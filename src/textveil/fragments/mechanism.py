"""Fragments as a mechanism: sentence pairs in, loose phrase pairs out.

Claim. None, unless epsilon is given. Cutting, shuffling and dropping hide which phrases stood side by side from a
reader who does not try; whoever tries puts phrases together again by their overlaps (`attacks/fragments`). The
phrases themselves stand there in clear. So a release is labelled heuristic, and what an attack rebuilds is measured.

With epsilon and delta: which phrase pairs are shown, and how often, keeps (epsilon, delta) for one sentence pair that
is there or not there (`frequent`). Nothing else of the text leaves. The promise is about a sentence pair, not about a
document or a client: a sentence that stands there many times counts many times. A phrase that many sentence pairs
have is shown, whatever it says.

Source. Kim, Bisazza and Turkmen 2021; Koehn, Och and Marcu 2003; Korolova et al. 2009 (thresholds).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from textveil.accounting.thresholds import Noising
from textveil.core import (
    Adjacency,
    BadInput,
    Estimator,
    Event,
    Guarantee,
    NoPromise,
    Shape,
    Together,
    Unit,
    Unpriced,
)
from textveil.core.example import Example, Worlds
from textveil.core.params import needs, positive_integer

from .aligner import Aligner, Links, corpus_of
from .cutter import KEY_BYTES, Cutter, batches
from .decoys import decoys_of
from .frequent import PhraseCounts, parts_of, phrase_noising, rows_of
from .policy import FragmentPolicy
from .sentences import Side, WordNumbers, side_of

WHY = (
    "phrases leave in clear, and overlapping ones can be put together again; cutting and dropping bound no loss, so what an "
    "attack rebuilds is measured"
)
SOURCE = "Kim, Bisazza and Turkmen 2021; no theorem"
THRESHOLD_SOURCE = "thresholded noisy counts of phrase pairs (Korolova et al. 2009; Wilson et al. 2020)"
ASSUMES = (
    "the links of a sentence pair follow from that pair and from public text alone",
    "the rule that cuts a sentence pair, the recogniser of names and the glossary are public",
)


class Fragments(Estimator):
    """Cuts sentence pairs into loose phrase pairs.

    Parameters
    ----------
    longest
        Words of the longest phrase, on both sides.
    shortest
        Words of the shortest phrase.
    longest_target
        Words of the longest target side, where it is another one; None: as `longest`.
    cut
        "overlapping" (all consistent phrases, as in the paper) or "apart" (no word stands in two phrases).
    drop
        Share of the phrases that is left out.
    drop_by
        Leave out single occurrences ("occurrence"), or phrase pairs with all their occurrences ("type").
    unique
        Take each sentence pair once.
    tags
        Put <P> and </P> around each phrase.
    decoys
        Made-up phrase pairs, as a share of the real ones.
    epsilon
        Show only frequent phrase pairs, under differential privacy with this loss for a sentence pair; None: no
        promise.
    delta
        With epsilon: chance that the bound fails.
    distinct
        With epsilon: how many different phrase pairs of a sentence pair count.
    aligner
        An `Aligner` that was fitted on public text; None: it is fitted on the data itself (and nothing can be
        promised).
    tokens
        "blanks" (tokenised text) or "words" (punctuation is cut off).
    seed
        Of what is dropped and of the order; None: a secret one.

    Examples
    --------
    >>> pairs = [("ein Haus", "a house"), ("ein Baum", "a tree"), ("kein Haus", "no house")] * 3
    >>> ["ein", "a"] in Fragments(drop=0, seed=1).transform(pairs)
    True
    """

    name = "fragments.phrases"

    def __init__(
        self,
        longest: int = 4,
        shortest: int = 1,
        longest_target: int | None = None,
        cut: str = "overlapping",
        drop: float = 0.5,
        drop_by: str = "occurrence",
        unique: bool = False,
        tags: bool = False,
        decoys: float = 0.0,
        epsilon: float | None = None,
        delta: float = 1e-6,
        distinct: int = 8,
        aligner: Aligner | None = None,
        tokens: str = "blanks",
        seed: int | None = None,
    ):
        self.longest, self.shortest, self.longest_target, self.cut = longest, shortest, longest_target, cut
        self.drop, self.drop_by, self.unique, self.tags, self.decoys = drop, drop_by, unique, tags, decoys
        self.epsilon, self.delta, self.distinct = epsilon, delta, distinct
        self.aligner, self.tokens, self.seed = aligner, tokens, seed

    # ---- what it costs ------------------------------------------------------------------------------------------------

    def policy(self) -> FragmentPolicy:
        """How it cuts; with epsilon nothing is dropped at random, since what is rare is left out."""
        drop = 0.0 if self.epsilon is not None else self.drop
        return FragmentPolicy(
            self.longest, self.shortest, self.longest_target, self.cut, drop, self.drop_by, self.unique, self.tags,
            self.decoys,
        )  # fmt: skip

    def noising(self) -> Noising:
        """The noise on counts, where epsilon is given."""
        assert self.epsilon is not None
        return phrase_noising(self.epsilon, self.delta, positive_integer("distinct", self.distinct))

    def check(self) -> None:
        """Refuse settings outside their range."""
        self.policy().check()
        side_of([], self.tokens)
        if self.epsilon is not None:
            self.noising()
            if self.decoys:
                raise BadInput(
                    "decoys are made of single occurrences, and none leave under epsilon", possible="decoys 0"
                )

    def event(self, shape: Shape) -> Event:
        """Unpriced, or the noise on the counts of phrases."""
        self.check()
        if self.epsilon is None:
            return Event(
                Unpriced(NoPromise(WHY)), Unit.EXAMPLE, Adjacency.ADD_REMOVE, source=SOURCE, mechanism=self.name
            )
        own = self.noising()
        bound = f"a sentence pair counts at most {own.distinct} different phrase pairs, each once"
        return Event(
            Together(parts_of(own)), Unit.EXAMPLE, Adjacency.ADD_REMOVE, assumes=(*ASSUMES, bound),
            source=THRESHOLD_SOURCE, mechanism=self.name,
        )  # fmt: skip

    @property
    def guarantee_(self) -> Guarantee:
        """What is promised."""
        from textveil.accounting import guarantee_of

        event = self.event(Shape())
        return guarantee_of(event, delta=None if self.epsilon is None else self.delta)

    def passes(self) -> tuple[str, ...]:
        """What leaves unprotected."""
        if self.epsilon is not None:
            return ()
        return ("the words of every phrase that leaves, in both languages", "how often each phrase leaves")

    def public_params(self) -> dict[str, Any]:
        """Parameters as they may be published."""
        shown = {**self.policy().to_json(), "tokens": self.tokens}
        if self.epsilon is not None:
            shown |= {"epsilon": self.epsilon, "delta": self.delta, "distinct": self.distinct}
        return {**shown, "aligned_on": "the text itself" if self.aligner is None else "public text"}

    # ---- in memory ------------------------------------------------------------------------------------------------------

    def fit(self, pairs: Any = None, y: Any = None) -> Self:
        """Check the settings; nothing is kept of the data."""
        self.check()
        return self

    def check_data(self, data: Any, shape: Shape) -> None:
        """Refuse what is no list of sentence pairs."""
        wrong = isinstance(data, str) or any(
            isinstance(pair, str) or len(pair) != 2 or not all(isinstance(side, str) for side in pair) for pair in data
        )
        if wrong:
            raise BadInput("fragments are cut from pairs of a sentence and its translation")
        if self.epsilon is not None and self.aligner is None:
            raise BadInput(
                "with epsilon the aligner must have learnt from public text: one that learns from the private text lets each "
                "sentence pair change the phrases of all others",
                possible="aligner=Aligner().fit(...).close()",
            )
        self.check()

    def apply(self, data: Sequence[Sequence[str]], *, noise: Any) -> list[list[Any]]:
        """[source, target] of each phrase, in a random order; with epsilon [source, target, noisy count], sorted."""
        needs("fragments", "numba")
        self.check_data(data, Shape())
        pairs = [(str(s), str(t)) for s, t in (dict.fromkeys(map(tuple, data)) if self.unique else data)]
        cutter = Cutter(self.policy(), self._align(pairs), drawn_key(noise), self.tokens)
        cuts = [cutter.cut(*batch) for batch in batches(iter(pairs))]
        if self.epsilon is None:
            kept = [cutter.kept(cut, noise) for cut in cuts]
            rows: list[list[Any]] = [[s, t] for cut in kept for s, t in zip(cut.source, cut.target, strict=True)]
            longest_target = self.longest_target or self.longest
            rows += decoys_of(rows, round(self.decoys * len(rows)), self.longest, longest_target, noise)
            rows = [rows[i] for i in noise.permutation(len(rows))]
        else:
            counts = PhraseCounts(self.noising(), noise)
            digests = [cutter.digests(cut) for cut in cuts]
            for number, (cut, own) in enumerate(zip(cuts, digests, strict=True)):
                counts.add(cut.pairs.astype(np.uint64) + np.uint64(number << 32), own)
            shown = counts.shown()
            rows = sorted(row for cut, own in zip(cuts, digests, strict=True) for row in rows_of(cut, own, shown))
        return [tagged(row) for row in rows] if self.tags else rows

    def _align(self, pairs: Sequence[tuple[str, str]]) -> Any:
        if self.aligner is not None:
            return self.aligner.links
        return fitted(Aligner(table=20), pairs, self.tokens).links

    def transform(self, pairs: Sequence[Sequence[str]]) -> list[list[Any]]:
        """Phrase pairs, outside of any ledger."""
        from textveil.accounting.account import unrecorded

        return self.apply(list(pairs), noise=unrecorded(self.seed))

    def fit_transform(self, pairs: Sequence[Sequence[str]], y: Any = None) -> list[list[Any]]:
        return self.fit().transform(pairs)

    @classmethod
    def example(cls) -> Example:
        """What the conformance suite checks it on: one more sentence pair, and one with words that nobody else has."""
        made = cls(epsilon=2.0, delta=1e-6, distinct=2, longest=1, aligner=_Straight())
        common, rare = ["tee", "tea"], ["geheim", "secret"]
        worlds = (
            Worlds([common] * 18, [common] * 19, see=lambda rows: sum(row[2] for row in rows if row[0] == "tee")),
            Worlds([common] * 18, [*[common] * 18, rare], see=lambda rows: any(row[0] == "geheim" for row in rows)),
        )
        return Example(made, [["tee mit", "tea with"], common] * 40, worlds=worlds, tries=400)


def fitted(aligner: Aligner, pairs: Sequence[tuple[str, str]], tokens: str = "blanks") -> Aligner:
    """The aligner, when it has learnt from sentence pairs in memory."""
    source, target = (side_of([pair[n] for pair in pairs], tokens) for n in (0, 1))
    words = WordNumbers(), WordNumbers()
    return aligner.fit(corpus_of(source, target, words), words)


class _Straight(Aligner):
    """Links words of the same place: for the example."""

    def links(self, source: Side, target: Side) -> Links:
        sizes = np.minimum(np.diff(source.starts), np.diff(target.starts))
        places = np.concatenate([np.arange(0, dtype=np.int32), *(np.arange(n, dtype=np.int32) for n in sizes)])
        return Links(places, places, np.concatenate([[0], np.cumsum(sizes)]))


def drawn_key(noise: Any) -> bytes:
    """The secret key of a release."""
    return bytes(noise.words(KEY_BYTES // 8).tobytes())


def tagged(row: Sequence[Any]) -> list[Any]:
    """
    >>> tagged(["ein Haus", "a house"])
    ['<P> ein Haus </P>', '<P> a house </P>']
    """
    return [f"<P> {row[0]} </P>", f"<P> {row[1]} </P>", *row[2:]]


__all__ = ["Fragments", "drawn_key", "tagged"]
