"""From the command line: no verb sends a model to a verb that sends it back, and the headline hides no larger figure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

TEXT = (
    "The fee is due in {month}. Nothing else is said.\n\n{state} law governs this paper alone. The parties agree to it."
)


@pytest.fixture
def models(textveil):
    rows = []
    for n, (month, state) in enumerate((m, s) for m in ("May", "June", "July") for s in ("Texas", "Ohio", "Utah")):
        text = TEXT.format(month=month, state=state)
        rows.append({"id": n, "text": text, "spans": [[text.index("\n\n") + 2, text.index(" The parties")]]})
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    sound = ("--epsilon", 2, "--delta", 1e-6, "--unit", "paragraph")
    for arguments in (
        ("train", "in.jsonl", "-o", "open", "--bits", 10),
        ("train", "in.jsonl", "-o", "sound", "--bits", 10, *sound),
        ("seal", "open", "-o", "sealed", "--min-documents", 2),
    ):
        said = textveil("hashed", *arguments)
        assert said.code == 0, said.err


def test_every_verb_on_every_kind(textveil, models):
    Path("terms.txt").write_text("Texas\n")
    for kind in ("open", "sealed", "sound"):
        template = ("--template", "The laws of the State of {term}.")
        assert textveil("hashed", "apply", kind, "in.jsonl", "-o", f"found-{kind}").code == 0
        assert textveil("hashed", "probe", kind, "--terms", "terms.txt", *template).code == 0
    for verb, kind, says in (
        ("seal", "sealed", "sealed already"),
        ("seal", "sound", "nothing to seal"),
        ("update", "open", "not a sealed model"),
        ("update", "sound", "covers that one training"),
        ("cost", "sound", "costs what its card promises"),
    ):
        source = {"seal": (), "update": ("in.jsonl",), "cost": ()}[verb]
        out = () if verb == "cost" else ("-o", "again", "--ledger", "l")
        said = textveil("hashed", verb, kind, *source, *out)
        assert said.code == 2 and says in said.err and said.err.count("\n") == 1, said.err
        assert not Path("again").exists() and not Path("l").exists()
        sent_to = [v for v in ("seal", "update") if f"textveil hashed {v}" in said.err]
        assert kind != "sound" or not sent_to


def test_no_figure_that_sealing_computed_is_above_its_headline(textveil, models):
    result = textveil("hashed", "seal", "open", "-o", "again", "--min-documents", 2, "--json").json
    headline = json.loads(Path("again/release.json").read_text())["guarantee"]["loss"]["epsilon"]
    figures = [cost["larger"] for cost in result["costs"].values()]
    assert headline == "inf" if "inf" in figures else headline == max(figures)
