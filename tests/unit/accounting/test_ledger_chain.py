"""What the chain of a ledger notices, and which files are no ledger."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

import pytest

from textveil.accounting import ledger as ledger_module
from textveil.accounting import ledger_file
from textveil.accounting.chain import START
from textveil.accounting.ledger import Ledger
from textveil.core import Adjacency, BadInput, BrokenChain, Event, MetricNoise, Unit


def word(epsilon: float) -> Event:
    return Event(MetricNoise(epsilon, "hamming", "ab12"), Unit.WORD, Adjacency.METRIC, mechanism="words.brr")


def raw(path: Path, sql: str, *values: object) -> None:
    db = sqlite3.connect(path)
    try:
        with db:
            db.execute(sql, values)
    finally:
        db.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.ledger"


@pytest.fixture
def filled(path) -> Ledger:
    ledger = Ledger.new(path, unit="word", metric="hamming", epsilon=5)
    for i in range(4):
        ledger.charge(word(0.5), note=f"release {i}")
    ledger.verify()
    return ledger


@pytest.mark.parametrize(
    ("sql", "line"),
    [
        ("UPDATE lines SET body = replace(body, '0.5', '0.1') WHERE number = 4", 4),
        ("UPDATE lines SET body = replace(body, '5', '50') WHERE number = 2", 2),
        ("UPDATE lines SET note = 'nothing' WHERE number = 3", 3),
        ("UPDATE lines SET created = '1999-01-01' WHERE number = 3", 3),
        ("UPDATE lines SET kind = 'opened' WHERE number = 5", 5),
        ("UPDATE lines SET hash = previous WHERE number = 5", 5),
        ("UPDATE lines SET previous = hash WHERE number = 5", 5),
        ("UPDATE lines SET note = x'00' WHERE number = 3", 3),
        ("DELETE FROM lines WHERE number = 4", 4),
        ("DELETE FROM lines WHERE number = 1", 1),
        ("DELETE FROM lines WHERE number = 6", 6),
        ("DELETE FROM lines WHERE number > 4", 5),
        ("DELETE FROM lines", 1),
        ("UPDATE lines SET number = 10 WHERE number = 4", 4),
        ("UPDATE lines SET number = number + 1", 1),
        ("DELETE FROM meta WHERE name = 'head'", 6),
        ("UPDATE meta SET value = 'x' WHERE name = 'head'", 6),
        ("UPDATE meta SET value = x'00' WHERE name = 'key'", 1),
        ("DELETE FROM meta WHERE name = 'key'", 1),
    ],
)
def test_tampering_is_found_and_the_line_is_named(filled, sql, line):
    db = sqlite3.connect(filled.path)
    with db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        if "number + 1" in sql:
            db.execute("UPDATE lines SET number = -number")
            sql = "UPDATE lines SET number = 1 - number"
        db.execute(sql)
    db.close()
    with pytest.raises(BrokenChain, match=rf"line {line}\b"):
        filled.verify()
    with pytest.raises(BrokenChain):
        filled.charge(word(0.1))
    with pytest.raises(BrokenChain):
        filled.total()


def test_two_lines_that_change_places_are_found(filled):
    for a, b in ((4, -4), (5, 4), (-4, 5)):
        raw(filled.path, "UPDATE lines SET number = ? WHERE number = ?", b, a)
    with pytest.raises(BrokenChain, match=r"line 4\b"):
        filled.verify()


def test_a_head_kept_elsewhere_notices_what_the_chain_cannot(filled, tmp_path):
    head, old = filled.head, filled.path.read_bytes()
    filled.charge(word(0.5))
    later = filled.head
    assert filled.verify(head) == later  # an older head still fits: lines are only added
    filled.path.write_bytes(old)  # put back from a copy: consistent in itself
    filled.verify()
    with pytest.raises(BrokenChain, match="line 7 was removed"):
        filled.verify(later)
    other = Ledger.new(tmp_path / "other.ledger")
    for _ in range(5):
        other.charge(word(0.5))
    with pytest.raises(BrokenChain, match="rewritten: line 6"):
        other.verify(head)
    with pytest.raises(BadInput, match="count:hash"):
        filled.verify("yesterday")


def test_an_export_can_be_checked_without_this_package(filled):
    *lines, last = map(json.loads, filled.export())
    previous = START
    for number, line in enumerate(lines, 1):
        body = json.dumps(line["body"], sort_keys=True, separators=(",", ":"))
        hashed = json.dumps([previous, number, line["created"], line["kind"], body, line["note"]])
        previous = hashlib.sha256(hashed.encode()).hexdigest()
        assert line["hash"] == previous and line["number"] == number
    assert last["head"] == f"6:{previous}"
    assert filled.key.hex() not in "".join(filled.export())


# --- files that cannot be used ----------------------------------------------------------------------------------------


def test_new_never_overwrites(path):
    Ledger.new(path).charge(word(0.5))
    with pytest.raises(BadInput, match="exists already"):
        Ledger.new(path)
    assert len(Ledger(path).entries()) == 1


@pytest.mark.parametrize("content", [b"", b"dear diary\n", b"SQLite format 3\x00" + bytes(200), bytes(5000)])
def test_another_file_is_not_a_ledger_and_stays_as_it_is(path, content):
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"notes\.ledger: is (not a|a damaged) ledger"):
        Ledger(path)
    assert path.read_bytes() == content


def test_another_database_is_not_a_ledger(path):
    raw(path, "CREATE TABLE lines (x)")
    with pytest.raises(BadInput, match="is not a ledger"):
        Ledger(path)


def test_a_newer_format_is_refused(path):
    Ledger.new(path)
    raw(path, "PRAGMA user_version = 99")
    with pytest.raises(BadInput, match="newer version"):
        Ledger(path)


def test_a_line_of_unknown_kind_is_unsupported_and_not_skipped(path):
    ledger = Ledger(path)
    with ledger_file.writing(path) as file:
        ledger_module._append(file, "refund", {"epsilon": 1})
    with pytest.raises(BadInput, match="unknown kind 'refund'"):
        ledger.total()


def test_places_where_no_ledger_can_be(tmp_path):
    with pytest.raises(BadInput, match="is a folder"):
        Ledger(tmp_path)
    with pytest.raises(BadInput, match="cannot be made"):
        Ledger(tmp_path / "missing" / "notes.ledger")
    with pytest.raises(BadInput, match="no such ledger"):
        Ledger(tmp_path / "notes.ledger", must_exist=True)
    assert list(tmp_path.iterdir()) == []
