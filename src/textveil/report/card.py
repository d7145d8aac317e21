"""The card of one release: one page that a data-protection officer can read, print and file.

It says what is promised in plain words, what is not, what left unprotected, which assumptions that rests on, what it cost
in the ledger, and what the shipped attack achieved, beside each other. The page holds everything it needs and loads
nothing. Text of the release never appears on it, except the invented sample letters of the demo.
"""

from __future__ import annotations

from typing import Any

from ..core import Guarantee, LimitedPrecision, Measured, Metric
from ..core.facts import Facts
from . import making
from .attackers import attackers, not_attacked
from .data import data_section
from .federation import rounds_section
from .first_screen import AMBER, Badge, badge_of, figures, first_sentence, is_hopeless
from .html import bound, bullets, esc, number, page, percent, section, tag
from .signing import signing
from .spending import spent_section
from .use import use_section, utilities
from .words import LABELS, Finding, findings

MEASURED = (
    "Nothing is promised. The figure above was computed from this data: how much the law that the released numbers were "
    "drawn from changes when one unit is taken away. It describes; no theorem makes it a bound."
)
HOPELESS = (
    "The bound is so weak that it leaves an attacker practically certain. If anything protects here, it is the noise as "
    "the attacks find it, not the theorem."
)
MOST_CHARACTERS = 400  # of one thing that passed: a long list of kept words is shown in part


def write_card(manifest: dict[str, Any]) -> str:
    """The card of a release, from what `release.json` says.

    >>> from textveil.core import Adjacency, Guarantee, Pure, Unit
    >>> promise = Guarantee(Pure(1.0), Unit.DOCUMENT, Adjacency.REPLACE)
    >>> card = write_card({"mechanism": "counts.demo", "parameters": {}, "guarantee": promise.to_json(), "draft": False})
    >>> "one whole document" in card
    True
    """
    promise = Guarantee.from_json(manifest["guarantee"])
    found, unreadable = findings(manifest, promise)
    facts = Facts.from_json(manifest.get("facts") or {})
    draft = bool(manifest.get("draft")) or promise.label == "seeded"
    badge = badge_of(promise, refuted=any(f.refuted for f in found), draft=draft)
    mechanism = str(manifest["mechanism"])
    body = [
        _banners(draft, found, facts),
        _head(manifest, facts, badge, promise, found),
        section("The data", data_section(manifest, facts)),
        section("What is protected, and what is not", _promise(promise, facts, badge)),
        section("Leaves unprotected", _passes(manifest)),
        section("What an attacker achieved", attackers(found, unreadable)),
        section("Not attacked", not_attacked(mechanism, found)),
        section("What it is good for", use_section(manifest, facts)),
        section("Round by round", rounds_section(facts.federation)),
        section("Spent so far", spent_section(manifest, facts), making.document_line(promise, facts.document)),
        section("Before and after", making.sample(facts)),
        section("Before you sign", signing(manifest, facts, promise, found), css="signing"),
        section("What it rests on", _assumptions(promise)),
        section("How it was made", making.making(manifest, facts, promise)),
        section("How to read this card", _reading(promise)),
        tag("footer", tag("p", _footer(manifest), "small")),
    ]
    return page(f"Release card: {manifest['mechanism']}", "\n".join(b for b in body if b), badge.tone)


def _banners(draft: bool, found: list[Finding], facts: Facts) -> str:
    shown = ""
    if draft:
        shown += (
            '<div class="banner banner-draft" role="alert"><b>DRAFT: DO NOT PUBLISH</b>'
            "The noise was drawn from a seed. Whoever knows or guesses the seed can undo it, so nothing is promised.</div>"
        )
    refuting = [f.evidence.attack for f in found if f.refuted]
    if refuting:
        names = esc(", ".join(dict.fromkeys(refuting)))
        shown += (
            '<div class="banner" role="alert"><b>THE PROMISE IS REFUTED</b>'
            f"An attack ({names}) succeeds more often than the promise allows. Do not rely on this release.</div>"
        )
    if facts.beware:
        lines = "<br>".join(esc(_sentence(line)) for line in facts.beware)
        shown += f'<div class="banner banner-beware" role="alert"><b>Beware</b>{lines}</div>'
    return shown


def _head(manifest: dict[str, Any], facts: Facts, badge: Badge, promise: Guarantee, found: list[Finding]) -> str:
    mechanism, created = str(manifest["mechanism"]), str(manifest.get("created") or "")[:10]
    title = mechanism if facts.data is None else facts.data.file
    kicker = " · ".join(part for part in ("Textveil release card", mechanism, created) if part)
    return tag(
        "header",
        tag("p", esc(kicker), "kicker")
        + tag("h1", esc(title))
        + tag("span", esc(badge.name), "badge")
        + tag("p", esc(first_sentence(promise, found, facts)), "lead")
        + figures(promise, facts, found, utilities(manifest)[0]),
    )


