"""The first screen of a card: a badge, one sentence, and promise, attack and use side by side.

The sentence says who is protected from learning what, how sure an attacker can be, and what was measured. A badge is
green only where the promise bounds something between any two neighbours (`Guarantee.is_bounding`); a theorem about near
words only is said to be that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..core import Adjacency, Cryptographic, Guarantee, LimitedPrecision, Measured, Metric, NoPromise, Unit
from ..core.facts import Facts
from ..core.guarantee import MOST_SURE, near_distance, often
from ..core.losses import downward, upward
from ..core.utility import Utility
from .html import bound, esc, number, percent, percent_up, tag
from .use import shown as score
from .words import LABELS, Finding, headline, strongest

BASELINES = {"largest_class": "always the largest class", "all_outside_entity_f1": "finding nothing"}
HARDLY, FEW = 0.05, 0.5  # shares of words that have a near one
READER = "Whoever reads this release"


@dataclass(frozen=True)
class Badge:
    """What stands in the coloured pill; `tone` names the colours of the page."""

    name: str
    meaning: str
    tone: str


def badge_of(promise: Guarantee, *, refuted: bool = False, draft: bool = False) -> Badge:
    """
    >>> badge_of(Guarantee(Metric(0.5, "hamming", "ab", 256.0), Unit.WORD, Adjacency.METRIC)).name
    'Guarantee for near words'
    """
    name, meaning = LABELS[promise.label]
    if refuted:
        return Badge(
            f"{name}, refuted", "A theorem was claimed, and an attack shows that it does not hold here.", "broken"
        )
    if draft and promise.label != "seeded":
        return Badge("Draft", LABELS["seeded"][1], "seeded")
    if promise.label != "guarantee" or promise.is_bounding:
        return Badge(name, meaning, promise.label)
    if isinstance(promise.loss, Metric):
        return Badge(f"Guarantee for near {_things(promise)}", _NEAR_MEANING, "near")
    return Badge("Weak guarantee", _WEAK_MEANING, "near")


_NEAR_MEANING = "A theorem covers near words or inputs; very different ones may be told apart."
_WEAK_MEANING = "A theorem covers what was done, but it lets an attacker be nearly certain."
AMBER = (("Guarantee for near words", _NEAR_MEANING), ("Weak guarantee", _WEAK_MEANING))


def first_sentence(promise: Guarantee, found: list[Finding], facts: Facts | None = None) -> str:
    """Who is protected from learning what, how sure an attacker can be, and what was measured."""
    best = strongest(found)
    if any(f.refuted for f in found):
        protection = "The promise does not hold: an attack succeeds more often than it allows"
    else:
        protection = _protection(promise, facts or Facts())
    if not found:
        return f"{protection}; no attack stands on this card yet."
    if best is None:
        return f"{protection}; none of the attacks tried did better than chance."
    return f"{protection}; the strongest attack tried ({best.evidence.attack}) {best.achieved}."


def _protection(promise: Guarantee, facts: Facts) -> str:
    match promise.loss:
        case Measured() as loss:
            return (
                f"No theorem protects anybody here: a figure measured on this data (epsilon "
                f"{bound(_measured(loss, facts))} at delta {upward(loss.delta, 3)}) describes what "
                f"{promise.unit.phrase} leaves behind, for the most exposed one that was looked at"
            )
        case Cryptographic(model):
            return f"A cryptographic protocol protects {promise.unit.phrase}, in this model of trust: {model}"
        case NoPromise(why, "seeded"):
            return f"This draft protects nobody: {why}"
        case NoPromise(why):
            return f"Nothing is promised to anybody here: {why}"
    right = promise.loss.even_guess()
    if right is None:
        return f"{READER} learns about {promise.unit.phrase} only within a bound"
    if promise.is_bounding:
        return (
            f"{READER} cannot be right more than {percent_up(right)} of the time (a coin is right 50 %) when guessing "
            f"{_question(promise)}"
        )
    if isinstance(promise.loss, Metric):
        near = f"at most {downward(near_distance(promise.loss), 3)} apart in {promise.loss.metric} distance"
        return (
            f"{READER} cannot be right more than {MOST_SURE:.0%} of the time when guessing which of two near "
            f"{_things(promise)} ({near}{_how_many(facts)}) {_stood(promise)}, but may tell {_others(facts)} apart"
        ).replace("%", " %")
    if is_hopeless(promise):
        return (
            "A theorem covers this release, but its bound is too weak to protect anybody by itself: whoever reads it may be "
            f"practically certain {_question(promise)}"
        )
    return (
        f"A theorem covers this release, but weakly: whoever reads it may be right {often(right)} when guessing "
        f"{_question(promise)}"
    )


def _near_share(facts: Facts) -> float:
    """The share of words that have another one within the promise's reach; 1 where it is not known."""
    share = None if facts.vectors is None else facts.vectors.near_share
    return 1.0 if share is None else share


def _how_many(facts: Facts) -> str:
    share = _near_share(facts)
    return ", as hardly any two words are" if share < HARDLY else ", as few words are" if share < FEW else ""


def _others(facts: Facts) -> str:
    return "very different ones" if _near_share(facts) >= FEW else "others"


