"""The journeys of the seal: fill a trained model and measure what that costs; cost alone; update a sealed model.

A sealed folder holds neither the presence mask nor the document counts of the slots. Its promise is `Measured`: the
divergence of the fitted law, the larger direction, for the 100th most common term. Nothing is charged before the model
has been read and checked, and nothing is drawn before the charge is on disk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil.core import Adjacency, BadInput, Event, Guarantee, Measured, Unit, Unpriced
from textveil.core.fingerprint import Fingerprint
from textveil.core.params import open_fraction, positive
from textveil.core.release import check_free, new_folder, write_manifest
from textveil.hashed.corpus import Corpus
from textveil.hashed.cost import Cost, ranks_by_zipf
from textveil.hashed.divergence import DELTA
from textveil.hashed.extractor import MODEL, Extractor, load
from textveil.hashed.kernel_cost import kernel_cost
from textveil.hashed.passive_aggressive import PassiveAggressive
from textveil.hashed.seal import Prepared, SealPlan, grid_step, prepare, seal
from textveil.hashed.update import CAP_RANK, draw_update, epsilon_of, first_costs, plan_update, refuse_above, train_on
from textveil.noise import source_for
from textveil.recipes.charging import charge, ledger_key
from textveil.recipes.hashed_files import MarkedFiles
from textveil.recipes.hashed_train import model_release
from textveil.recipes.veil import Bar, check_writable

SEALED, UPDATED = "hashed.seal", "hashed.update"
SOURCE = "Fletcher, Roegiest, Hudek: Hash the Universe (2024), sections 4 and 5; measured, see docs/hashed-seal.md"


@dataclass(frozen=True)
class SealJob:
    model: Path
    out: Path
    plan: SealPlan = field(default_factory=SealPlan)
    delta: float = DELTA
    dtype: str = "float32"
    ledger: Path | None = None
    seed: int | None = None


def seal_model(job: SealJob, *, bar: Bar) -> dict[str, Any]:
    """Seal a trained model into a release folder and return what to print."""
    check_free(job.out)
    check_writable(job.out)
    open_fraction("delta", job.delta)
    key = ledger_key(job.ledger)
    model = load(job.model)
    ready = prepare(model.table_, job.plan)
    with bar("measuring the cost", None, "ranks"):
        ranks = ranks_by_zipf(ready.fitted_rows, job.delta)
        costs = first_costs(ready.fitted_rows)
    guarantee = measured(ranks[CAP_RANK], job.delta, job.plan)
    event = event_of(guarantee, SEALED)
    with new_folder(job.out) as hidden:
        entry = charge(job.ledger, key, event, f"hashed seal {job.model.name}", fingerprint=None)  # type: ignore[arg-type]
        with bar("sealing", None, "slots"):
            table = seal(model.table_, job.plan, noise=source_for(job.seed))
        table.facts = {**table.facts, "costs": costs, "guarantee": guarantee.to_json()}
        sealed = model.with_table(table)
        shown = {str(rank): cost.to_json() for rank, cost in ranks.items()}
        _write(hidden, sealed, event, guarantee, entry, SEALED, job.dtype, job.plan, shown, job.seed)
    return {
        "out": str(job.out),
        "plan": job.plan.to_json(),
        "slots": len(table.weights),
        "kept_rows": int(ready.kept.sum()),
        "drawn_rows": int((~ready.kept).sum()),
        "costs": shown,
        "entry": entry,
        "draft": job.seed is not None,
        "promise": guarantee.loss.sentence(),
        "guarantee": guarantee.to_json(),
    }


def measured(cost: Cost, delta: float, plan: SealPlan) -> Guarantee:
    """The label of a sealed model: the larger direction for the 100th most common term, the paper's figure beside it."""
    how = (
        f"Renyi divergence of the law fitted without the {cost.count} worst rows of the {CAP_RANK}th most common term, "
        f"larger direction; the paper's way: {cost.paper:.4g}"
    )
    return Guarantee(Measured(cost.larger, delta, how), Unit.TERM, Adjacency.ADD_REMOVE, (), SOURCE)


