"""The journeys of the seal: fill a trained model and measure what that costs; cost alone; update a sealed model.

A sealed folder holds neither the presence mask nor the document counts of the slots. Its promise is `Measured`: the
divergence of the fitted law, the largest of the figures that were computed (hashed/promise). Nothing is charged before the
model has been read and checked, and nothing is drawn before the charge is on disk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from textveil.accounting.account import Paid
from textveil.core import BadInput, Guarantee, Refused, Release, read_manifest
from textveil.core.facts import DataFacts, Facts, SealFacts
from textveil.core.fingerprint import Fingerprint
from textveil.core.mechanism import passes_of
from textveil.core.params import open_fraction, positive
from textveil.hashed.corpus import Corpus
from textveil.hashed.cost import ranks_by_zipf
from textveil.hashed.divergence import DELTA
from textveil.hashed.extractor import MODEL, Extractor, load
from textveil.hashed.kernel_cost import kernel_cost
from textveil.hashed.kinds import check_possible
from textveil.hashed.passive_aggressive import PassiveAggressive
from textveil.hashed.promise import COUNTED, event_of, hidden, measured, measured_sum, not_hidden
from textveil.hashed.seal import Prepared, SealPlan, grid_step, prepare, seal
from textveil.hashed.update import CAP_RANK, draw_update, epsilon_of, first_costs, plan_update, refuse_above, train_on
from textveil.recipes.hashed.train import data_facts, marked_binding, write_model
from textveil.recipes.progress import Bar
from textveil.recipes.publish import Publication, publish_job
from textveil.text.marked import MarkedFiles
from textveil.text.readers import ReadingOptions

SEALED, UPDATED = "hashed.seal", "hashed.update"


@dataclass(frozen=True)
class SealJob:
    model: Path
    out: Path
    plan: SealPlan = field(default_factory=SealPlan)
    delta: float = DELTA
    dtype: str = "float32"
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False
    seed: int | None = None


def seal_model(job: SealJob, *, bar: Bar) -> dict[str, Any]:
    """Seal a trained model into a release folder and return what to print.

    The training documents are not read again, so the ledger is recognised by the line that the model was charged with.
    """
    open_fraction("delta", job.delta)
    with publish_job(job, f"hashed seal {job.model.name}", seed=job.seed) as publication:
        model = load(job.model)
        ready = prepare(model.table_, job.plan)
        with bar("measuring the cost", None, "ranks"):
            ranks = ranks_by_zipf(ready.fitted_rows, job.delta)
            costs = first_costs(ready.fitted_rows)
        guarantee = measured(ranks, job.delta)
        parameters = _sealed_parameters(model, job.plan, job.delta, job.dtype)
        paid = publication.account.charge(
            event_of(guarantee, SEALED),
            data=None,
            of=None if job.other_data else entry_of(job.model, job.ledger),
            binding=publication.bound(model=_model_binding(publication, job.model, model), parameters=parameters),
        )
        with bar("sealing", None, "slots"):
            table = seal(model.table_, job.plan, noise=paid.noise())
        table.facts = {**table.facts, "costs": costs, "guarantee": guarantee.to_json()}
        shown = {str(rank): cost.to_json() for rank, cost in ranks.items()}
        sealed = model.with_table(table)
        data = data_of_model(job.model)
        release = _finish(publication, paid, sealed, SEALED, parameters, guarantee, job.plan, shown, data)
    return {
        **publication.result(release),
        "plan": job.plan.to_json(),
        "slots": len(table.weights),
        "kept_rows": int(ready.kept.sum()),
        "drawn_rows": int((~ready.kept).sum()),
        "costs": shown,
    }


def _model_binding(publication: Publication, path: Path, model: Extractor) -> list[str]:
    """The model that a run is bound to: its place, and what it held under the ledger's key."""
    content = publication.account.fingerprint().update_value(model.table_.weights)
    return [str(path.absolute()), "" if content is None else content.hexdigest()]


def entry_of(model: Path, ledger: Path | None) -> str | None:
    """The ledger line of a model's own release; refused where a ledger is to be charged and the model has no line."""
    if ledger is None:
        return None
    entry: str | None = read_manifest(model).get("entry")
    if entry is None:
        raise Refused(
            f"{model} was not charged to a ledger, so ledger '{ledger.stem}' cannot be recognised as that of its documents. "
            "Train it with --ledger, or seal it without."
        )
    return entry


def seal_facts(plan: SealPlan, costs: dict[str, Any], data: DataFacts | None, updates: int = 0) -> Facts:
    """What the card says beside the figure."""
    shown = plan.to_json()
    sealed = SealFacts(
        mode=plan.mode,
        law=str(shown.get("law", "")),
        min_documents=plan.min_documents,
        spread=shown.get("spread"),
        lean=shown.get("lean"),
        updates=updates,
        costs={rank: _larger(cost) for rank, cost in costs.items()},
        how_counted=COUNTED,
    )
    return Facts(data=data, seal=sealed, making=hidden(plan), not_protected=not_hidden(plan))


