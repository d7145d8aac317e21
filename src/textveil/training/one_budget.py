"""Vocabulary and training in one promise: both look at the same private texts, so they share one (epsilon, delta).

Claim. The vocabulary's draws and every update of training, composed in one accountant, cost at most (epsilon, delta);
the delta of the vocabulary's threshold is taken off first. The answer is priced again as a whole (`OneBudget.epsilon`).
Derivation. The vocabulary keeps what Gaussian noise of multiplier m keeps, up to a delta of its threshold that survives
composition (see training.vocabulary). Training chooses its noise after the vocabulary is known: adaptive composition of
Gaussian draws costs what the fixed draws cost (privacy loss distributions, Renyi divergences), for one unit under
add/remove. Fixed-size batches are priced under replace-one, for which the vocabulary's threshold has no proof here:
refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textveil.core import BadInput, Event, Together
from textveil.core.events import RepeatedNoise
from textveil.core.params import open_fraction, positive
from textveil.noise import Source
from textveil.training.calibrate import calibrated
from textveil.training.plan import TrainingPlan, price_together
from textveil.training.units import units_of
from textveil.training.vocabulary import Vocabulary
from textveil.training.vocabulary_words import Words

VOCABULARY_SHARE = 0.25  # of epsilon, by itself; composed it costs far less: Gaussian losses add in squares
THRESHOLD_SHARE = 0.25  # of delta, for the vocabulary's threshold (and as much again is what its noise is sized for)


@dataclass(frozen=True)
class OneBudget:
    """A vocabulary and a training plan that keep one promise together."""

    vocabulary: Vocabulary
    plan: TrainingPlan
    epsilon: float
    delta: float

    @property
    def vocabulary_event(self) -> Event:
        return self.vocabulary.event()

    def draw_words(self, texts: Sequence[str], users: Sequence[Any] | None, size: int, *, noise: Source) -> list[str]:
        """The words that were released, the most frequent first, `size` at most; there may be none.

        A second call is a second draw, with a price of its own: whoever may be interrupted keeps the list (an empty one
        too) and gives it to the model as `words`. Words are counted per unit of the promise: see `units_of`.
        """
        split = Words()
        units = ([word for text in own for word in split(text)] for own in units_of(texts, users, self.vocabulary.unit))
        counts = self.vocabulary.apply(units, noise=noise)
        return sorted(counts, key=lambda word: (-counts[word], word))[:size]

    def event(self) -> Event:
        """Both, as one event: what is charged when they are released together."""
        training = self.plan.event()
        parts = (*self.vocabulary.noising().parts(), *_parts(training))
        assumes = tuple(dict.fromkeys((*self.vocabulary_event.assumes, *training.assumes)))
        source = f"{self.vocabulary_event.source}; {training.source}"
        return Event(Together(parts), training.unit, training.adjacency, 1, assumes, source, "training.lm")


def one_budget(
    epsilon: float,
    delta: float,
    *,
    batch: int,
    examples: int,
    epochs: float | None = None,
    steps: int | None = None,
    vocab_epsilon: float | None = None,
    vocab_delta: float | None = None,
    method: str = "gaussian",
    distinct: int | None = None,
    unit: str = "example",
    **plan: Any,
) -> OneBudget:
    """The least training noise that, with the vocabulary, keeps (epsilon, delta).

    `vocab_epsilon`, `vocab_delta`: what the vocabulary would cost by itself (a quarter of epsilon, half of delta).
    Further arguments are the plan's (clip, sampling, shards).

    >>> made = one_budget(2.0, 1e-5, batch=256, examples=20_000, epochs=3)
    >>> made.epsilon <= 2.0, made.plan.noise > calibrated(2.0, 1e-5, batch=256, examples=20_000, epochs=3).noise
    (True, True)
    """
    positive("epsilon", epsilon)
    open_fraction("delta", delta)
    if plan.get("sampling", "poisson") != "poisson":
        raise BadInput(
            "a private vocabulary and fixed-size batches have no common price (add_remove, replace)",
            possible="--sampling poisson",
        )
    if method == "paper":
        raise BadInput("the paper's vocabulary protects one word, not a unit", possible="gaussian, policy, laplace")
    wanted = Vocabulary(
        VOCABULARY_SHARE * epsilon if vocab_epsilon is None else vocab_epsilon,
        2 * THRESHOLD_SHARE * delta if vocab_delta is None else vocab_delta,
        unit,
        method,
        distinct,
    )
    event = wanted.event()
    _reachable(event, epsilon, delta)
    made = calibrated(
        epsilon,
        delta,
        batch=batch,
        examples=examples,
        epochs=epochs,
        steps=steps,
        also=(event,),
        unit=event.unit,
        **plan,
    )
    return OneBudget(wanted, made, price_together([event, made.event()], delta).epsilon, delta)


def _reachable(event: Event, epsilon: float, delta: float) -> None:
    """Refuse where the vocabulary alone is above the promise, and say what could be reached."""
    alone = price_together([event], delta).epsilon
    if alone >= epsilon:
        raise BadInput(
            f"epsilon {epsilon:.4g} cannot be reached at delta {delta:g}: the vocabulary alone costs {alone:.4g}, "
            "and training comes on top",
            possible=f"an epsilon above {alone:.4g}, or a smaller --vocab-epsilon",
        )


def _parts(event: Event) -> tuple[RepeatedNoise, ...]:
    if isinstance(event.noise, Together):
        return tuple(RepeatedNoise(p.noise, p.times * event.times) for p in event.noise.parts)
    return (RepeatedNoise(event.noise, event.times),)


__all__ = ["OneBudget", "one_budget"]