def policies_of(plan: SealPlan, updates: int = 0) -> list[str]:
    """What the card says beside the figure."""
    if plan.mode == "paper":
        said = [
            "genuine weights were copied exactly: a term's own rows stay in the table, however rare the term is",
            "whoever can train the same model without a term sees every row that differs",
        ]
    else:
        k = plan.min_documents
        said = [
            f"hidden: the rows of names, amounts and of terms in fewer than {k} training documents were forgotten and "
            "drawn anew, from the law of all other slots",
            f"not hidden: ordinary words (written in lower case) in {k} training documents or more",
            "not hidden: the pull of a forgotten term on rows of other features that share its slots, and on other weights",
        ]
    said.append("the weights between labels (transitions) are those of training")
    return [*said, f"{updates} updates since it was sealed; their costs are summed"] if updates else said


def event_of(guarantee: Guarantee, mechanism: str) -> Event:
    return Event(Unpriced(guarantee.loss), guarantee.unit, guarantee.adjacency, source=SOURCE, mechanism=mechanism)


def _write(
    hidden: Path, model: Extractor, event: Event, guarantee: Guarantee, entry: str | None, mechanism: str, dtype: str,
    plan: SealPlan, costs: dict[str, Any], seed: int | None, updates: int = 0,
) -> None:  # fmt: skip
    (hidden / MODEL).mkdir()
    model.write(hidden / MODEL, dtype=dtype)
    facts = {"seal": plan.to_json(), "costs": costs}
    said = policies_of(plan, updates)
    release = model_release(
        model, hidden, event, guarantee, entry, mechanism, dtype, said, draft=seed is not None, facts=facts
    )
    write_manifest(hidden, release.manifest(MODEL))


# cost --------------------------------------------------------------------------------------------------------------------


def cost_of_model(
    model: Path,
    plan: SealPlan,
    *,
    delta: float = DELTA,
    documents: Path | None = None,
    text_field: str | None = None,
    terms: Sequence[str] = (),
    bar: Bar,
) -> dict[str, Any]:
    """What sealing this model with this plan costs: by Zipf's law, and for the terms of the training documents."""
    open_fraction("delta", delta)
    extractor = load(model)
    if extractor.table_.sealed:
        costs = extractor.table_.facts.get("costs")
        if costs is None:
            raise BadInput("was sealed without measured costs", where=model)
        ranks = {r: _number(epsilon_of(costs, int(r), delta)) for r in costs["curves"]}
        return {"sealed": True, "delta": delta, "releases": costs["releases"], "epsilon": ranks}
    ready = prepare(extractor.table_, plan)
    with bar("measuring the cost", None, "ranks"):
        ranks = ranks_by_zipf(ready.fitted_rows, delta)
    shown: dict[str, Any] = {
        "sealed": False,
        "delta": delta,
        "plan": plan.to_json(),
        "rows": len(ready.fitted),
        "zipf": {str(rank): cost.to_json() for rank, cost in ranks.items()},
    }
    if plan.law == "kernel":
        found = kernel_cost(ready.fitted_rows, ranks[CAP_RANK].count, grid_step(ready.fitted_rows), delta)
        shown["kernel"] = {name: _number(value) for name, value in found._asdict().items()}
    if documents is not None:
        shown |= _cost_of_documents(extractor, ready, documents, text_field, terms, delta, bar)
    elif terms:
        raise BadInput("the features of a term are counted in the training documents", possible="--documents FILE")
    return shown


