"""The account of sites that train under DP-SGD by themselves: the whole plan is charged first, lost rounds once more."""

from __future__ import annotations

from pathlib import Path

from textveil.accounting.account import Account, Paid
from textveil.core import Event
from textveil.federated.book import AccountBook
from textveil.federated.plan import RoundPlan
from textveil.federated.state import RoundState, save_state
from textveil.noise import Source


class SitesBook(AccountBook):
    """`paid`: the charge for all rounds; `again`: what one round costs that was begun, lost and is done again."""

    def __init__(self, account: Account, plan: RoundPlan, path: Path, *, paid: Paid, again: Event) -> None:
        super().__init__(account, plan, path, data=None, binding={})
        self.whole, self.again = paid, again
        self.paid = paid

    def begin(self, step: str, *, tree_rounds: int = 0) -> Source:
        journal = self.account.journal
        if journal is not None:
            if journal.is_open(step):
                self.account.charge(
                    self.again,
                    data=None,
                    of=self.whole.entry,
                    step=f"again {journal.count('repeated')}",
                    note=f"{self.account.note}: steps done again ({step})",
                )
            journal.note_begun(step)
        return self.whole.noise()

    def done(self, state: RoundState) -> None:
        save_state(self.path, state)
        if self.account.journal is not None:
            self.account.journal.note_done(f"round {state.round}")
