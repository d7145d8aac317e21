"""The journey of a model that is trained together, on one machine: read, check, plan, then charge and train round by round.

    publish -> read all units -> task and plan -> warnings -> [charge, send, collect, sum, noise, save] for each round
    -> model/, scores on a public file, card with the curves

A stopped run (Ctrl-C, kill) goes on from the last round that was stored; see `federated.book` for what is charged when.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from textveil.accounting.deltas import check_delta
from textveil.core import Guarantee, Unit
from textveil.core.facts import DataFacts, Facts
from textveil.core.params import needs
from textveil.federated.book import AccountBook
from textveil.federated.client import ClientSetup, HeldUnits, make_client_app
from textveil.federated.plan import RoundPlan
from textveil.federated.rounds import Federation, Roster, RoundFacts, run_rounds
from textveil.federated.simulation import simulate as simulate_on
from textveil.federated.state import RoundState
from textveil.federated.weights import flat_of, layout_of, put_into
from textveil.recipes.federated.curves import spent_curve
from textveil.recipes.federated.local_dp import PrivateLocalTraining, SitePlans
from textveil.recipes.federated.outcome import model_parameters, promise_of, run_facts, shown_scores, watch_scores
from textveil.recipes.federated.sites_book import SitesBook
from textveil.recipes.federated.strategies import (
    RATES,
    StrategyChoice,
    make_local,
    make_plan,
    make_server_step,
    not_protected,
    parameters_of,
)
from textveil.recipes.federated.tasks import labels_of_start, make_task, save_model
from textveil.recipes.federated.units import UnitData, UnitSource, pairs_of, read_file, read_units
from textveil.recipes.progress import Bar
from textveil.recipes.publish import Publication, publish_job
from textveil.recipes.training.models import check_not_trained_on
from textveil.recipes.training.scores import scores
from textveil.text.examples import check_labels
from textveil.text.readers import FileOptions
from textveil.training.interrupts import Interrupts

STATE = "state.pt"
LOUD = 3.0  # times the longest mean update: noise beyond this drowns what is learnt in a round


@dataclass(frozen=True)
class SimulateJob(FileOptions):
    """Files of users or sites, and the model that they should train together."""

    sources: tuple[Path, ...]
    out: Path
    task: str
    asked: StrategyChoice
    model: Mapping[str, Any] = field(default_factory=dict)  # parameters of the net
    user_field: str | None = None
    label_field: str | None = None
    labels: tuple[str, ...] | None = None
    sites: int | None = None
    split: str = "natural"
    start: Path | None = None
    frozen: tuple[str, ...] = ()
    test: Path | None = None
    workers: int | None = None
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False
    seed: int | None = None
    allow_large_delta: bool = False

    def unit_source(self) -> UnitSource:
        labels = self.labels
        if labels is None and self.start is not None:
            labels = labels_of_start(self.task, self.start) or None
        return UnitSource(
            self.sources, self.task, self.user_field, self.label_field, labels, self.sites, self.split, **self.reading()
        )


@dataclass(frozen=True)
class Prepared:
    """Everything that can fail without touching the budget."""

    job: SimulateJob
    source: UnitSource
    data: UnitData
    plan: RoundPlan
    net: Any
    task: Any
    site_plans: SitePlans | None
    test: list[Any]
    parameters: dict[str, Any]
    beware: list[str]

    @property
    def federation(self) -> Federation:
        return Federation(
            self.plan,
            layout_of(self.net),
            flat_of(self.net),
            make_server_step(self.job.asked),
            apart=self.plan.unit is Unit.CLIENT,
            present=len(self.data.examples),
        )


def simulate(job: SimulateJob, *, bar: Bar, warn: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Train together into a release folder and return what to print."""
    needs("federated", "flwr", "torch")
    names = ", ".join(path.name for path in job.sources[:3]) + (" ..." if len(job.sources) > 3 else "")
    with publish_job(job, f"federate simulate {names}", seed=job.seed) as publication:
        ready = prepare(job)
        for line in ready.beware:
            warn(line)
        state, paid, guarantee = _train(ready, publication, bar)
        put_into(ready.net, state.weights)
        ready.net.eval()
        save_model(ready.net, publication.file("model"))
        test_scores = _test_scores(ready, publication)
        release = publication.finish(
            paid,
            job.asked.mechanism,
            ready.parameters,
            "model",
            guarantee=guarantee,
            passes=_passes(ready),
            facts=_facts(ready, state, test_scores, getattr(guarantee and guarantee.loss, "epsilon", None)),
        )
    return {
        **publication.result(release),
        "task": job.task,
        "strategy": job.asked.strategy,
        "units": ready.plan.users,
        "unit": str(ready.plan.unit),
        "rounds": state.round,
        "noise": ready.plan.noise,
        "epsilon": getattr(release.guarantee.loss, "epsilon", None),
        "delta": job.asked.delta,
        "site_epsilons": ready.site_plans.epsilons() if ready.site_plans else [],
        "scores": test_scores,
        "history": state.history,
        "refused": state.refused,
        "warnings": ready.beware,
    }


