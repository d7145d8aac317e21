"""A journey with steps whose output is seen at once, as a federated round's is: the server sends it before it is stored.

`seen.txt` is the outside world: every line is an output that somebody has. The law: never more of them than charges.
"""

from __future__ import annotations

import os
from pathlib import Path

from textveil.core import Adjacency, Event, GaussianNoise, Unit
from textveil.core.files import write_whole
from textveil.recipes.publish import publish

ROUNDS = 3
EVENT = Event(GaussianNoise(1.0), Unit.USER, Adjacency.ADD_REMOVE, mechanism="test.rounds")


def run_rounds(folder: Path, ledger: str) -> None:
    """Charge, draw, show and store, round by round; a release at the end."""
    with publish(folder / "out", "rounds", ledger=folder / ledger) as publication:
        account = publication.account
        for number in range(ROUNDS):
            step, stored = f"round {number}", publication.work(f"round-{number}")
            if account.journal.is_done(step):
                continue
            paid = account.charge(EVENT, data="11" * 32, step=step, seen=True)
            show(folder / "seen.txt", f"{step} {paid.noise().words(1)[0]}")
            write_whole(stored, "done")
            paid.done()
        publication.file("data.txt").write_text("model\n")
        publication.finish(paid_again(publication), "test.rounds", {}, "data.txt", delta=1e-6)


def paid_again(publication):
    """The last round's charge, which the release names."""
    return publication.account.charge(EVENT, data="11" * 32, step=f"round {ROUNDS - 1}")


def show(path: Path, line: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(handle, f"{line}\n".encode())
    os.fsync(handle)
    os.close(handle)
