"""Who may draw: nobody before the charge is on disk, nobody under another run's charge."""

from __future__ import annotations

from dataclasses import replace

import pytest

from textveil.accounting.account import Account, PartNoise, unrecorded
from textveil.accounting.journal import Journal
from textveil.accounting.ledger import Ledger
from textveil.core import Adjacency, BadInput, BudgetExceeded, Event, MetricNoise, OtherData, Refused, Unit

EVENT = Event(MetricNoise(0.5, "hamming", "ab12"), Unit.WORD, Adjacency.METRIC, mechanism="words.test")
DATA, OTHER = "11" * 32, "22" * 32


@pytest.fixture
def path(tmp_path):
    return tmp_path / "l.ledger"


def pay(tmp_path, path, event=EVENT, data=DATA, binding=None, **options):
    """One run, from its journal to its charge; what is left is what a killed run leaves."""
    with Journal(tmp_path / "run") as journal:
        account = Account(path, journal, note="test", **options)
        paid = account.charge(event, data=data, binding=binding or {"out": "a"})
        return paid.entry, list(account.notices)


def test_a_run_that_is_taken_up_is_not_charged_again(tmp_path, path):
    first, _ = pay(tmp_path, path)
    second, _ = pay(tmp_path, path)
    assert first == second
    assert len(Ledger(path).entries()) == 1


@pytest.mark.parametrize(
    "changed",
    [{"data": OTHER}, {"binding": {"out": "b"}}, {"event": replace(EVENT, noise=MetricNoise(0.7, "hamming", "ab12"))}],
    ids=["data", "place", "event"],
)
def test_another_run_does_not_get_its_charge(tmp_path, path, changed):
    pay(tmp_path, path)
    with pytest.raises(BadInput, match="unfinished run of another command"):
        pay(tmp_path, path, **changed)
    assert len(Ledger(path).entries()) == 1


def test_without_its_ledger_a_run_is_not_taken_up(tmp_path, path):
    pay(tmp_path, path)
    path.unlink()
    with pytest.raises(Refused, match="no longer holds the charge"):
        pay(tmp_path, path)
    Ledger(path)
    with pytest.raises(Refused, match="no longer holds the charge"):
        pay(tmp_path, path)


def test_without_a_ledger_the_journals_key_tells_the_data(tmp_path):
    marks = []
    for _ in range(2):
        with Journal(tmp_path / "run") as journal:
            marks.append(Account(None, journal).fingerprint().update("tea").hexdigest())
    assert marks[0] == marks[1]
    assert Account(None).fingerprint().update("tea").hexdigest() != marks[0]


def test_a_refused_charge_gives_no_noise_and_notes_nothing(tmp_path, path):
    Ledger.new(path, unit="word", metric="hamming", epsilon=0.4)
    with pytest.raises(BudgetExceeded):
        pay(tmp_path, path)
    with Journal(tmp_path / "run") as journal:
        assert journal.charges() == []


def test_other_data_under_one_ledger(tmp_path, path):
    Account(path).charge(EVENT, data=DATA)
    with pytest.raises(OtherData):
        Account(path).charge(EVENT, data=OTHER)
    with pytest.raises(OtherData, match="cannot recognise"):
        Account(path).charge(EVENT, data=None)
    assert Account(path, other_data=True).charge(EVENT, data=OTHER).entry


def test_an_earlier_line_vouches_for_the_data(path):
    first = Account(path).charge(EVENT, data=DATA).entry
    assert Account(path).charge(EVENT, data=None, of=first).entry != first
    with pytest.raises(Refused, match="does not hold the charge"):
        Account(path).charge(EVENT, data=None, of="0123456789abcdef")


def test_a_missing_ledger_is_announced(tmp_path, path):
    assert "did not exist and was made" in pay(tmp_path, path)[1][0]
    assert pay(tmp_path, path, binding={"out": "a"})[1] == []


def test_a_seed_makes_a_draft_whatever_is_claimed(path):
    paid = Account(path, seed=7).charge(EVENT, data=DATA)
    assert paid.draft and paid.noise().seeded
    release = paid.release(["x"], "words.test", {})
    assert release.guarantee.label == "seeded" and release.stamp.draft
    assert Ledger(path).total() == []


def test_the_release_carries_entry_and_head(path):
    account = Account(path)
    paid = account.charge(EVENT, data=DATA)
    release = paid.release(["x"], "words.test", {}, passes=("a", "a", "b"))
    assert release.entry == paid.entry and release.head == Ledger(path).head
    assert release.passes == ("a", "b") and release.entries is None
    account.charge(EVENT, data=DATA, step="again")
    assert paid.release(["x"], "words.test", {}).entries == tuple(e.id for e in Ledger(path).entries())


def test_parts_have_noise_of_their_own():
    assert (PartNoise(3).of(0).words(4) != PartNoise(3).of(1).words(4)).all()
    assert (PartNoise(3).of(1).words(4) == PartNoise(3).of(1).words(4)).all()
    assert not PartNoise(None).of(0).seeded and not unrecorded(None).seeded and unrecorded(1).seeded


def test_a_bad_seed_is_told_before_anything_is_read(path):
    with pytest.raises(BadInput, match="seed must be a whole number"):
        Account(path, seed=-1)
    assert not path.exists()


def test_a_release_names_the_lines_of_stopped_runs_too(tmp_path, path):
    first, _ = pay(tmp_path, path)
    with Journal(tmp_path / "run") as journal:
        account = Account(path, journal)
        account.charge(EVENT, data=DATA, binding={"out": "a"})
        account.charge(EVENT, data=None, of=first, step="again 1")
    with Journal(tmp_path / "run") as journal:
        release = Account(path, journal).charge(EVENT, data=DATA, binding={"out": "a"}).release([], "words.test", {})
    lines = [entry.id for entry in Ledger(path).entries()]
    assert (release.entry, release.entries, release.head) == (lines[-1], tuple(lines), Ledger(path).head)