def prepare(job: SimulateJob) -> Prepared:
    """Read, check and plan."""
    source = job.unit_source()
    data = read_units(source)
    if job.asked.is_private:
        check_delta(float(job.asked.delta or 0), len(data.examples), allow=job.allow_large_delta)
    plan = make_plan(job.asked, len(data.examples), data.unit)
    task = make_task(job.task, job.model, labels=tuple(data.labels), start=job.start, frozen=job.frozen)
    net = task.build()
    make_server_step(job.asked)
    site_plans = _site_plans(job.asked, plan, data)
    test: list[Any] = []
    if job.test is not None:
        known = replace(source, labels=tuple(data.labels) or None)
        file = read_file(known, job.test, users=False)
        check_not_trained_on(job.test, iter(data.texts), file.texts())
        if data.labels:
            check_labels(file, data.labels, job.test, declared=source.labels is not None)
        test = pairs_of(job.task, file)
    parameters = parameters_of(job.asked, plan, job.task) | model_parameters(job.model, job.start, job.frozen)
    return Prepared(job, source, data, plan, net, task, site_plans, test, parameters, _warnings(plan, net))


def _site_plans(asked: StrategyChoice, plan: RoundPlan, data: UnitData) -> SitePlans | None:
    """What DP-SGD at the sites does and costs; each site's price comes from its own number of examples."""
    if asked.local != "dp-sgd":
        return None
    rounds = asked.rounds  # of a cycle too: each site has one turn in each
    return SitePlans(
        tuple(data.sizes),
        rounds,
        asked.batch,
        asked.epochs,
        asked.clip if asked.clip is not None else 0.2,
        float(asked.delta or 0),
        asked.noise,
        asked.epsilon,
    )


def _warnings(plan: RoundPlan, net: Any) -> list[str]:
    """What the plan alone tells."""
    if not plan.is_private or plan.sampling == "in-turn":
        return []
    learnt = layout_of(net).size
    ratio = plan.update_noise * learnt**0.5 / plan.per_round
    if ratio <= LOUD:
        return []
    return [
        f"the noise of a round is {ratio:.3g} times as long as a mean update can be ({learnt:,} numbers learn): more users a "
        "round, fewer learnt numbers (--frozen), or a public start (--start) help"
    ]


# ---- training ----------------------------------------------------------------------------------------------------------


def _train(ready: Prepared, publication: Publication, bar: Bar) -> tuple[RoundState, Any, Guarantee | None]:
    job, plan = ready.job, ready.plan
    fingerprint = publication.account.fingerprint().update_all(ready.data.texts)
    binding = publication.bound(
        sources=[str(path.name) for path in job.sources],
        fields=[job.text_field, job.label_field, job.user_field, job.format, job.sites, job.split],
        parameters=ready.parameters,
        frozen=list(job.frozen),
    )
    book: AccountBook
    if ready.site_plans is None:
        book = AccountBook(
            publication.account, plan, publication.work(STATE), data=fingerprint.hexdigest(), binding=binding
        )
        local: Any = make_local(job.asked)
    else:
        event = replace(ready.site_plans.event(), mechanism=job.asked.mechanism)
        paid = publication.account.charge(event, data=fingerprint.hexdigest(), binding=binding)
        again = replace(ready.site_plans.event(1), mechanism=job.asked.mechanism)
        book = SitesBook(publication.account, plan, publication.work(STATE), paid=paid, again=again)
        rate = job.asked.rate if job.asked.rate is not None else RATES["dp-sgd"]
        local = PrivateLocalTraining(ready.site_plans.by_size, paid.parts(), rate)
    state = _rounds(ready, book, local, bar)
    return state, book.last_paid(), _promise(ready, publication)


