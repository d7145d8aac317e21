"""What is said of a federated run when it is over: its promise, its curves and scores on the card."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from textveil.accounting.prices import total
from textveil.core import Approx, Guarantee
from textveil.core.events import event_from_json
from textveil.core.facts import FederationRun, ModelScores
from textveil.federated.plan import RoundPlan
from textveil.federated.state import RoundState
from textveil.federated.weights import put_into
from textveil.recipes.federated.curves import Curve, score_curve
from textveil.recipes.federated.strategies import StrategyChoice
from textveil.recipes.publish import Publication
from textveil.recipes.training.scores import score_lines

WATCHED = 25  # points of the curves, at most
Watch = Callable[[RoundState], Mapping[str, float]]


def promise_of(publication: Publication, delta: float) -> Guarantee | None:
    """The promise of all charges of a run together, those for rounds done again too; None for a draft."""
    journal = publication.account.journal
    charges = journal.charges() if journal is not None else []
    events = [event_from_json(charge["bound"]["event"]) for charge in charges]
    if not events or any(charge["draft"] for charge in charges):
        return None
    epsilon, first = float(getattr(total(events, delta=delta), "epsilon", 0.0)), events[0]
    return Guarantee(Approx(epsilon, delta), first.unit, first.adjacency, first.assumes, first.source)


def run_facts(
    asked: StrategyChoice, plan: RoundPlan, state: RoundState, spent: Curve, site_epsilons: Sequence[float] = ()
) -> FederationRun:
    """The plan that was followed, with its curves.

    Who was left out, how often and why is exact: it says that a user or a site was drawn in a round, which the price takes
    to be secret, and that its text failed. So it is shown only where nothing is promised; the operator hears it in any case.
    """
    score, points = score_curve(state.history)
    promised = plan.is_private or asked.local == "dp-sgd"
    return FederationRun(
        strategy=asked.strategy,
        rounds=state.round,
        units=plan.users,
        per_round=plan.per_round,
        unit=str(plan.unit),
        local=asked.local,
        sampling=plan.sampling,
        clip=plan.clip,
        clipping=plan.clipping,
        noise=plan.noise or None,
        score=score,
        scores=points,
        spent=spent,
        site_epsilons=tuple(site_epsilons),
        refused={} if promised else dict(state.refused),
    )


def shown_scores(task: str, scores: Mapping[str, Any], test: Path | None) -> ModelScores | None:
    """The scores on a public file, as the card shows them."""
    numbers = {name: float(value) for name, value in scores.items() if isinstance(value, (int, float))}
    if test is None or not numbers:
        return None
    return ModelScores(tuple(score_lines(task, dict(scores))), numbers, test.name)


def model_parameters(model: Mapping[str, Any], start: Path | None, frozen: Sequence[str]) -> dict[str, Any]:
    """The parameters of the net, as a release shows them."""
    shown = {name: value for name, value in model.items() if isinstance(value, (str, int, float))}
    if start is not None:
        shown["start"] = start.name
    return shown | ({"frozen": ", ".join(frozen)} if frozen else {})


def watch_scores(task: Any, test: Sequence[Any], rounds: int) -> Watch | None:
    """Scores on the public file, for some of the rounds and the last."""
    if not test:
        return None
    every, net = max(1, rounds // WATCHED), task.build()

    def watch(state: RoundState) -> Mapping[str, float]:
        if state.round % every and state.round != rounds:
            return {}
        put_into(net, state.weights)
        scored: Mapping[str, float] = task.evaluate(net, test)
        return scored

    return watch


__all__ = ["model_parameters", "promise_of", "run_facts", "shown_scores", "watch_scores"]
