"""Verbs called from Python: the same parameters, the same results, nothing printed."""

from __future__ import annotations

import inspect
import json
import warnings

import numpy as np
import pytest

import textveil as tv
from textveil import verbs
from textveil.cli import run
from textveil.cli.calls import NAMES
from textveil.core import BadInput, ReleaseFolder
from textveil.core.explained import parameters_of

NOT_FUNCTIONS = {
    "classify dealer": "serves until it is stopped",
    "classify node": "serves until it is stopped",
    "classify serve": "serves until it is stopped",
    "ledger": "tv.Ledger has them as methods",
    "pii policy": "prints a table that the documents have",
    "pii review": "opens a page and waits",
    "vectors info": "tv.vectors.load has them as attributes",
    "vectors list": "lists what comes with Textveil",
}


@pytest.fixture
def notes(tmp_path):
    path = tmp_path / "notes.jsonl"
    rows = [{"id": n, "text": "A warm day, then a cold night.", "ward": "north"} for n in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_file_is_veiled_in_one_call(notes, tmp_path, capsys):
    release = tv.veil(notes, str(tmp_path / "out"), epsilon=0.5, columns=["id"])
    assert isinstance(release, ReleaseFolder)
    assert release.folder == tmp_path / "out"
    assert release.card.is_file()
    assert release.guarantee.loss.epsilon == 0.5
    assert release.result["records"] == 3
    assert any("'id'" in name for name in release.passes)
    assert not any("ward" in name for name in release.passes)
    assert capsys.readouterr() == ("", "")


def test_the_result_is_what_json_prints(notes, tmp_path, capsys):
    in_python = tv.veil(notes, tmp_path / "python", epsilon=0.5, only_text=True).result
    assert run(["veil", str(notes), "-o", str(tmp_path / "shell"), "--epsilon", "0.5", "--only-text", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed.keys() == in_python.keys()
    assert {k: v for k, v in printed.items() if k != "out"} == {k: v for k, v in in_python.items() if k != "out"}


def test_counts_and_an_audit(notes, tmp_path):
    release = tv.count(notes, tmp_path / "out", epsilon=1, vocabulary_size=20, method="random")
    assert np.asarray(release.value.shape).tolist() == [3, 20]
    evidence = tv.audit(release.folder)["evidence"]
    assert all(row["attack"].startswith("counts.") for row in evidence)
    assert evidence


def test_a_notice_is_a_warning(notes, tmp_path):
    with pytest.warns(UserWarning, match=r"new\.ledger") as caught:
        release = tv.veil(notes, tmp_path / "out", epsilon=0.5, ledger=tmp_path / "new.ledger", only_text=True)
    assert release.entry is not None
    assert caught[0].filename == __file__


def test_progress_is_shown_where_it_is_asked_for(notes, tmp_path, capsys):
    release = tv.veil(notes, tmp_path / "out", epsilon=0.5, only_text=True)
    tv.audit(release.folder, progress=True)
    assert "running words." in capsys.readouterr().err


MISTAKES = {
    "a name that is none": (
        lambda n, o: tv.veil(n, o, epsilom=1.0),
        "unknown parameter of tv.veil 'epsilom'; .*epsilon",
    ),
    "a choice that is none": (lambda n, o: tv.veil(n, o, epsilon=1.0, case="up"), "case must be one of 'sentence'"),
    "a string for a number": (lambda n, o: tv.veil(n, o, epsilon="1.0"), "epsilon must be a number"),
    "a fraction for a count": (lambda n, o: tv.veil(n, o, epsilon=1.0, workers=1.5), "workers must be a whole number"),
    "a truth for a count": (lambda n, o: tv.veil(n, o, epsilon=1.0, workers=True), "workers must be a whole number"),
    "a number for a path": (lambda n, o: tv.veil(n, 3, epsilon=1.0), "out must be a path"),
    "nothing": (lambda n, o: tv.veil(), "tv.veil: missing a required argument: 'source'"),
    "what the verb refuses": (lambda n, o: tv.veil(n, o, epsilon=-1.0), "epsilon must be"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named_and_nothing_is_made(name, notes, tmp_path):
    call, message = MISTAKES[name]
    with pytest.raises(BadInput, match=message):
        call(notes, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_numbers_of_numpy_are_numbers(notes, tmp_path):
    release = tv.veil(notes, tmp_path / "out", epsilon=np.float64(0.5), workers=np.int64(1), only_text=True)
    assert release.guarantee.loss.epsilon == 0.5


# ---- all of them ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", verbs.VERBS)
def test_every_verb_explains_its_parameters(name):
    function = getattr(tv, name)
    assert list(parameters_of(function.__doc__)) == list(inspect.signature(function).parameters)
    assert all(parameters_of(function.__doc__).values())
    assert function.__name__ == name


def test_every_verb_of_the_command_line_is_a_function_or_has_a_reason():
    import click
    import typer.main

    from textveil.cli import app

    def leaves(command, path=()):
        if not isinstance(command, click.Group):
            return {" ".join(path): command.callback}
        return {k: v for name, verb in command.commands.items() for k, v in leaves(verb, (*path, name)).items()}

    have = {inspect.unwrap(getattr(tv, name).__wrapped__) for name in verbs.VERBS}
    missing = [path for path, verb in leaves(typer.main.get_command(app)).items() if inspect.unwrap(verb) not in have]
    without = [path for path in missing if not path.startswith(tuple(NOT_FUNCTIONS))]
    assert without == [], "add a line to textveil/verbs.py, or a reason here; then run scripts/api_reference.py"


def test_lists_of_names_are_options():
    names = {p for name in verbs.VERBS for p in inspect.signature(getattr(tv, name)).parameters}
    assert set(NAMES) <= names


def test_the_verbs_are_light():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dir(verbs) == sorted(verbs.VERBS)
    with pytest.raises(AttributeError, match="no attribute 'vail'"):
        _ = verbs.vail
