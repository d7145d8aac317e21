"""The journal of a run: one owner, every line on disk, a cut-off last line is dropped."""

from __future__ import annotations

import os
import stat

import pytest

from textveil.accounting.journal import FILE, Journal
from textveil.core import BadInput


def test_what_was_noted_is_read_back(tmp_path):
    with Journal(tmp_path / "run") as journal:
        key = journal.key
        journal.note_charge("release", {"data": "ab"}, "e1", "3:00")
        journal.count("queries", 5)
    with Journal(tmp_path / "run") as journal:
        assert journal.key == key
        assert journal.charges("release")[0]["bound"] == {"data": "ab"}
        assert journal.charges("other") == []
        assert journal.counted("queries") == 5


def test_one_owner_at_a_time(tmp_path):
    with Journal(tmp_path / "run"), pytest.raises(BadInput, match="another process is at work"):
        Journal(tmp_path / "run")
    Journal(tmp_path / "run").close()


def test_a_dead_owner_frees_it(tmp_path):
    child = os.fork()
    if child == 0:
        Journal(tmp_path / "run")
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    with Journal(tmp_path / "run") as journal:
        assert journal.charges() == []


def test_a_cut_off_line_was_never_told(tmp_path):
    with Journal(tmp_path / "run") as journal:
        journal.count("queries")
    with open(tmp_path / "run" / FILE, "ab") as file:
        file.write(b'{"count": {"name": "queries", "val')
    with Journal(tmp_path / "run") as journal:
        assert journal.counted("queries") == 1
        journal.count("queries")
    with Journal(tmp_path / "run") as journal:
        assert journal.counted("queries") == 2


def test_a_damaged_journal_is_refused(tmp_path):
    Journal(tmp_path / "run").close()
    (tmp_path / "run" / FILE).write_text("not json\n")
    with pytest.raises(BadInput, match="is damaged"):
        Journal(tmp_path / "run")


def test_only_its_owner_can_read_it(tmp_path):
    (tmp_path / "run").mkdir(mode=0o755)
    Journal(tmp_path / "run").close()
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "run" / FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize(("lines", "is_open"), [("", False), ("b", True), ("bd", False), ("bdb", True)])
def test_a_step_is_open_between_begun_and_done(lines, is_open, tmp_path):
    with Journal(tmp_path / "run") as journal:
        for line in lines:
            journal.note_begun("round 1") if line == "b" else journal.note_done("round 1")
        assert journal.is_open("round 1") is is_open
        assert journal.is_open("round 2") is False
