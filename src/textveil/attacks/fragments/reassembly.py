"""fragments.reassembly: put the sentences together again, with the folder alone (and public text, if there is any).

The strongest assembly that ships: overlaps and neighbours, two witnesses, trigrams of public text, a beam (`assembly`,
`neighbours`). What it reaches is counted three ways, on each side and on both:

    tokens      the share of words that lie in correct runs of ten words or more
    sentences   the share of sentences of ten words or more that are rebuilt whole
    names       two rare words of one sentence, too far apart for one fragment, that stand together in a rebuilt text
"both": of the source, where the target of the same sentence is rebuilt too.

fragments.greedy is the assembly that was known before: one language, the longest overlap first. It shows what the
rest adds.

By chance: the same fragments set side by side in a random order, counted in the same way (one more success and one
more failure than there were, so that it is never 0).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure, needed
from textveil.attacks.fragments.assembly import assemble, certain_runs, maximal
from textveil.attacks.fragments.score import (
    Recovered,
    entity_pairs,
    exact_sentences,
    longest_run,
    precision,
    tokens_recovered,
)
from textveil.attacks.fragments.seen import SIDES, FragmentsSeen, OriginalPairs, Sentences
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import choice, needs

METRICS = {"tokens": "words in runs of ten", "sentences": "whole sentences", "names": "pairs of names"}


class ReassemblyAttack(Estimator):
    """Rebuild sentences from overlapping fragments.

    Parameters
    ----------
    side
        What is rebuilt: "source", "target", or "both".
    counts
        What is counted: "tokens", "sentences" or "names".
    beam
        Ways that are followed at once beyond a chain; 0: none.
    """

    name = "fragments.reassembly"
    sees = FragmentsSeen
    needs: tuple[str, ...] = ()
    witness: ClassVar[bool] = True
    variants: ClassVar[tuple[dict[str, str], ...]] = tuple(
        {"side": side, "counts": counts} for counts in METRICS for side in (*SIDES, "both")
    )

    def __init__(self, side: str = "source", counts: str = "tokens", beam: int = 4):
        self.side, self.counts, self.beam = side, counts, beam

    def run(self, exposure: FragmentsSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        needs("fragments", "numba")
        choice("side", self.side, (*SIDES, "both"))
        choice("counts", self.counts, METRICS)
        truth = needed(self, "the truth to score it", exposure.truth)
        recovered = self._both(exposure, truth) if self.side == "both" else self._one(exposure, truth, self.side)
        total = int(recovered.tries.sum())
        if total == 0:
            raise BadInput(f"the attack {self.name} finds no {METRICS[self.counts]} in the original")
        hits = int(recovered.hits.sum())
        return Evidence(
            self.name, f"{METRICS[self.counts]} ({self.side})", hits / total, self._chance(exposure, truth, rng), hits,
            total, unit=Unit.EXAMPLE, effective=recovered.effective(), notes=self._notes(exposure, truth),
        )  # fmt: skip

    def assembled(self, exposure: FragmentsSeen, side: str) -> Sentences:
        """What this attack puts together; kept, since several counts look at it."""
        key = (side, self.witness, self.beam, exposure.public is None)
        if key not in exposure.kept:
            own, other = exposure.sides(side)
            public = exposure.public
            if public is not None and side != SIDES[0]:
                public = (public[1], public[0])
            exposure.kept[key] = assemble(own, other, exposure.counts, public, witness=self.witness, beam=self.beam)
        return exposure.kept[key]

    def _one(self, exposure: FragmentsSeen, truth: OriginalPairs, side: str) -> Recovered:
        return self._count(self.assembled(exposure, side), exposure, truth, side)

    def _count(self, texts: Sentences, exposure: FragmentsSeen, truth: OriginalPairs, side: str) -> Recovered:
        original = truth.source if side == "source" else truth.target
        if self.counts == "tokens":
            return tokens_recovered(texts, original)
        if self.counts == "sentences":
            return exact_sentences(texts, original)
        longest = int(exposure.sides(side)[0].lengths().max(initial=1))
        return entity_pairs(texts, original, beyond=longest)

    def _both(self, exposure: FragmentsSeen, truth: OriginalPairs) -> Recovered:
        """What is rebuilt of the source in sentences whose target is rebuilt too."""
        if self.counts == "sentences":
            long = (truth.source.lengths() >= 10) & (truth.target.lengths() >= 10)
            whole = [
                exact_sentences(self.assembled(exposure, side), original.take(np.flatnonzero(long)))
                for side, original in zip(SIDES, (truth.source, truth.target), strict=True)
            ]
            return Recovered(whole[0].hits & whole[1].hits, np.ones(int(long.sum()), np.int64))
        source, target = (self._one(exposure, truth, side) for side in SIDES)
        return Recovered(np.where(target.hits > 0, source.hits, 0), source.tries)

    def _chance(self, exposure: FragmentsSeen, truth: OriginalPairs, rng: Any) -> float:
        """The same count for fragments in a random order; of both sides at once, of the source alone."""
        side = "target" if self.side == "target" else "source"
        own = exposure.sides(side)[0]
        mixed = own.take(rng.permutation(len(own)))
        blind = self._count(Sentences(mixed.words, np.array([0, len(mixed.words)])), exposure, truth, side)
        if self.counts == "names":  # one long text would hold every pair: neighbours of a fragment only
            blind = self._count(_in_threes(mixed), exposure, truth, side)
        return float((blind.hits.sum() + 1) / (blind.tries.sum() + 2))

    def _notes(self, exposure: FragmentsSeen, truth: OriginalPairs) -> tuple[str, ...]:
        if self.side == "both" or self.counts != "tokens":
            return ()
        original = truth.source if self.side == "source" else truth.target
        texts, own = self.assembled(exposure, self.side), exposure.sides(self.side)[0]
        sure = certain_runs(own.take(maximal(own)))
        return (
            f"longest run rebuilt: {longest_run(texts, original)} words; longest certain run (one way to go on at each "
            f"step): {int(sure.lengths().max(initial=0))} words, of which {longest_run(sure, original)} are right in a row",
            f"of all runs of ten words that the attack put together {precision(texts, original):.1%} are right",
        )

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.fragments.examples import fragments_told

        return AttackExample(cls(), fragments_told)


class GreedyAttack(ReassemblyAttack):
    """Rebuild sentences of one language, the longest overlap first.

    Parameters
    ----------
    side
        What is rebuilt: "source" or "target".
    """

    name = "fragments.greedy"
    witness: ClassVar[bool] = False
    variants: ClassVar[tuple[dict[str, str], ...]] = tuple({"side": side} for side in SIDES)

    def __init__(self, side: str = "source"):
        super().__init__(side, "tokens", 0)


def _in_threes(texts: Sentences) -> Sentences:
    starts = np.asarray(texts.starts)
    return Sentences(texts.words, np.unique(np.concatenate([starts[::3], starts[-1:]])))


__all__ = ["GreedyAttack", "ReassemblyAttack"]
