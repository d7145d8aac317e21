"""The card of one release: one page that a data-protection officer can read, print and file.

It says what is promised in plain words, what is not, which assumptions that rests on, what it cost in the ledger, and
what the shipped attack achieved, beside each other. The page holds everything it needs and loads nothing. Text of the
release never appears on it, except the invented sample letters of the demo.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core import Guarantee, Metric
from .html import bullets, esc, number, page, pairs, percent, section, show, table, tag
from .svg import Bar, histogram, success_chart
from .words import LABELS, Finding, findings, headline

_HOLDS, _NOT = " This holds as long as: ", " Not protected: "
_MOST_SAMPLE = 4_000  # characters of one sample text: a card stays small


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
    facts = manifest.get("facts") or {}
    draft = bool(manifest.get("draft")) or promise.label == "seeded"
    body = [
        _banners(draft, found),
        _head(manifest, promise, found, draft),
        section("The promise in words", _promise(promise, facts)),
        section("What an attacker achieves", _evidence(found, unreadable)),
        section("What it adds up to", _document(promise, facts)),
        section("Before and after", _sample(facts)),
        section("What it rests on", _assumptions(promise)),
        section("How it was made", _making(manifest, facts, promise)),
        section("How to read this card", _reading()),
        tag("footer", tag("p", _footer(manifest), "small")),
    ]
    colour = "broken" if any(f.refuted for f in found) else promise.label
    return page(f"Release card: {manifest['mechanism']}", "\n".join(b for b in body if b), colour)


def _banners(draft: bool, found: list[Finding]) -> str:
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
    return shown


def _head(manifest: dict[str, Any], promise: Guarantee, found: list[Finding], draft: bool) -> str:
    name, meaning = LABELS[promise.label]
    badge = tag("span", esc(name), "badge")
    if draft and promise.label != "seeded":
        badge += " " + tag("span", "Draft", "badge badge-plain")
    if any(f.refuted for f in found):
        badge = tag("span", f"{esc(name)}, refuted", "badge")
        meaning = "A theorem was claimed, and an attack shows that the claim does not hold here."
    figure, counts = headline(promise.loss)
    figures = [_figure(figure, counts), _figure(str(promise.unit), f"protected unit: {promise.unit.phrase}")]
    if isinstance(promise.loss, Metric):
        figures.insert(
            1, _figure(number(promise.loss.worst), "worst loss between the two most different words or inputs")
        )
    if promise.label != "guarantee":
        figures[-1] = _figure(str(promise.unit), f"the unit in question: {promise.unit.phrase}")
    if found:
        strongest = max(found, key=lambda f: f.evidence.value).evidence
        figures.append(_figure(percent(strongest.value), f"best attack success; by chance {percent(strongest.chance)}"))
    return (
        f'<header><p class="kicker">Textveil release card</p><h1>{esc(str(manifest["mechanism"]))}</h1>{badge}'
        f'<p class="lead">{esc(meaning)}</p><div class="figures">{"".join(figures)}</div></header>'
    )


def _figure(big: str, small: str) -> str:
    return tag("div", f"<b>{esc(big)}</b><span>{esc(small)}</span>", "figure")


def _promise(promise: Guarantee, facts: Mapping[str, Any]) -> str:
    """`explain()`, its parts apart; the assumptions get a list of their own further down."""
    text, _, unprotected = promise.explain().partition(_NOT)
    text, *_ = text.partition(_HOLDS)
    if promise.label == "guarantee":
        text = text.removeprefix("Protected: ")
        title, rest = "Protected", f"{unprotected[:1].upper()}{unprotected[1:]}"
    else:
        title, rest = "No promise of a bounded loss", "No bound on what the output gives away is claimed, for anyone."
    text = f"{text[:1].upper()}{text[1:]}"
    policies = [p for p in facts.get("policies") or [] if p not in promise.assumes]
    return tag("div", tag("h3", title) + tag("p", esc(text)), "panel") + tag(
        "div", tag("h3", "Not protected") + tag("p", esc(rest)) + bullets(policies), "panel panel-not"
    )


def _evidence(found: list[Finding], unreadable: int) -> str:
    if not found and not unreadable:
        return tag(
            "p", "No attack has been run on this release yet. <code>textveil audit FOLDER</code> runs the known ones."
        )
    parts = [success_chart(_bar(f) for f in found)]
    rows = [
        (
            f"{esc(f.evidence.attack)}<br>{tag('span', esc(f.evidence.metric), 'small')}",
            esc(percent(f.evidence.value)),
            esc(" to ".join(percent(limit) for limit in f.evidence.interval())),
            esc(percent(f.evidence.chance)),
            esc(f.tries),
            tag("span", esc(f.verdict), "alarm") if f.refuted else esc(f.verdict),
        )
        for f in found
    ]
    if rows:
        parts.append(table(("Attack", "Success", "95 % interval", "Chance", "Hits", "Is the promise refuted?"), rows))
    notes = [f"{f.evidence.attack}: {n}" for f in found for n in _notes(f)]
    parts.append(tag("div", bullets(dict.fromkeys(notes)), "small") if notes else "")
    if unreadable:
        parts.append(tag("p", f"{unreadable} entries of evidence could not be read and are not shown.", "alarm"))
    return "".join(parts)


def _notes(finding: Finding) -> list[str]:
    bound = finding.evidence.upper
    ceiling = [] if bound is None else [f"no such attacker can be right more often than {percent(bound)}"]
    return [*finding.evidence.notes, *ceiling]


def _bar(finding: Finding) -> Bar:
    low, high = finding.evidence.interval()
    e = finding.evidence
    return Bar(e.attack, e.metric, e.value, low, high, e.chance, finding.allowed, finding.refuted)


def _document(promise: Guarantee, facts: Mapping[str, Any]) -> str:
    """The document line: words times the worst loss of one word, with both numbers."""
    document = facts.get("document") or {}
    worst, words, loss = (document.get(k) for k in ("epsilon_per_word_worst", "max_words", "loss"))
    if worst is None or promise.label != "guarantee":
        return ""
    metric = promise.loss
    how = ""
    if isinstance(metric, Metric) and metric.diameter is not None:
        how = f" ({number(metric.epsilon)} × {number(metric.diameter)}, epsilon times the largest distance)"
    lines = [tag("p", f"One word may lose up to <strong>{esc(show(worst))}</strong>{esc(how)}.")]
    if words is None:
        lines.append(
            tag(
                "p",
                "No cap on the words of a document was declared, so no number is stated for a whole document: "
                "n words may lose n times as much.",
            )
        )
    else:
        lines.append(
            tag(
                "p",
                f"A whole document of at most {esc(show(words))} words may lose up to "
                f"{esc(show(words))} × {esc(show(worst))} = <strong>{esc(show(loss))}</strong>.",
            )
        )
    lines.append(tag("p", "A bound above about 10 says little by itself: weigh it with the attacks above.", "small"))
    return "".join(lines)


def _sample(facts: Mapping[str, Any]) -> str:
    """Only the bundled letters, whose people are invented, ever come here."""
    shown = []
    for pair in (facts.get("sample") or {}).get("pairs") or []:
        before, after = (esc(str(pair.get(k, ""))[:_MOST_SAMPLE]) for k in ("before", "after"))
        shown.append(tag("div", f"<p><b>Before</b>{before}</p><p><b>After</b>{after}</p>", "before"))
    return "".join(shown[:5])


def _assumptions(promise: Guarantee) -> str:
    source = tag("p", f"Source: {esc(promise.source)}", "small") if promise.source else ""
    if promise.label != "guarantee" and not promise.assumes:
        return source
    return (bullets(promise.assumes) or tag("p", "No further assumptions are stated.")) + source


def _making(manifest: dict[str, Any], facts: Mapping[str, Any], promise: Guarantee) -> str:
    entry = manifest.get("entry")
    vectors = facts.get("vectors") or {}
    rows: list[tuple[str, object]] = [("mechanism", manifest["mechanism"])]
    rows += [(name, _brief(value)) for name, value in (manifest.get("parameters") or {}).items() if value is not None]
    if vectors:
        rows.append(("word vectors", f"{vectors.get('name')}, {show(vectors.get('words'))} words"))
        rows.append(("vectors' fingerprint", vectors.get("fingerprint")))
    rows.append(("two worlds compared", f"{promise.unit.phrase} {promise.adjacency.phrase}"))
    rows.append(("ledger", f"entry {entry}" if entry else "not recorded in a ledger"))
    rows.append(("randomness", "seeded (draft)" if manifest.get("draft") else "secure: operating-system entropy"))
    return pairs(rows) + _substitution(facts)


def _brief(value: object, most: int = 40) -> object:
    """Long lists (kept words) are shown in part."""
    if isinstance(value, list) and len(value) > most:
        return f"{show(value[:most])} and {len(value) - most:,} more"
    return "none" if value == [] else value


def _substitution(facts: Mapping[str, Any]) -> str:
    told = facts.get("substitution") or {}
    parts = []
    if isinstance(told.get("stay"), (int, float)):
        parts.append(
            tag("p", f"A word stays itself with chance {percent(told['stay'])}, on average over the public prior.")
        )
    shares = [float(v) for v in told.get("distance_hist") or []]
    if sum(shares) > 0:
        total = sum(shares)
        parts.append(histogram([s / total for s in shares], "distance between a word and its substitute, near to far"))
    return tag("div", "<br>" + "".join(parts)) if parts else ""


def _reading() -> str:
    labels = "".join(f"<dt>{esc(name)}</dt><dd>{esc(meaning)}</dd>" for name, meaning in LABELS.values())
    return (
        tag(
            "p",
            "Epsilon bounds how much the output can shift the odds between two possibilities: by at most a factor of "
            "e<sup>ε</sup>. Below 1 is strong, above 10 the bound alone says little. Losses about different units or "
            "distances are not comparable, and several releases of the same data add up: see the ledger.",
        )
        + tag(
            "p",
            "Attack success is what the strongest shipped attack achieved; compare it with chance. A low figure is no proof: "
            "an audit can only refute a promise, never prove it.",
        )
        + tag("dl", labels)
    )


def _footer(manifest: dict[str, Any]) -> str:
    versions = ", ".join(f"{k} {v}" for k, v in (manifest.get("versions") or {}).items())
    made = f"Made {manifest['created']} " if manifest.get("created") else "Made "
    return esc(f"{made}with textveil {manifest.get('textveil', '')}" + (f" ({versions})" if versions else "") + ".")
