"""The help is true, whole at 80 columns, and says something about every option."""

from __future__ import annotations

import re
import shlex

import click
import pytest
import typer.main

from textveil.cli import app, run
from textveil.cli.verbs import help_rows


def leaves(command, path=()):
    verbs = getattr(command, "commands", None)
    if not verbs:
        return [(path, command)]
    return [leaf for name, verb in verbs.items() for leaf in leaves(verb, (*path, name))]


def families(command, path=()):
    verbs = getattr(command, "commands", None) or {}
    return (
        [(path, command), *(f for name, verb in verbs.items() for f in families(verb, (*path, name)))] if verbs else []
    )


TOP = typer.main.get_command(app)
VERBS, FAMILIES = leaves(TOP), families(TOP)
each_verb = pytest.mark.parametrize("path, command", VERBS, ids=[" ".join(p) for p, _ in VERBS])
RIDDLES = ("see docs", "At which the divergence", "for the document line", "two digits")


def help_at_80_columns(path, command) -> str:
    context = click.Context(command, info_name=" ".join(("textveil", *path)), terminal_width=80, max_content_width=80)
    return command.get_help(context)


@each_verb
def test_the_example_can_be_pasted(path, command):
    text = " ".join((command.help or "").split())
    example = re.search(r"(?:Example: )?textveil " + " ".join(path) + r"\b.*", text)
    assert example, "the help of a verb shows an example that can be pasted"
    words = shlex.split(example.group().removeprefix("Example: ").split(" # ")[0], comments=True)
    known = {option for parameter in command.params for option in parameter.opts + parameter.secondary_opts}
    assert {w.rstrip(".,;)") for w in words if re.match(r"--?[a-z]", w)} <= known


@each_verb
def test_every_argument_and_option_has_a_sentence(path, command):
    rows = [row for rows in help_rows(command, click.Context(command)).values() for row in rows]
    assert len(rows) == len(command.params) + 1  # and --help
    for name, sentence in rows:
        plain = re.sub(r"\s+\[[^\[\]]*\]$", "", sentence)
        assert re.match(r"[A-Z'`a-z]", plain) and plain.endswith("."), f"{name}: {sentence!r} is no sentence"


@each_verb
def test_nothing_is_cut_at_80_columns(path, command):
    text = help_at_80_columns(path, command)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    squeezed = re.sub(r"\s+", "", text)
    for rows in help_rows(command, click.Context(command)).values():
        for name, sentence in rows:
            assert re.sub(r"\s+", "", name) in squeezed, f"{name} is cut"
            assert re.sub(r"\s+", "", sentence) in squeezed, f"the sentence of {name} is cut"


@pytest.mark.parametrize("path, command", FAMILIES, ids=[" ".join(p) or "textveil" for p, _ in FAMILIES])
def test_lists_of_verbs_are_whole(path, command):
    text = help_at_80_columns(path, command)
    assert "..." not in text.replace("[ARGS]...", "")
    assert "…" not in text


@each_verb
def test_help_asks_no_riddles(path, command):
    text = " ".join(help_at_80_columns(path, command).split())
    assert not [riddle for riddle in RIDDLES if riddle in text]


@each_verb
def test_choices_are_shown_and_checked(path, command):
    """What is a choice is shown as one: no sentence lists values with bars that the command line does not check."""
    for parameter in command.params:
        assert not re.search(r"\w \| \w", getattr(parameter, "help", None) or ""), f"{parameter.name} is a choice"


def test_the_verbs_of_the_contract_that_exist_are_all_here():
    have = {" ".join(p) for p, _ in VERBS}
    wanted = {"demo", "veil", "counts", "audit", "report", "reproduce", "words info", "words tune", "words compare"}
    wanted |= {"words certify", "ledger new", "ledger show", "ledger verify", "ledger export", "ledger allow"}
    wanted |= {"vectors build", "vectors info", "vectors list"}
    wanted |= {"hashed train", "hashed apply"}
    assert wanted <= have


def test_a_suggestion_is_made_once(capsys):
    assert run(["vail"]) == 2
    assert capsys.readouterr().err.count("Did you mean") == 1
    assert run(["veil", "--epsilom", "1"]) == 2
    assert capsys.readouterr().err.count("Did you mean") == 1
