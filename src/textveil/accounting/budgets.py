"""What a data set may spend, and when a charge is refused.

- A budget names a unit and either a metric by name, a precision of counts, or nothing more: then it bounds (epsilon,
  delta) under the stated adjacency, or under all of them.
- A ledger without budgets only keeps track. With budgets, a charge needs at least one that covers it, and every one that
  covers it must hold.
- A budget for a metric name bounds the *sum* over all vectors or codes of that name. Their losses have no sum as a promise,
  but a bound for each alone would let anyone spend without end by changing the codes.
- A budget without an adjacency bounds the sum of the epsilons over the adjacencies in use, each priced at an equal share
  of its delta, for the same reason.
- A later budget of the same scope (unit, metric, adjacency) replaces the earlier one. Both stay as lines of the chain, so a
  raised budget is visible to whoever reads the ledger.
- A charge for a larger unit also draws on the budgets of the smaller units inside it, where `containment` knows how.
- Releases without a price (measured, heuristic, broken, seeded) have no place in a budget: a ledger that has budgets refuses
  them unless the caller says `unpriced`. Cryptographic ones bound nothing that adds up and are listed.
- Charges may be chosen in view of earlier results, so what fits is decided by the rules that are proven for that
  (`filters`); sums of metric losses are such a rule by themselves, since they bound every single path. `spent` is what the
  charges cost if they had been planned: it is what a reader is shown, and never above what the rules allowed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from textveil.core.errors import BadParameter, BudgetExceeded, CannotAdd
from textveil.core.events import Event
from textveil.core.losses import COUNTS_METRIC, Approx, LimitedPrecision, Loss, Metric, downward, upward
from textveil.core.params import choice, positive, positive_integer
from textveil.core.units import Adjacency, Unit

from .containment import for_part, parts_of
from .filters import Tally
from .totals import Question, add_up

ROUNDING = 1e-12  # relative; so that 0.1 + 0.2 fits into 0.3. Totals are replayed, so it never accumulates

Groups = Mapping[Question, Sequence[Event]]
Tallies = Mapping[tuple[Unit, Adjacency], Tally]


@dataclass(frozen=True)
class Spent:
    epsilon: float = 0.0
    delta: float = 0.0


@dataclass(frozen=True)
class Budget:
    """An upper bound for one unit.

    >>> Budget.of("word", 0.8, metric="hamming").scope
    'unit: word, metric: hamming'
    """

    unit: Unit
    epsilon: float
    delta: float = 0.0
    metric: str | None = None
    adjacency: Adjacency | None = None
    precision: int | None = None

    @classmethod
    def of(
        cls,
        unit: str,
        epsilon: float,
        delta: float = 0.0,
        metric: str | None = None,
        adjacency: str | None = None,
        precision: int | None = None,
    ) -> Budget:
        """Check every part and name the one that is wrong."""
        if not isinstance(delta, (int, float)) or isinstance(delta, bool) or not 0 <= delta < 1:
            raise BadParameter("delta", delta, "a number from 0 to below 1")
        if precision is not None:
            positive_integer("precision", precision)
            metric = COUNTS_METRIC if metric is None else metric
            if metric != COUNTS_METRIC:
                raise BadParameter("precision", precision, f"left out for the metric {metric}")
        elif metric == COUNTS_METRIC:
            precision = 1
        if metric is not None:
            if adjacency not in (None, Adjacency.METRIC):
                raise BadParameter("adjacency", str(adjacency), "left out (or 'metric') for a metric")
            if delta and precision is None:
                raise BadParameter("delta", delta, "0 for a metric")
            adjacency = Adjacency.METRIC
        elif adjacency == Adjacency.METRIC:
            raise BadParameter("metric", metric, "named for a budget with adjacency 'metric'")
        return cls(
            Unit(choice("unit", unit, [str(u) for u in Unit])),
            positive("epsilon", epsilon),
            float(delta),
            metric,
            None if adjacency is None else Adjacency(choice("adjacency", adjacency, [str(a) for a in Adjacency])),
            precision,
        )

    @property
    def scope(self) -> str:
        named = [f"unit: {self.unit}"]
        if self.metric is not None:
            named.append(f"metric: {self.metric}")
        elif self.adjacency is not None:
            named.append(f"adjacency: {self.adjacency}")
        return ", ".join(named)

    def covers(self, question: Question) -> bool:
        if question.unit != self.unit or question.metric != (self.metric or ""):
            return False
        return self.adjacency in (None, question.adjacency)

    def bears(self, event: Event) -> bool:
        """True when an event draws on this budget: it is covered, or made for a larger unit and can be converted."""
        return self.covers(Question.of(event)) or (self.metric is None and for_part(event, self.unit) is not None)

    def spent(self, groups: Groups) -> Spent:
        """What the charges used of this budget, in its own terms."""
        mine = self._lists(groups)
        if not mine:
            return Spent()
        losses = [add_up(events, self.delta / len(mine)) for events in mine]
        parts = [self._part(loss) for loss in losses]
        return Spent(math.fsum(p.epsilon for p in parts), math.fsum(p.delta for p in parts))

    def _lists(self, groups: Groups) -> list[list[Event]]:
        """The events that bear on this budget, one list for each adjacency."""
        lists = {q: list(events) for q, events in groups.items() if self.covers(q) and events}
        if self.metric is None:
            larger = [part for events in groups.values() for part in parts_of(events, self.unit)]
            if larger:
                replaced = Question(self.unit, Adjacency.REPLACE if self.adjacency is None else self.adjacency)
                lists.setdefault(replaced, []).extend(larger)
        return list(lists.values())

    def adjacencies(self, groups: Groups) -> list[Adjacency]:
        """The adjacencies that this budget has to hold under."""
        if self.adjacency is not None:
            return [self.adjacency]
        return list(dict.fromkeys(events[0].adjacency for events in self._lists(groups)))

    def _part(self, loss: Loss) -> Spent:
        match loss:
            case LimitedPrecision(epsilon, n, delta) if self.precision is not None:
                return Spent(epsilon / n * self.precision, delta)
            case Metric(epsilon) if self.metric is not None:
                return Spent(epsilon)
            case Approx(epsilon, delta) if self.metric is None:
                return Spent(epsilon, delta)
        raise CannotAdd(f"a loss of kind '{loss.kind}' has no place in a budget for {self.scope}")

    def holds(self, spent: Spent) -> bool:
        return spent.epsilon <= self.epsilon * (1 + ROUNDING) and spent.delta <= self.delta * (1 + ROUNDING)

    def to_json(self) -> dict[str, Any]:
        return {k: v for k, v in asdict(self).items() if v is not None}


def check_budgets(name: str, budgets: Sequence[Budget], before: Groups, tallies: Tallies, event: Event) -> None:
    """Raise BudgetExceeded if the budgets do not cover one more event; `tallies` already hold it."""
    if not budgets:
        return
    question = Question.of(event)
    if not any(b.covers(question) for b in budgets):
        raise BudgetExceeded(_no_budget(name, budgets, question))
    after = {**before, question: [*before.get(question, ()), event]}
    for budget in budgets:
        if budget.bears(event) and not _holds(budget, after, tallies):
            raise BudgetExceeded(_too_much(name, budget, budget.spent(before), budget.spent(after)))


def _holds(budget: Budget, after: Groups, tallies: Tallies) -> bool:
    if budget.metric is not None:
        return budget.holds(budget.spent(after))
    adjacencies = budget.adjacencies(after)
    most = budget.epsilon * (1 + ROUNDING), budget.delta * (1 + ROUNDING)
    if not all(tallies[budget.unit, adjacency].fits(*most) for adjacency in adjacencies):
        return False
    return len(adjacencies) == 1 or budget.holds(budget.spent(after))  # the sum over adjacencies is a rule of its own


def _no_budget(name: str, budgets: Sequence[Budget], question: Question) -> str:
    wanted = f"metric: {question.metric}" if question.metric else f"adjacency: {question.adjacency}"
    there = " or ".join(f"({b.scope})" for b in budgets)
    return (
        f"ledger '{name}' has no budget for this release (unit: {question.unit}, {wanted}), only for {there}. "
        "Open one with `textveil ledger allow`."
    )


def _too_much(name: str, budget: Budget, before: Spent, after: Spent) -> str:
    remedy = "Lower --epsilon or open a new budget."
    slack = f" at delta {budget.delta:g}" if budget.delta else ""
    left, asks = max(0.0, budget.epsilon - before.epsilon), after.epsilon - before.epsilon
    has = f"ledger '{name}' has epsilon {downward(left, 6)} left{slack} ({budget.scope})"
    if after.epsilon > budget.epsilon and math.isfinite(after.epsilon):
        return f"{has}; this release asks {upward(asks, 6)}. {remedy}"
    delta_left, delta_asked = max(0.0, budget.delta - before.delta), after.delta - before.delta
    if delta_asked > delta_left:
        return (
            f"ledger '{name}' has delta {downward(delta_left, 3)} left ({budget.scope}); this release asks "
            f"{upward(delta_asked, 3)}. {remedy}"
        )
    if math.isfinite(after.epsilon):
        return (
            f"{has}; this release would fit if all charges had been planned together, but since each may depend on "
            f"earlier results they are added up more strictly. {remedy}"
        )
    return (
        f"ledger '{name}' has a budget with delta {budget.delta:g} ({budget.scope}), at which this release has no finite "
        "epsilon. Open a budget with a larger delta."
    )
