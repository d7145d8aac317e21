"""`check_mechanism`: the laws that every mechanism keeps, for authors of new ones.

    from textveil.testing import check_mechanism
    check_mechanism(MyMechanism(epsilon=1.0).fit(vectors), ["A few texts.", "Of the kind it takes."])

It raises `BrokenLaw`, which names the law in one sentence, or returns which laws held and which could not be asked. Laws
that need `get_params`, `epsilon`, `seed` or `fit(vectors)` are asked of mechanisms that have them. What is statistical raises
a false alarm with probability at most `alpha` in all. That a mechanism passes does not prove that it is private.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core import Shape
from ..core.params import choice, open_fraction, positive_integer
from . import laws_of_conduct as conduct
from . import laws_of_events as events
from . import laws_of_promises as promises
from . import laws_of_words as words
from .laws import BrokenLaw, Case, Checked, Worlds

AUDITS = ("auto", "exact", "statistical", "none")

# In this order: what an earlier law finds would make later ones fail too, under a name that helps less.
LAWS: dict[str, Callable[[Case], str | None]] = {
    events.PURE: events.event_is_pure,
    events.PRICED: events.event_is_priced,
    events.ROUND_TRIP: events.parameters_make_the_round_trip,
    events.SEEDED: events.a_seed_makes_a_draft,
    events.UNSEEN_SEED: events.seed_is_not_published,
    events.REFUSED: events.bad_parameters_are_refused,
    conduct.IN_PLACE: conduct.nothing_is_edited,
    events.PUBLIC: events.event_is_public,
    events.SHAPE: events.a_shape_that_does_not_fit_is_refused,
    events.CHARGED: events.charge_comes_first,
    conduct.SOURCE: conduct.noise_comes_from_the_source,
    words.UNKNOWN_WORDS: words.unknown_words_do_not_pass,
    promises.PROMISE: promises.the_promise_holds,
    words.KEPT_WORDS: words.kept_words_are_declared,
    words.TIED_WORDS: words.tied_words_are_alike,
    words.LETTER_CASE: words.letter_case_is_declared,
    conduct.LIMITS: conduct.the_limits_hold,
    conduct.SIZES: conduct.every_size_works,
}


def check_mechanism(
    mechanism: Any,
    sample: Any,
    *,
    shape: Shape | None = None,
    audit: str = "auto",
    alpha: float = 1e-6,
    tries: int = 100_000,
    worlds: Sequence[Worlds] = (),
    make_vectors: Callable[..., Any] | None = None,
    transition: Callable[[Any], Any] | None = None,
    repeatable: bool = True,
    see: Callable[[Any], Any] | None = None,
    exempt: Mapping[str, str] | None = None,
) -> Checked:
    """Raise `BrokenLaw` if the mechanism breaks a law.

    `sample` is data of the kind it takes, with enough in it for noise to show. `worlds` names neighbouring inputs for the
    audit of a mechanism that does not veil words; choose the pairs that its promise is hardest to keep for. Where none are
    given and the sample is a list or an array of units, a pair is made of it: one unit removed (add/remove), or taken twice
    in place of another (replace); `Checked` shows what was audited.
    `make_vectors(words, matrix, codes)` makes the vectors that `fit` takes (default: `from_arrays` of the module that
    the mechanism's own vectors come from). `transition(mechanism)` returns (odds, distances) or (odds, distances,
    relative error). `repeatable=False` is for mechanisms whose noise comes from OpenDP, which takes no seed. `see` turns an
    output that is an object (a model) into numbers. `exempt` names laws that cannot be asked, each with the reason.

    >>> from textveil.core import Adjacency, Event, LaplaceNoise, Unit
    >>> class Count:
    ...     name = "count"
    ...     def event(self, shape):
    ...         noise = LaplaceNoise(1.0)
    ...         return Event(noise, Unit.USER, Adjacency.ADD_REMOVE, source="Dwork et al. 2006", mechanism="count")
    ...     def apply(self, data, *, noise):
    ...         one, other = noise.exponentials(2)
    ...         return len(data) + float(one - other)
    >>> found = check_mechanism(Count(), ["a", "b", "c"], worlds=[Worlds(["a"], ["a", "b"])])
    >>> "the promise holds" in found.held, found.skipped["a seed makes a draft"]
    (True, "it has no parameter 'seed'")
    """
    choice("audit", audit, AUDITS)
    open_fraction("alpha", alpha)
    positive_integer("tries", tries)
    case = Case(
        mechanism,
        sample,
        Shape() if shape is None else shape,
        alpha,
        tries,
        audit,
        tuple(worlds),
        make_vectors,
        transition,
        repeatable,
        see,
    )
    exempt = dict(exempt or {})
    for law in exempt:
        choice("law", law, tuple(LAWS))
    skipped = {law: why for law, check in LAWS.items() if (why := exempt.get(law) or check(case)) is not None}
    held = tuple(law for law in LAWS if law not in skipped)
    return Checked(str(mechanism.name), held, skipped, tuple(case.evidence))


__all__ = ["AUDITS", "LAWS", "BrokenLaw", "Checked", "Worlds", "check_mechanism"]