def _cost_of_documents(
    extractor: Extractor,
    ready: Prepared,
    documents: Path,
    text_field: str | None,
    terms: Sequence[str],
    delta: float,
    bar: Bar,
) -> dict[str, Any]:
    from textveil.hashed.features import folded
    from textveil.hashed.term_counts import joint_cost, ranks_by_features, term_costs, term_features
    from textveil.text import readers

    reader = readers.open_reader(documents, text_field=text_field)
    with bar("counting features", None, "documents") as advance:
        found = term_features((record.text for record in reader), extractor.plan, advance=advance)
    costs = term_costs(ready, found, delta)
    number = {term: i for i, term in enumerate(costs.terms)}
    asked = folded(list(terms), extractor.plan)
    unknown = [i for i, term in enumerate(asked) if term not in number]
    if unknown:
        raise BadInput(f"term {unknown[0] + 1} of --term does not occur in the documents", where=documents)

    def row(i: int) -> dict[str, Any]:
        return {
            "term": costs.terms[i],
            "occurrences": int(costs.occurrences[i]),
            "features": int(costs.features[i]),
            "fitted": int(costs.fitted[i]),
            "epsilon": _number(float(costs.larger[i])),
        }

    by_rank = ranks_by_features(ready, costs, found, delta)
    result = {
        "terms": len(costs.terms),
        "free": int((costs.fitted == 0).sum()),
        "counted": {str(rank): cost.to_json() for rank, cost in by_rank.items()},
        "most_frequent": [row(int(i)) for i in found.by_frequency()[:10]],
        "asked": [row(number[t]) for t in asked],
    }
    if len(asked) > 1:
        result["together"] = _number(joint_cost(ready, found, [number[t] for t in asked], delta))
    return result


def _number(value: float) -> Any:
    return "inf" if isinstance(value, float) and math.isinf(value) else value


# update ------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UpdateJob:
    model: Path
    files: MarkedFiles
    out: Path
    cap: float | None = None
    delta: float = DELTA
    dtype: str = "float32"
    ledger: Path | None = None
    other_data: bool = False
    seed: int | None = None


def update_model(job: UpdateJob, *, bar: Bar) -> dict[str, Any]:
    """Train a sealed model on new documents and release it again; refused above the cap."""
    check_free(job.out)
    check_writable(job.out)
    open_fraction("delta", job.delta)
    if job.cap is not None:
        positive("cap", job.cap)
    key = ledger_key(job.ledger)
    model = load(job.model)
    before = model.table_
    if not before.sealed or "costs" not in before.facts:
        raise BadInput("is not a sealed model", where=job.model, possible="`textveil hashed seal` first")
    reader = job.files.open()
    if reader.label not in before.labels:
        raise BadInput(
            "the new documents have a label that the model does not know", possible=", ".join(before.labels[1:])
        )
    corpus, mark = Corpus(model.plan), Fingerprint(key)
    with bar("hashing", reader.size, "bytes") as advance:
        for text, spans in reader.documents(mark, advance):
            corpus.add(text, [(start, end, before.labels.index(reader.label)) for start, end in spans])
    with bar("training", None, "paragraphs"):
        after = train_on(before, corpus, PassiveAggressive(model.epochs, model.c))
    change = plan_update(before, after)
    refuse_above(job.cap, change.costs, job.delta)
    ranks = {rank: _number(epsilon_of(change.costs, int(rank), job.delta)) for rank in change.costs["curves"]}
    guarantee = _measured_sum(change.costs, job.delta)
    event = event_of(guarantee, UPDATED)
    with new_folder(job.out) as hidden:
        note = f"hashed update {job.files.source.name}"
        entry = charge(job.ledger, key, event, note, fingerprint=mark.hexdigest(), other_data=job.other_data)
        with bar("sealing", None, "slots"):
            table = draw_update(change, source_for(job.seed))
        table.facts = {**table.facts, "guarantee": guarantee.to_json()}
        done, plan = table.facts["updates"], change.plan
        _write(
            hidden, model.with_table(table), event, guarantee, entry, UPDATED, job.dtype, plan, ranks, job.seed, done
        )
    return {
        "out": str(job.out),
        "documents": corpus.count,
        "releases": change.costs["releases"],
        "epsilon": ranks,
        "cap": job.cap,
        "entry": entry,
        "draft": job.seed is not None,
        "promise": guarantee.loss.sentence(),
        "guarantee": guarantee.to_json(),
    }


def _measured_sum(costs: dict[str, Any], delta: float) -> Guarantee:
    how = f"Renyi divergences of {costs['releases']} releases summed, {CAP_RANK}th most common term, larger direction"
    loss = Measured(epsilon_of(costs, CAP_RANK, delta), delta, how)
    return Guarantee(loss, Unit.TERM, Adjacency.ADD_REMOVE, (), SOURCE)