def data_of_model(model: Path) -> DataFacts | None:
    """The documents that a model was trained on, as its own release names them."""
    try:
        return Facts.from_json(read_manifest(model).get("facts") or {}).data
    except BadInput:  # a model that was saved by itself, or names no data
        return None


def _larger(cost: Any) -> float:
    value = cost["larger"] if isinstance(cost, dict) else cost
    return math.inf if value == "inf" else float(value)


def _finish(
    publication: Publication,
    paid: Paid,
    model: Extractor,
    mechanism: str,
    parameters: dict[str, Any],
    guarantee: Guarantee,
    plan: SealPlan,
    costs: dict[str, Any],
    data: DataFacts | None,
    updates: int = 0,
) -> Release:
    write_model(publication, model, parameters["dtype"])
    return publication.finish(
        paid,
        mechanism,
        parameters,
        MODEL,
        guarantee=guarantee,
        passes=passes_of(model),
        facts=seal_facts(plan, costs, data, updates),
    )


def _sealed_parameters(model: Extractor, plan: SealPlan, delta: float, dtype: str) -> dict[str, Any]:
    return {**model.public_params(), "seal": plan.to_json(), "delta": delta, "dtype": dtype}


# cost --------------------------------------------------------------------------------------------------------------------


def cost_of_model(
    model: Path,
    plan: SealPlan,
    *,
    delta: float = DELTA,
    documents: Path | None = None,
    terms: Sequence[str] = (),
    bar: Bar,
    **reading: Unpack[ReadingOptions],
) -> dict[str, Any]:
    """What sealing this model with this plan costs: by Zipf's law, and for the terms of the training documents."""
    open_fraction("delta", delta)
    extractor = load(model)
    check_possible(extractor.table_.kind, "cost", model)
    if not extractor.table_.is_open:
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
        shown |= _cost_of_documents(extractor, ready, documents, reading, terms, delta, bar)
    elif terms:
        raise BadInput("the features of a term are counted in the training documents", possible="--documents FILE")
    return shown


def _cost_of_documents(
    extractor: Extractor,
    ready: Prepared,
    documents: Path,
    reading: ReadingOptions,
    terms: Sequence[str],
    delta: float,
    bar: Bar,
) -> dict[str, Any]:
    from textveil.hashed.features import folded
    from textveil.hashed.term_counts import joint_cost, ranks_by_features, term_costs, term_features
    from textveil.text import readers

    reader = readers.open_reader(documents, columns=(), **reading)
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
    unpriced: bool = False
    seed: int | None = None


def update_model(job: UpdateJob, *, bar: Bar) -> dict[str, Any]:
    """Train a sealed model on new documents and release it again; refused above the cap."""
    open_fraction("delta", job.delta)
    if job.cap is not None:
        positive("cap", job.cap)
    with publish_job(job, f"hashed update {job.files.source.name}", seed=job.seed) as publication:
        model = load(job.model)
        before = model.table_
        check_possible(before.kind, "update", job.model)
        if "costs" not in before.facts:
            raise BadInput(
                "was sealed without measured costs", where=job.model, possible="`textveil hashed seal` first"
            )
        fingerprint = publication.account.fingerprint()
        corpus = _new_documents(job, model, fingerprint, bar)
        with bar("training", None, "paragraphs"):
            after = train_on(before, corpus, PassiveAggressive(model.epochs, model.c))
        change = plan_update(before, after)
        refuse_above(job.cap, change.costs, job.delta)
        ranks = {rank: _number(epsilon_of(change.costs, int(rank), job.delta)) for rank in change.costs["curves"]}
        guarantee = measured_sum(change.costs, job.delta)
        parameters = _sealed_parameters(model, change.plan, job.delta, job.dtype)
        binding = marked_binding(publication, job.files, parameters)
        paid = publication.account.charge(
            event_of(guarantee, UPDATED),
            data=fingerprint.hexdigest(),
            binding={**binding, "model": _model_binding(publication, job.model, model)},
        )
        with bar("sealing", None, "slots"):
            table = draw_update(change, paid.noise())
        table.facts = {**table.facts, "guarantee": guarantee.to_json()}
        updated = model.with_table(table)
        release = _finish(
            publication, paid, updated, UPDATED, parameters, guarantee, change.plan, ranks,
            data_facts(publication, job.files), table.facts["updates"],
        )  # fmt: skip
    return {
        **publication.result(release),
        "documents": corpus.count,
        "releases": change.costs["releases"],
        "epsilon": ranks,
        "cap": job.cap,
    }


def _new_documents(job: UpdateJob, model: Extractor, fingerprint: Fingerprint, bar: Bar) -> Corpus:
    reader, labels = job.files.open(), model.table_.labels
    if not set(reader.labels) <= set(labels):
        raise BadInput("the new documents have a label that the model does not know", possible=", ".join(labels[1:]))
    corpus, numbers = Corpus(model.plan), [0, *(labels.index(label) for label in reader.labels)]
    with bar("hashing", reader.size, "bytes") as advance:
        for text, spans in reader.numbered(fingerprint, advance):
            corpus.add(text, [(start, end, numbers[number]) for start, end, number in spans])
    return corpus
