"""Attack a folder of a model that users trained together. The adversary has the model's folder.

    federated.secret_sharer   --truth canaries.json   planted sentences ranked by the model among random ones
    federated.beam_search     --truth canaries.json   planted sentences that the model writes out after their first word
    federated.one_run         --truth canaries.json   (with canary users) a lower limit on the user-level epsilon

canaries.json is made by `textveil federate canaries`, which also writes the data to train on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from textveil.attacks.federated.seen import NextWordsSeen
from textveil.attacks.federated.sharers import SharedCanaries
from textveil.attacks.training.seen import CanariesSeen
from textveil.core import BadInput
from textveil.core.params import needs
from textveil.noise import Source
from textveil.recipes.audit import AuditJob, AuditRoom, Filling
from textveil.recipes.training.audit import losses_of, needed_file


@dataclass(frozen=True)
class FederatedFolder:
    """A folder of a federated model, opened."""

    net: Any
    job: AuditJob

    @property
    def canaries(self) -> SharedCanaries:
        return SharedCanaries.load(needed_file(self.job.truth))

    def next_words_seen(self, rng: Source) -> NextWordsSeen:
        if not hasattr(self.net, "negative_logs"):
            raise BadInput("only a language model writes words", where=self.job.folder)
        return next_words_seen(self.net, self.canaries)

    def canary_users_seen(self, rng: Source) -> CanariesSeen:
        canaries = self.canaries
        if not canaries.users:
            possible = "textveil federate canaries --canary-users 200"
            raise BadInput("names no canary users", where=self.job.truth, possible=possible)
        return CanariesSeen(losses_of(self.net), canaries.canary_users)


def next_words_seen(net: Any, canaries: SharedCanaries) -> NextWordsSeen:
    """A language model as a black box."""
    from textveil.nets.next_words import next_word_logs

    net.eval()
    return NextWordsSeen(lambda rows: next_word_logs(net, rows), net.names, canaries)


def open_federated(job: AuditJob, manifest: dict[str, Any]) -> FederatedFolder:
    """The model of a folder."""
    needs("federated", "torch")
    from textveil.nets.folders import load_net

    return FederatedFolder(load_net(job.folder), job)


ROOM = AuditRoom(
    open_federated,
    (
        Filling(NextWordsSeen, FederatedFolder.next_words_seen, asks=("canaries",)),
        Filling(CanariesSeen, FederatedFolder.canary_users_seen, asks=("canaries",)),
    ),
)
