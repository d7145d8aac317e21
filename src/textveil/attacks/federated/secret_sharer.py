"""The federated secret sharer by random sampling: all canaries ranked, counted by configuration, with a promise's lines.

`bound_line` (training.exposure) draws what a user-level promise allows: k sharers are k units, however often they wrote the
canary. All canaries stay below their lines with chance .99; this is the one sentence of this attack with a false-alarm rate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure
from textveil.attacks.federated.sampling import PREFIX, Ranked, draw_candidates, ranked, suffix_losses
from textveil.attacks.federated.seen import NextWordsSeen, Rows
from textveil.attacks.federated.sharers import SharedCanary
from textveil.attacks.training.canary_rank import ALPHA, bound_line
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import positive_integer


class SecretSharerAttack(Estimator):
    """Rank the true suffix of every canary among random ones, two words being known.

    Parameters
    ----------
    branches
        Random stems: suffixes without their last word.
    leaves
        Last words for each stem; `branches` times `leaves` suffixes are compared.
    unit
        Whose promise is tested: "user".
    epsilon
        The promise for one user, to draw its lines in the notes; None draws none.
    delta
        Of that promise.
    """

    name = "federated.secret_sharer"
    sees = NextWordsSeen
    needs: tuple[str, ...] = ()

    def __init__(
        self,
        branches: int = 500,
        leaves: int = 200,
        unit: str = "user",
        epsilon: float | None = None,
        delta: float = 0.0,
    ):
        self.branches, self.leaves = branches, leaves
        self.unit, self.epsilon, self.delta = unit, epsilon, delta

    def run(self, exposure: NextWordsSeen, *, rng: Any) -> Evidence:
        found = self.measure(exposure, rng)
        planted, hits = exposure.canaries.canaries, sum(one.memorised for one in found)
        size = self.branches * self.leaves
        notes = [*by_configuration(planted, np.array([one.memorised for one in found]), found)]
        return Evidence(
            self.name,
            f"canaries whose suffix is the likeliest of {size:,}",
            hits / len(planted),
            1 / size,
            hits,
            len(planted),
            unit=Unit(self.unit),
            false_hits=len(planted),
            false_tries=size * len(planted),
            group=max(c.sharers for c in planted),
            dependent=True,
            notes=(*notes, *self._lines(planted, found)),
        )

    def measure(self, exposure: NextWordsSeen, rng: Any) -> list[Ranked]:
        """Every canary, ranked."""
        check_exposure(self, exposure)
        branches, leaves = positive_integer("branches", self.branches), positive_integer("leaves", self.leaves)
        found = []
        for row in canary_rows(exposure):
            some = draw_candidates(row[PREFIX:], len(exposure.words), branches, leaves, rng)
            losses = suffix_losses(exposure.next_logs, row[:PREFIX], some)
            found.append(ranked(losses, some))
        return found

    def _lines(self, planted: Sequence[SharedCanary], found: Sequence[Ranked]) -> Iterator[str]:
        """What the promise allows each number of sharers, and whether it was kept."""
        if self.epsilon is None:
            return
        for sharers in sorted({c.sharers for c in planted}):
            own = [one for c, one in zip(planted, found, strict=True) if c.sharers == sharers]
            line, cap = bound_line(self.epsilon, self.delta, sharers, len(planted)), np.log2(own[0].candidates)
            if line >= cap:
                yield f"{sharers} sharers: the promise allows {line:.1f} bits, above the cap of {cap:.1f}"
                continue
            verdict = "kept" if max(o.tested for o in own) <= line else "CROSSED: the promise does not hold"
            yield f"{sharers} sharers: line of the promise at {line:.1f} bits (chance {1 - ALPHA:g}): {verdict}"

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.federated.examples import shared_told

        return AttackExample(cls(branches=20, leaves=20), shared_told)


def canary_rows(exposure: NextWordsSeen) -> Rows:
    """All canaries as numbers of the model's words, one row each."""
    planted = exposure.canaries.canaries
    if not planted or len({len(c.words) for c in planted}) != 1:
        raise BadInput("the secret sharer needs canaries, all of one length", possible="textveil federate canaries")
    number = {word: i for i, word in enumerate(exposure.words)}
    unknown = sum(word not in number for c in planted for word in c.words)
    if unknown:
        raise BadInput(
            f"{unknown} words of the canaries are not among the model's words",
            possible="canaries drawn from the model's own words (federate canaries --words FILE)",
        )
    return np.array([[number[word] for word in c.words] for c in planted])


def by_configuration(
    planted: Sequence[SharedCanary], hits: np.ndarray, found: Sequence[Ranked] | None = None
) -> Iterator[str]:
    """One line for each number of sharers and share: hits, occurrences and the exposures with their intervals."""
    for sharers, share in sorted({(c.sharers, c.share) for c in planted}):
        own = [i for i, c in enumerate(planted) if (c.sharers, c.share) == (sharers, share)]
        times = [planted[i].occurrences for i in own]
        line = f"{sharers} sharers, {share:.0%} of their sentences ({min(times)} to {max(times)} times): "
        line += f"{int(hits[own].sum())} of {len(own)}"
        if found is not None:
            bits = ", ".join(f"{found[i].exposure:.1f} [{found[i].low:.1f}, {found[i].high:.1f}]" for i in own)
            line += f"; exposure {bits}"
        yield line
