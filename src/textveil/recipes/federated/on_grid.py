"""The journey of a model that sites train together: check, tell the terms, then charge and train round by round.

    publish -> the model to start from, the plan -> sites are there -> terms -> [charge, send, collect, sum, noise, save]
    -> model/, scores on a public file, card

`federate serve` brings a grid of its own public port; a ServerApp of Flower's brings the one of its SuperLink. The server has
no data: the fingerprint in its ledger is that of the registered keys, so other sites under the same ledger are refused. A run
that was stopped or killed goes on from the last round that was stored, as a new run of Flower's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from textveil.accounting.deltas import check_delta
from textveil.core import Adjacency, BadInput, Event, Guarantee, Stated, Unit
from textveil.core.facts import DataFacts, Facts
from textveil.core.params import needs
from textveil.federated.book import AccountBook
from textveil.federated.plan import RoundPlan
from textveil.federated.rounds import Federation, Roster, RoundFacts, run_rounds
from textveil.federated.state import RoundState
from textveil.federated.weights import flat_of, layout_of, put_into
from textveil.recipes.federated.curves import spent_curve
from textveil.recipes.federated.local_dp import SOURCE
from textveil.recipes.federated.outcome import model_parameters, promise_of, run_facts, shown_scores, watch_scores
from textveil.recipes.federated.sites_book import SitesBook
from textveil.recipes.federated.strategies import (
    RATES,
    StrategyChoice,
    make_plan,
    make_server_step,
    not_protected,
    parameters_of,
)
from textveil.recipes.federated.tasks import labels_of_start, make_task, save_model
from textveil.recipes.federated.terms import BEGIN, Begin, SiteTerms
from textveil.recipes.federated.units import UnitSource, pairs_of, read_file
from textveil.recipes.progress import Bar
from textveil.recipes.publish import Publication, publish_job
from textveil.recipes.training.scores import scores
from textveil.text.examples import check_labels
from textveil.text.readers import FileOptions
from textveil.training.interrupts import Interrupts

STATE, START = "state.pt", "start"
UNITS = {"site": Unit.CLIENT, "user": Unit.USER}


@dataclass(frozen=True)
class GridJob(FileOptions):
    """The model that sites should train together, and what the server does. FileOptions: of the public test file."""

    out: Path
    task: str
    asked: StrategyChoice
    start: Path | None = None
    model: Mapping[str, Any] = field(default_factory=dict)
    labels: tuple[str, ...] | None = None
    frozen: tuple[str, ...] = ()
    test: Path | None = None
    label_field: str | None = None
    unit: str = "site"
    timeout: float = 600.0  # seconds that a round waits for its sites
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False
    allow_large_delta: bool = False


class Sites(Protocol):
    """The sites of a federation, once they are there."""

    @property
    def grid(self) -> Any: ...

    @property
    def names(self) -> Mapping[int, str]: ...

    def dismiss(self) -> None: ...


@dataclass(frozen=True)
class Prepared:
    """Everything that can fail before a site is asked."""

    job: GridJob
    task: Any
    net: Any
    test: list[Any]
    terms: SiteTerms


Say = Callable[[str], None]


def train_on_grid(
    job: GridJob,
    keys: Mapping[str, bytes],
    sites: Callable[[], AbstractContextManager[Sites]],
    *,
    bar: Bar,
    say: Say = lambda line: None,
) -> dict[str, Any]:
    """Train with the sites whose keys are registered into a release folder, and return what to print."""
    needs("federated", "flwr", "torch")
    with publish_job(job, f"federate serve, {len(keys)} sites", seed=None) as publication:
        job = _declared(job, len(keys))
        ready = prepare(job, len(keys))
        begin = _begin(ready, publication)
        fingerprint = publication.account.fingerprint().update_all(key.decode("ascii") for key in _in_order(keys))
        with sites() as opened:
            run = _train(ready, publication, opened, begin, fingerprint.hexdigest(), bar, say)
            opened.dismiss()
        put_into(ready.net, run.state.weights)
        ready.net.eval()
        save_model(ready.net, publication.file("model"))
        test_scores, promise = _test_scores(ready, publication), _promise(job, publication)
        release = publication.finish(
            run.book.paid,  # type: ignore[arg-type]
            job.asked.mechanism,
            run.parameters,
            "model",
            guarantee=promise,
            facts=_facts(job, run, len(keys), test_scores, getattr(promise and promise.loss, "epsilon", None)),
        )
    return {
        **publication.result(release),
        "task": job.task,
        "strategy": job.asked.strategy,
        "units": run.plan.users,
        "unit": str(run.plan.unit),
        "rounds": run.state.round,
        "noise": run.plan.noise,
        "epsilon": getattr(release.guarantee.loss, "epsilon", None),
        "delta": job.asked.delta,
        "scores": test_scores,
        "history": run.state.history,
        "refused": run.state.refused,
    }


def _declared(job: GridJob, sites: int) -> GridJob:
    """The number of registered sites is public: it needs no rounding."""
    if job.unit != "site" or job.asked.users is not None:
        return job
    return replace(job, asked=replace(job.asked, users=sites))


def _in_order(keys: Mapping[str, bytes]) -> list[bytes]:
    return sorted(keys.values())


def prepare(job: GridJob, sites: int) -> Prepared:
    """Check what can be checked without any site."""
    asked = job.asked
    if asked.strategy == "central":
        raise BadInput(
            "central sends the sites' text to the server", possible="textveil federate simulate, to see what it gives"
        )
    if asked.local == "dp-sgd" and (asked.epsilon is None or job.unit != "site"):
        raise BadInput(
            "sites under DP-SGD find their own noise for one epsilon, and protect their examples",
            possible="--epsilon 3 with --unit site",
        )
    if job.unit == "site":
        make_plan(asked, sites, Unit.CLIENT)
    labels = job.labels or ()
    if job.start is not None:
        labels = labels_of_start(job.task, job.start)
    elif job.task != "lm" and not labels:
        raise BadInput("sites have to agree on labels beforehand", possible="--labels A,B,C, or --start with a model")
    task = make_task(job.task, job.model, labels=labels, start=job.start, frozen=job.frozen)
    net = task.build()
    make_server_step(asked)
    test: list[Any] = []
    if job.test is not None:
        file = read_file(_test_source(job, labels), job.test, users=False)
        if labels:
            check_labels(file, labels, job.test, declared=True)
        test = pairs_of(job.task, file)
    return Prepared(job, task, net, test, _terms(job))


def _test_source(job: GridJob, labels: tuple[str, ...]) -> UnitSource:
    return UnitSource((), job.task, None, job.label_field, labels or None, **job.reading())


def _terms(job: GridJob) -> SiteTerms:
    asked = job.asked
    rate = asked.rate if asked.rate is not None else RATES[asked.local]
    common = {"batch": asked.batch, "epochs": asked.epochs}
    private = None
    if asked.local == "dp-sgd":
        clip = asked.clip if asked.clip is not None else 0.2
        private = {**common, "clip": clip, "delta": asked.delta, "noise": None, "target": asked.epsilon, "rate": rate}
    local: dict[str, Any] = {"step": "gradient"}
    if asked.strategy != "fedsgd":
        optimiser = "sgd" if asked.local == "dp-sgd" else asked.local
        local = {"step": "training", "optimiser": optimiser, "rate": rate, **common, "most": asked.most}
    unit = "client" if job.unit == "site" else "user"
    rank = job.model.get("adapters")
    return SiteTerms(job.task, unit, asked.rounds, local, tuple(job.frozen), private, adapters=rank)


def _begin(ready: Prepared, publication: Publication) -> Begin:
    """The terms with the model that all begin from; a run that goes on sends the same."""
    folder = publication.work(START)
    if not folder.is_dir():
        save_model(ready.task.build(), folder)  # a net of its own: the one that learns keeps its adapters
    return Begin.of(ready.terms, folder)


# ---- training ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GridRun:
    """What a run left: its plan, its parameters as shown, the account and the last state."""

    plan: RoundPlan
    parameters: dict[str, Any]
    book: AccountBook
    state: RoundState


def _train(
    ready: Prepared, publication: Publication, sites: Sites, begin: Begin, data: str, bar: Bar, say: Say
) -> GridRun:
    from textveil.federated.deployment.terms_grid import TermsGrid

    job = ready.job
    grid = TermsGrid(
        sites.grid, BEGIN, begin.content(), refused=lambda node: say(f"{sites.names[node]} cannot take part now")
    )
    grid.tell(grid.get_node_ids(), job.timeout)
    roster = _roster(job, grid, sites)
    plan = make_plan(job.asked, len(roster.home), UNITS[job.unit])
    if job.asked.is_private:
        check_delta(float(job.asked.delta or 0), plan.users, allow=job.allow_large_delta)
    parameters = parameters_of(job.asked, plan, job.task)
    parameters |= model_parameters(job.model, job.start, job.frozen)
    binding = publication.bound(parameters=parameters, frozen=list(job.frozen), unit=job.unit)
    book = _book(ready, publication, plan, data, binding)
    federation = Federation(
        plan,
        layout_of(ready.net),
        flat_of(ready.net),
        make_server_step(job.asked),
        apart=plan.unit is Unit.CLIENT,
        timeout=job.timeout,
        present=len(roster.home),
    )
    with Interrupts() as interrupts, bar("training", plan.rounds, "rounds") as advance:
        done = [0]

        def progress(facts: RoundFacts) -> None:
            advance(facts.round - done[0])
            done[0] = facts.round
            for name, count in facts.refused.items():
                say(f"round {facts.round}: left out {name}" + (f" ({count})" if count > 1 else ""))

        state = run_rounds(
            grid,
            federation,
            book,
            roster=roster,
            watch=watch_scores(ready.task, ready.test, plan.rounds),
            progress=progress,
            stop=lambda: interrupts.asked,
        )
    return GridRun(plan, parameters, book, state)


def _roster(job: GridJob, grid: Any, sites: Sites) -> Roster:
    """All registered sites, present or not; or the users of those that are."""
    by_name = sorted(sites.names, key=lambda node: sites.names[node])
    if job.unit == "site":
        return Roster.one_unit_a_node(by_name, sites.names)
    counts = {node: int(grid.accepted[node].get("units", 0)) for node in by_name if node in grid.accepted}
    home = tuple((node, number) for node, count in counts.items() for number in range(count))
    if not home:
        raise BadInput("no site has a user to train for")
    return Roster(tuple(by_name), home, dict(sites.names))


def _book(
    ready: Prepared, publication: Publication, plan: RoundPlan, data: str, binding: Mapping[str, Any]
) -> AccountBook:
    job, account, path = ready.job, publication.account, publication.work(STATE)
    if job.asked.local != "dp-sgd":
        return AccountBook(account, plan, path, data=data, binding=binding)
    event = Event(
        Stated(float(job.asked.epsilon or 0), float(job.asked.delta or 0)),
        Unit.EXAMPLE,
        Adjacency.ADD_REMOVE,
        assumes=("each site runs the step that it was asked for, and charges its own ledger",),
        source=SOURCE,
        mechanism=job.asked.mechanism,
    )
    paid = account.charge(event, data=data, binding=binding)
    return SitesBook(account, plan, path, paid=paid, again=event)  # a lost round costs at most what all cost


# ---- what is promised and said -----------------------------------------------------------------------------------------


def _test_scores(ready: Prepared, publication: Publication) -> dict[str, Any]:
    if ready.job.test is None:
        return {}
    from textveil.training.saved import load

    model = load(publication.file("model"))
    labels = labels_of_start(ready.job.task, publication.file("model"))
    return scores(model, read_file(_test_source(ready.job, labels), ready.job.test, users=False))


def _promise(job: GridJob, publication: Publication) -> Guarantee | None:
    promises = job.asked.is_private or job.asked.local == "dp-sgd"
    return promise_of(publication, float(job.asked.delta or 0)) if promises else None


def _facts(job: GridJob, run: GridRun, sites: int, test_scores: dict[str, Any], epsilon: float | None) -> Facts:
    spent = spent_curve(run.plan, job.asked.delta, None, epsilon)
    return Facts(
        data=DataFacts(f"{sites} registered sites", datetime.now(UTC).date().isoformat()),
        federation=run_facts(job.asked, run.plan, run.state, spent),
        scores=shown_scores(job.task, test_scores, job.test),
        not_protected=not_protected(job.asked, run.plan.unit, simulated=False),
    )


__all__ = ["GridJob", "Sites", "train_on_grid"]