def _promise(promise: Guarantee, facts: Facts, badge: Badge) -> str:
    """The parts of the promise side by side; its assumptions have a list of their own further down."""
    parts = promise.parts()
    if promise.label == "guarantee" and is_hopeless(promise):
        said = tag("p", esc(f"{_sentence(parts.protected)} {HOPELESS}"))
    elif promise.label == "guarantee":
        said = tag("p", esc(_sentence(parts.protected)))
        said += tag("p", esc(_sentence(parts.how_sure or parts.bound)))
    elif isinstance(promise.loss, Measured):
        said = tag("p", MEASURED)
    else:
        said = tag("p", esc(_sentence(parts.bound)))
    own = [line for line in facts.not_protected if line not in promise.assumes]
    lacking = [*_near_words(promise, facts), *parts.not_protected, *own]
    return tag("div", tag("h3", _panel_title(promise, badge)) + said, "panel") + tag(
        "div",
        tag("h3", "Not protected") + bullets(_sentence(line) for line in dict.fromkeys(lacking)),
        "panel panel-not",
    )


def _near_words(promise: Guarantee, facts: Facts) -> list[str]:
    """How many words are near enough for the promise, where it is about near ones only."""
    vectors = facts.vectors
    if not isinstance(promise.loss, Metric) or promise.is_bounding or vectors is None or vectors.nearest is None:
        return []
    share, loss = vectors.near_share or 0.0, promise.loss.epsilon * vectors.nearest
    return [
        f"by the theorem alone, {percent(1 - share)} of words (counted as often as they occur): no other word is that near "
        f"to them. Half of all words are {number(vectors.nearest)} or more away from every other word, where the loss may be "
        f"{bound(loss)}. What the noise hides beyond the theorem is measured by attacks"
    ]


def _panel_title(promise: Guarantee, badge: Badge) -> str:
    if promise.label != "guarantee":
        return "No promise of a bounded loss"
    if badge.tone in ("broken", "seeded"):
        return "Claimed, and not kept"
    if is_hopeless(promise):
        return "Hardly protected"
    if promise.is_bounding:
        return "Protected"
    return "Protected: near ones only" if isinstance(promise.loss, Metric) else "Bounded, but weakly"


def _passes(manifest: dict[str, Any]) -> str:
    """Everything that went from the input into the release as it was, by name."""
    passes = manifest.get("passes")
    if not isinstance(passes, list):
        return tag(
            "p",
            "This release was made before such a list was kept: what it copied from its input (other columns, metadata, "
            "letter case) is not known.",
        )
    if not passes:
        return tag("p", "Nothing of the input left as it was.")
    said = "Left with the release as it was in the input; no promise covers it:"
    return tag("p", said) + bullets(_shortened(_sentence(str(name))) for name in passes)


def _shortened(name: str) -> str:
    return name if len(name) <= MOST_CHARACTERS else f"{name[:MOST_CHARACTERS]} …"


def _assumptions(promise: Guarantee) -> str:
    parts = promise.parts()
    source = tag("p", f"Source: {esc(promise.source)}", "small") if promise.source else ""
    if promise.label != "guarantee":
        how = tag("p", esc(_sentence(parts.bound)), "small") if isinstance(promise.loss, Measured) else ""
        return bullets(_sentence(line) for line in parts.assumptions) + how + source
    formal = tag("p", f"Formally, about {esc(parts.protected)}: {esc(_lowered(parts.bound))}.", "small")
    listed = bullets(_sentence(line) for line in parts.assumptions) or tag("p", "No further assumptions are stated.")
    return listed + formal + source


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _reading(promise: Guarantee) -> str:
    rows = [LABELS["guarantee"], *AMBER, *(words for label, words in LABELS.items() if label != "guarantee")]
    labels = "".join(f"<dt>{esc(name)}</dt><dd>{esc(meaning)}</dd>" for name, meaning in rows)
    return (
        tag("p", _epsilon_in_words(promise))
        + tag(
            "p",
            "Attack success is what the strongest attack that was tried achieved; compare it with chance. A low figure is no "
            "proof: an audit can only refute a promise, never prove it.",
        )
        + tag("dl", labels)
    )


def _epsilon_in_words(promise: Guarantee) -> str:
    several = (
        "Losses about different units or distances are not comparable, and several releases of the same data add up."
    )
    if isinstance(promise.loss, Metric):
        return (
            "Epsilon is counted per step of distance here: between two inputs at distance D the output shifts the odds by at "
            f"most a factor of e<sup>εD</sup>. It is small only where εD is: εD = 1 means odds of about 3 to 1. {several}"
        )
    if isinstance(promise.loss, LimitedPrecision):
        n = promise.loss.n
        return (
            f"Epsilon bounds how much the output can shift the odds between two documents that differ in {n} counts: by at "
            f"most a factor of e<sup>ε</sup>. If they differ in {2 * n} it is e<sup>2ε</sup>, and so on. {several}"
        )
    scale = "Below 1 is strong, above 10 the bound alone says little. " if promise.label == "guarantee" else ""
    return (
        "Epsilon bounds how much the output can shift the odds between two possibilities: by at most a factor of "
        f"e<sup>ε</sup>. {scale}{several}"
    )


def _footer(manifest: dict[str, Any]) -> str:
    versions = ", ".join(f"{k} {v}" for k, v in (manifest.get("versions") or {}).items())
    made = f"Made {manifest['created']} " if manifest.get("created") else "Made "
    return esc(f"{made}with textveil {manifest.get('textveil', '')}" + (f" ({versions})" if versions else "") + ".")


def _sentence(text: str) -> str:
    """A capital at the start, a full stop at the end."""
    return text if not text else text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", ":")) else ".")
