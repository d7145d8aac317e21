"""The help is true: every verb shows an example, and every option in it exists."""

from __future__ import annotations

import re
import shlex

import pytest
import typer.main

from textveil.cli import app


def leaves(command, path=()):
    found = getattr(command, "commands", None)
    if not found:
        return [(path, command)]
    return [leaf for name, sub in found.items() for leaf in leaves(sub, (*path, name))]


VERBS = leaves(typer.main.get_command(app))


@pytest.mark.parametrize("path, command", VERBS, ids=[" ".join(p) for p, _ in VERBS])
def test_the_example_can_be_pasted(path, command):
    text = " ".join((command.help or "").split())
    example = re.search(r"(?:Example: )?textveil " + " ".join(path) + r"\b.*", text)
    assert example, "the help of a verb shows an example that can be pasted"
    words = shlex.split(example.group().removeprefix("Example: ").split(" # ")[0], comments=True)
    known = {option for parameter in command.params for option in parameter.opts + parameter.secondary_opts}
    assert {w.rstrip(".,;)") for w in words if re.match(r"--?[a-z]", w)} <= known


def test_the_verbs_of_the_contract_that_exist_are_all_here():
    have = {" ".join(p) for p, _ in VERBS}
    wanted = {"demo", "veil", "counts", "audit", "report", "reproduce", "words info", "words tune", "words compare"}
    wanted |= {"words certify", "ledger new", "ledger show", "ledger verify", "ledger export", "ledger allow"}
    wanted |= {"vectors build", "vectors info", "vectors list"}
    wanted |= {"hashed train", "hashed apply"}
    assert wanted <= have