def _rounds(ready: Prepared, book: AccountBook, local: Any, bar: Bar) -> RoundState:
    job, plan, workers = ready.job, ready.plan, workers_of(ready.job.workers, ready.data)
    users: Any = ready.source if workers else HeldUnits(ready.data.examples)
    threads = 1 if workers else None
    setup = ClientSetup(ready.task, users, local, threads, sends_examples=job.asked.strategy == "central")
    with Interrupts() as interrupts, bar("training", plan.rounds, "rounds") as advance:
        done = [0]

        def progress(facts: RoundFacts) -> None:
            advance(facts.round - done[0])
            done[0] = facts.round

        def run(grid: Any) -> RoundState:
            options: dict[str, Any] = {
                "watch": watch_scores(ready.task, ready.test, plan.rounds),
                "progress": progress,
                "stop": lambda: interrupts.asked,
                "roster": _roster(grid, ready.data.names),
            }
            if job.asked.strategy == "central":
                from textveil.federated.central import run_central

                steps = max(1, -(-max(ready.data.sizes) * job.asked.epochs // job.asked.batch))
                return run_central(grid, ready.federation, book, ready.net, local, steps=steps, **options)
            return run_rounds(grid, ready.federation, book, **options)

        state: RoundState = simulate_on(run, make_client_app(setup), workers)
    return state


def _roster(grid: Any, names: list[str]) -> Roster:
    nodes = tuple(grid.get_node_ids())
    return Roster(nodes, names={node: f"worker {k + 1}" for k, node in enumerate(nodes)}, units=names)


def workers_of(asked: int | None, data: UnitData) -> int:
    """As asked; else one for each core, and none where starting them would take longer than the training."""
    if asked is not None:
        return asked
    small = sum(data.sizes) < 20_000
    return 0 if small else len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ---- what is promised and said -----------------------------------------------------------------------------------------


def _promise(ready: Prepared, publication: Publication) -> Guarantee | None:
    """The promise of all charges of this run together; None where nothing is promised."""
    if not ready.plan.is_private and ready.site_plans is None:
        return None
    return promise_of(publication, float(ready.job.asked.delta or 0))


def _passes(ready: Prepared) -> tuple[str, ...]:
    kind = {"tagger": "tags", "classifier": "classes"}.get(ready.job.task)
    if kind is None or ready.source.labels is not None:
        return ()
    return (f"the list of {kind} was taken from the training files",)


def _test_scores(ready: Prepared, publication: Publication) -> dict[str, Any]:
    if ready.job.test is None:
        return {}
    from textveil.training.saved import load

    model = load(publication.file("model"))
    file = read_file(ready.source, ready.job.test, users=False)
    return scores(model, file)


def _facts(ready: Prepared, state: RoundState, test_scores: dict[str, Any], epsilon: float | None) -> Facts:
    job, plan, asked = ready.job, ready.plan, ready.job.asked
    spent = spent_curve(plan, asked.delta, ready.site_plans, epsilon)
    prices = ready.site_plans.epsilons() if ready.site_plans else ()
    names = ", ".join(path.name for path in job.sources)
    return Facts(
        data=DataFacts(names, datetime.now(UTC).date().isoformat(), text_field=job.text_field),
        federation=run_facts(asked, plan, state, spent, prices),
        scores=shown_scores(job.task, test_scores, job.test),
        not_protected=not_protected(asked, plan.unit, simulated=True) + _split_note(job),
        beware=tuple(ready.beware),
    )


def _split_note(job: SimulateJob) -> tuple[str, ...]:
    if job.split == "natural" and job.sites is None:
        return ()
    return ("examples were dealt to the units for this run: a unit is no person, and no person is protected by it",)
