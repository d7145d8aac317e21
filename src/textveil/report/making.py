"""The sections about how a release was made: the document line, scores, samples, parameters, vectors, ledger."""

from __future__ import annotations

from typing import Any

from ..core import Guarantee, Metric
from ..core.facts import DocumentLine, Facts, SealFacts, TrainingRun, VectorsUsed
from .federation import federation_rows
from .html import bound, bullets, esc, number, pairs, percent, table, tag
from .parameters import parameter_rows
from .svg import histogram

MOST_SAMPLE = 4_000  # characters of one sample text: a card stays small
MOST_SAMPLES = 5
SEALS = {
    "quiet": "quiet: names and rare terms are forgotten",
    "paper": "as published, which leaves every true weight",
}
MOST_TELLING = 10.0  # a larger bound says little


def document_line(promise: Guarantee, line: DocumentLine | None) -> str:
    """What a whole document may lose: words times the worst loss of one word, with both numbers."""
    if line is None or promise.label != "guarantee":
        return ""
    worst, metric, how = bound(line.per_word), promise.loss, ""
    if isinstance(metric, Metric) and metric.diameter is not None:
        how = f" ({number(metric.epsilon)} × {number(metric.diameter)}, epsilon times the largest distance)"
    lines = [tag("p", f"One word may lose up to <strong>{esc(worst)}</strong>{esc(how)}.")]
    if line.max_words is None or line.loss is None:
        said = (
            "No cap on the words of a document was declared, so no number is stated for a whole document: n words may lose "
            "n times as much."
        )
    else:
        said = (
            f"Of two documents of the same length, at most {line.max_words:,} words, that agree in all that leaves "
            "unprotected (punctuation, for one), the whole may lose up to "
            f"{line.max_words:,} × {esc(worst)} = <strong>{esc(bound(line.loss))}</strong>."
        )
    lines.append(tag("p", said))
    if max(line.per_word, line.loss or 0.0) > MOST_TELLING:
        lines.append(
            tag("p", "A bound above about 10 says little by itself: weigh it with the attacks above.", "small")
        )
    return "".join(lines)


def sample(facts: Facts) -> str:
    """Only the bundled letters, whose people are invented, ever come here."""
    shown = []
    for pair in facts.sample[:MOST_SAMPLES]:
        before, after = (esc(text[:MOST_SAMPLE]) for text in (pair.before, pair.after))
        shown.append(tag("div", f"<p><b>Before</b>{before}</p><p><b>After</b>{after}</p>", "before"))
    return "".join(shown)


def making(manifest: dict[str, Any], facts: Facts, promise: Guarantee) -> str:
    """How it was made, in sentences and in a list of names and values."""
    rows: list[tuple[str, object]] = []
    rows.append(("mechanism", manifest["mechanism"]))
    sections = {name for name in ("seal", "training", "federation") if getattr(facts, name) is not None}
    rows += parameter_rows(manifest.get("parameters") or {}, sections)
    if facts.vectors is not None:
        rows.append(("word vectors", _vectors(facts.vectors)))
        rows.append(("vectors' fingerprint", facts.vectors.fingerprint))
    rows += _training_rows(facts.training) if facts.training else []
    rows += federation_rows(facts.federation) if facts.federation else []
    rows += _seal_rows(facts.seal) if facts.seal else []
    rows.append(("two worlds compared", f"{promise.unit.phrase} {promise.adjacency.phrase}"))
    rows.append(("ledger", _ledger(manifest)))
    if manifest.get("head"):
        rows.append(("the ledger's last line then", manifest["head"]))
    rows.append(("randomness", "seeded (draft)" if manifest.get("draft") else "secure: operating-system entropy"))
    return bullets(_sentence(line) for line in facts.making) + pairs(rows) + _costs(facts.seal) + _substitution(facts)


def _vectors(used: VectorsUsed) -> str:
    """Their name, language and size."""
    return ", ".join([used.name, *([used.language] if used.language else []), f"{used.words:,} words"])


def _training_rows(run: TrainingRun) -> list[tuple[str, object]]:
    phases = "; then ".join(
        f"{updates:,} updates, expected batch {batch:,}, noise {number(noise)} times the clip"
        for noise, batch, updates in run.phases
    )
    rows: list[tuple[str, object]] = [("training", phases), ("declared number of units", f"{run.examples:,}")]
    return [*rows, ("clip", run.clip), ("batches", f"{run.sampling} sampling")]


def _seal_rows(seal: SealFacts) -> list[tuple[str, object]]:
    mode = SEALS.get(seal.mode, seal.mode)
    rows: list[tuple[str, object]] = [("seal", mode), ("law of drawn rows", seal.law)]
    rows += [("documents that keep a row", seal.min_documents)]
    rows += [("drawn weights are multiplied by", seal.spread), ("drawn rows speak against a find by", seal.lean)]
    if seal.updates:
        rows.append(("updates since it was sealed", seal.updates))
    return [(name, value) for name, value in rows if value not in (None, "")]


def _costs(seal: SealFacts | None) -> str:
    if seal is None or not seal.costs:
        return ""
    rows = [(esc(rank), esc(bound(cost))) for rank, cost in seal.costs.items()]
    how = f" ({seal.how_counted})" if seal.how_counted else ""
    said = f"What the seal shows of a term, by its rank (1: the commonest term): measured, not promised{how}."
    head = ("Rank", "Measured epsilon")
    return tag("div", tag("p", esc(said), "small") + table(head, rows), "below")


def _ledger(manifest: dict[str, Any]) -> str:
    entry, entries = manifest.get("entry"), manifest.get("entries")
    if not entry:
        return "not recorded in a ledger"
    if isinstance(entries, list) and len(entries) == 2 and entries[0] != entries[1]:
        return f"entries {entries[0]} to {entries[1]}"
    return f"entry {entry}"


def _substitution(facts: Facts) -> str:
    if facts.substitution is None:
        return ""
    stay, shares = facts.substitution.stay, facts.substitution.distance_hist
    parts = [tag("p", f"A word stays itself with chance {percent(stay)}, on average over the public prior.")]
    total = sum(shares)
    if total > 0:
        parts.append(histogram([s / total for s in shares], "distance between a word and its substitute, near to far"))
    return tag("div", "".join(parts), "below")


def _sentence(line: str) -> str:
    return line[:1].upper() + line[1:]
