"""Who pays for a round, and where it is kept: the loop's side of the account and of the checkpoint.

Claim. Before anything of a round is sent, its charge is on disk (ledger and journal) and the round is noted as begun; after
its result is stored it is noted as done. A round that was begun and not done is charged anew when it is done again, with
fresh noise and a fresh sample: no noise is drawn twice for one charge, no charge is lost.
- Sampled rounds: one charge a round (`round 7`).
- Rounds in turn (DP-FTRL): one charge a tree, before its first round. If one of its rounds was begun and lost, the tree is
  given up: the rounds that remain begin a new one, charged anew.
- Rounds without noise: one unpriced charge for the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from textveil.accounting.account import Account, Paid
from textveil.core import Event, event_from_json
from textveil.noise import Source

from .plan import RoundPlan
from .state import RoundState, load_state, save_state


class Book(Protocol):
    """What the round loop asks of whoever keeps the account. A step is "round 7", or "tree 1+16" (16 rounds from the
    first on)."""

    def resume(self) -> RoundState | None:
        """The state to go on from, or None."""
        ...

    def begin(self, step: str, *, tree_rounds: int = 0) -> Source:
        """Pay for a step, on disk, unless this very step was paid for and none of its rounds was lost; the source of a
        round's sample and noise."""
        ...

    def is_lost(self, step: str) -> bool:
        """Whether a round of this step was begun before and never done."""
        ...

    def done(self, state: RoundState) -> None:
        """Store the state after a round; only then is the round done."""
        ...


class FreeBook:
    """No account and no disk: all rounds draw from one source. For estimators outside a ledger, and for tests."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def resume(self) -> RoundState | None:
        return None

    def begin(self, step: str, *, tree_rounds: int = 0) -> Source:
        return self.source

    def is_lost(self, step: str) -> bool:
        return False

    def done(self, state: RoundState) -> None:
        """Nothing is kept."""


class AccountBook:
    """The account of a publication, and one file of state.

    data: the data's fingerprint; binding: what makes two runs the same run; event: what a round costs, in the place of
    the plan's own (sites that train under DP-SGD by themselves).
    """

    def __init__(
        self,
        account: Account,
        plan: RoundPlan,
        path: Path,
        *,
        data: str | None,
        binding: Mapping[str, Any],
        event: Event | None = None,
    ) -> None:
        self.account, self.plan, self.path, self.data = account, plan, path, data
        self.binding, self.event = dict(binding), event
        self.paid: Paid | None = None

    def resume(self) -> RoundState | None:
        return load_state(self.path) if self.path.is_file() else None

    def begin(self, step: str, *, tree_rounds: int = 0) -> Source:
        is_priced = self.plan.is_private or self.event is not None
        self.paid = self.account.charge(
            self._event(tree_rounds),
            data=self.data,
            binding=self.binding,
            step=step if is_priced else "release",
            seen=is_priced,
            note=f"{self.account.note}: {step}" if is_priced else None,
        )
        return self.paid.noise()

    def is_lost(self, step: str) -> bool:
        return self.account.journal is not None and self.account.journal.is_open(step)

    def done(self, state: RoundState) -> None:
        save_state(self.path, state)
        if self.paid is not None and self.paid.seen:
            self.paid.done()

    def last_paid(self) -> Paid:
        """The charge that the release names: of the last round, also where a run was taken up after its last round."""
        if self.paid is None:
            journal = self.account.journal
            assert journal is not None, "a run that did nothing was taken up from a journal"
            last = journal.charges()[-1]
            event = event_from_json(last["bound"]["event"])
            self.paid = self.account.charge(event, data=self.data, binding=self.binding, step=last["step"])
        return self.paid

    def _event(self, tree_rounds: int) -> Event:
        if self.event is not None:
            return self.event
        return self.plan.tree_event(tree_rounds) if tree_rounds else self.plan.round_event()
