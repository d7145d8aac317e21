"""What is printed: one JSON object, or lines; notices and what passes are never left out."""

from __future__ import annotations

import json
from pathlib import Path

from textveil.cli.output import print_release, print_result
from textveil.cli.progress import bars

RESULT = {
    "promise": "nothing much",
    "entry": None,
    "passes": ["the column 'customer'", "letter case"],
    "notices": ["the ledger x.ledger did not exist and was made: it has no budget"],
    "warnings": ["12 updates are few"],
}


def test_a_release_says_what_passes_and_what_it_noticed(capsys):
    print_release(RESULT, Path("out"), ["3 records"], as_json=False, more=["spent: 1"], next="textveil audit out")
    shown = capsys.readouterr()
    assert "NOTICE: the ledger x.ledger did not exist" in shown.err
    assert "beware:  12 updates are few" in shown.err
    assert shown.out.splitlines() == [
        "3 records",
        "promise: nothing much",
        "spent: 1",
        "passes:  the column 'customer' (unprotected)",
        "         letter case (unprotected)",
        "ledger:  not recorded (no --ledger)",
        "read out/card.html",
        "next:    textveil audit out",
    ]


def test_json_is_one_object_and_notices_are_still_said(capsys):
    print_release(RESULT, Path("out"), ["3 records"], as_json=True)
    shown = capsys.readouterr()
    assert json.loads(shown.out) == RESULT
    assert "NOTICE" in shown.err


def test_lines_are_made_only_when_they_are_printed(capsys):
    def lines():
        raise AssertionError("not asked for")
        yield ""

    print_result({"a": 1}, lines(), as_json=True)
    assert json.loads(capsys.readouterr().out) == {"a": 1}


def test_a_quiet_bar_shows_nothing(capsys):
    with bars(quiet=True)("drawing", 10, "words") as advance:
        advance(3)
    assert capsys.readouterr() == ("", "")
