"""Several processes at once, and kill -9 at any point: never overspent, never a release without its charge.

Each test runs one fresh interpreter that forks its own children, so that nothing is forked from the test runner. The kills
fall at random moments; what is asserted must hold for every one of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from waiting import GENEROUS

from textveil.accounting.ledger import Ledger

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

_PRELUDE = """
import os, random, signal, sys, time
from pathlib import Path
from textveil.accounting.ledger import Ledger
from textveil.core import Adjacency, BudgetExceeded, Event, MetricNoise, Unit

ledger_path, log_path = Path(sys.argv[1]), Path(sys.argv[2])

def event(epsilon):
    return Event(MetricNoise(epsilon, "hamming", "ab12"), Unit.WORD, Adjacency.METRIC)

def log(text):
    descriptor = os.open(log_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, (text + "\\n").encode())
    os.close(descriptor)

def fork(work):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child

def join(children):
    for child in children:
        if os.waitpid(child, 0)[1] != 0:
            sys.exit("a child failed")
"""


def run(script: str, folder: Path) -> tuple[Path, list[str]]:
    ledger, log = folder / "shared.ledger", folder / "log"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_PRELUDE) + textwrap.dedent(script), str(ledger), str(log)],
        capture_output=True,
        text=True,
        timeout=GENEROUS,
    )
    assert done.returncode == 0, done.stderr
    return ledger, log.read_text().split() if log.exists() else []


def test_eight_processes_never_spend_more_than_the_budget(tmp_path):
    ledger, log = run(
        """
        ledger = Ledger.new(ledger_path, unit="word", metric="hamming", epsilon=2.0)

        def spend():
            try:
                while True:
                    log(ledger.charge(event(0.1)).id)
            except BudgetExceeded:
                return

        join([fork(spend) for _ in range(8)])
        """,
        tmp_path,
    )
    assert Ledger(ledger).verify().startswith("22:")  # opened, budget, 20 charges of 0.1
    assert sorted(log) == sorted(entry.id for entry in Ledger(ledger).entries())
    assert Ledger(ledger).total()[0].loss.epsilon == pytest.approx(2.0, rel=1e-12)


def test_eight_processes_that_make_the_same_ledger_share_one(tmp_path):
    ledger, log = run(
        """
        waiting, starter = os.pipe()

        def make_and_charge():
            os.close(starter)
            os.read(waiting, 1)  # returns when the last starter is closed
            log(Ledger(ledger_path).charge(event(0.1)).id)

        children = [fork(make_and_charge) for _ in range(8)]
        os.close(starter)
        join(children)
        """,
        tmp_path,
    )
    assert len(log) == 8
    assert sorted(log) == sorted(entry.id for entry in Ledger(ledger).entries())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log", "shared.ledger"]


def test_after_kill_9_no_release_lacks_its_charge(tmp_path):
    ledger, log = run(
        """
        class Logged:
            name, seed = "test.logged", None
            def __init__(self, tag):
                self.tag = tag
            def event(self, shape):
                return event(0.1)
            def apply(self, data, *, noise):
                log(self.tag)  # from here on something may have left
                return data

        def release(name, count):
            for i in range(count):
                tag = f"{name}-{i}"
                Ledger(ledger_path).release(Logged(tag), ["text"], note=tag)

        release("first", 1)
        began = time.perf_counter()
        release("parent", 4)
        one_release = (time.perf_counter() - began) / 4  # so that the kills fall among releases on any machine

        for round in range(40):
            children = [fork(lambda: release(f"{round}-{c}", 10_000)) for c in range(2)]
            time.sleep(random.uniform(0, 5 * one_release))
            for child in children:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        """,
        tmp_path,
    )
    opened = Ledger(ledger)
    opened.verify()
    charged = [entry.note for entry in opened.entries()]
    assert len(charged) == len(set(charged))
    assert len(log) >= 5
    assert set(log) <= set(charged)
    assert len(charged) - len(log) <= 80  # each kill leaves at most one charge without its release
    opened.charge(opened.entries()[0].event)


def test_a_writer_that_is_killed_inside_its_transaction_leaves_the_ledger_as_it_was(tmp_path):
    ledger, log = run(
        """
        from textveil.accounting import ledger_file
        Ledger(ledger_path).charge(event(0.1), note="kept")

        def die_before_the_commit():
            with ledger_file.writing(ledger_path) as file:
                file._db.execute("PRAGMA cache_size = 0")  # spill, so that the file itself has been written to
                file._db.execute("DELETE FROM lines")
                file._db.execute("INSERT INTO meta VALUES ('filler', zeroblob(400000))")
                log("inside")
                os.kill(os.getpid(), signal.SIGKILL)

        os.waitpid(fork(die_before_the_commit), 0)
        """,
        tmp_path,
    )
    assert log == ["inside"]
    assert (tmp_path / "shared.ledger-journal").exists()  # the journal that the next reader rolls back
    assert [entry.note for entry in Ledger(ledger).entries()] == ["kept"]
    Ledger(ledger).verify()