def is_hopeless(promise: Guarantee) -> bool:
    """Whether the promise lets an attacker be practically certain about any two neighbours.

    >>> from textveil.core import Approx
    >>> is_hopeless(Guarantee(Approx(20.0, 1e-6), Unit.USER, Adjacency.ADD_REMOVE))
    True
    """
    right = promise.loss.even_guess()
    is_metric = isinstance(promise.loss, Metric)
    return promise.label == "guarantee" and not is_metric and right is not None and often(right) == often(1.0)


def _question(promise: Guarantee) -> str:
    """What an attacker has to guess."""
    match promise.loss:
        case Metric():
            return f"which of two {_things(promise)} {_stood(promise)}"
        case LimitedPrecision(_, n, _):
            more = ", and may be right more often if they differ in more" if promise.is_bounding else ""
            return f"which of two documents it was made from, if they differ in at most {n} counts{more}"
    phrase = promise.unit.phrase
    match promise.adjacency:
        case Adjacency.ADD_REMOVE:
            return f"whether {phrase} was in the data"
        case Adjacency.ZERO_OUT:
            return f"whether {phrase} contributed anything"
    return f"whether {phrase} was replaced by another"


def _things(promise: Guarantee) -> str:
    return promise.unit.things


def _stood(promise: Guarantee) -> str:
    places = {Unit.WORD: "stood at a place", Unit.DOCUMENT_TERM: "stood at the places of a document that show one word"}
    return places.get(promise.unit, "it was made from")


def figures(promise: Guarantee, facts: Facts, found: list[Finding], uses: list[Utility]) -> str:
    """Promise, attack and use side by side; below them what the promise means for a guess, and for whom."""
    big, small = headline(promise.loss)
    if isinstance(promise.loss, Measured):
        big = f"ε {bound(_measured(promise.loss, facts))}"
    title = "Measured" if isinstance(promise.loss, Measured) else "Promise"
    strip = [_figure(title, big, small + _worst(promise)), _attack_figure(found), _use_figure(facts, uses)]
    meaning = [*_guess_figure(promise), _unit_figure(promise)]
    return tag("div", "".join(strip), "figures figures-strip") + tag("div", "".join(meaning), "figures figures-below")


def _attack_figure(found: list[Finding]) -> str:
    best = strongest(found)
    if not found:
        return _figure("Attack", "not attacked", "no attack stands on this card yet")
    if best is None:
        return _figure("Attack", "no gain", "none of the attacks tried did better than chance")
    e = best.evidence
    small = f"strongest attack tried: {e.attack}, {best.asked}; by chance {percent(e.chance)}"
    return _figure("Attack", percent(e.value), small)


def _use_figure(facts: Facts, uses: list[Utility]) -> str:
    """The first task that was measured; of a model the first line of its scores."""
    if uses:
        use = uses[0]
        known = ((use.original, "with the original"), (use.chance, "by chance"))
        beside = [f"{score(value, use)} {what}" for value, what in known if value is not None]
        return _figure("Use", score(use.value, use), f"{use.metric}: {use.task}; {', '.join(beside)}")
    if facts.scores is not None and facts.scores.values:
        return _score_figure(facts.scores.values)
    return _figure("Use", "not measured", "what it is good for is not known yet")


def _score_figure(values: Mapping[str, float]) -> str:
    """The first score of a model on its test file, beside that of the baseline which learns nothing."""
    name, value = next(iter(values.items()))
    baseline = next(((said, values[key]) for key, said in BASELINES.items() if key in values), None)
    beside = "" if baseline is None else f"; {baseline[0]}: {_score(baseline[1])}"
    what = name.replace("_", " ").replace(" f1", " F1")
    return _figure("Use", _score(value), f"{what}, on a test file that is taken to be public{beside}")


def _score(value: float) -> str:
    return percent(value) if 0 <= value <= 1 else number(value)


def _worst(promise: Guarantee) -> str:
    """A loss per step says little by itself: the loss between the two most different inputs stands beside it."""
    loss = promise.loss
    if not isinstance(loss, Metric) or loss.diameter is None:
        return ""
    return f"; up to {bound(loss.epsilon * loss.diameter)} between the two most different ones"


def _measured(loss: Measured, facts: Facts) -> float:
    """The largest figure that was computed: one about a rarer term would be read as a bound on all of them."""
    costs = facts.seal.costs.values() if facts.seal is not None else ()
    return max([loss.epsilon, *costs])


def _guess_figure(promise: Guarantee) -> list[str]:
    right = promise.loss.even_guess()
    if promise.label != "guarantee" or right is None:
        return []
    if isinstance(promise.loss, Metric) and not promise.is_bounding:
        near = f"≤ {downward(near_distance(promise.loss), 3)}"
        small = f"apart: between such near {_things(promise)} an even guess stays at or below 95 %"
        return [_figure("For a guess", near, small)]
    small = "the most that a guess between two neighbours, even before, is right afterwards"
    return [_figure("For a guess", percent_up(right), small)]


def _unit_figure(promise: Guarantee) -> str:
    if promise.label != "guarantee":
        return _figure("For whom", str(promise.unit), f"the unit in question: {promise.unit.phrase}")
    name = "one word of a document" if promise.unit is Unit.DOCUMENT_TERM else str(promise.unit)
    big = f"{promise.loss.n} counts" if isinstance(promise.loss, LimitedPrecision) else name
    return _figure("For whom", big, f"protected unit: {promise.parts().protected}")


def _figure(kind: str, big: str, small: str) -> str:
    return tag("div", f"<i>{esc(kind)}</i><b>{esc(big)}</b><span>{esc(small)}</span>", "figure")
