"""A mechanism, an attack, a paper and a verb of another package, from the command line, as the pages of docs/ tell it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from docs_blocks import ROOT, blocks
from plug_in import EXAMPLE, PACKAGE, installed

import textveil as tv
from textveil.core import BadInput, registry
from textveil.testing import BrokenLaw, check_mechanism, check_registered

PAGES = {
    "docs/write-a-mechanism.md": "mechanism.py",
    "docs/write-an-attack.md": "attack.py",
    "docs/write-a-paper.md": "paper.py",
    "docs/write-a-verb.md": "verb.py",
}
NOTES = ["I called the bank about a loan.", "Nothing new here.", "The bank is closed."] * 4


@pytest.fixture
def plug_in(tmp_path_factory):
    with installed(tmp_path_factory.mktemp("site")) as site:
        yield site


@pytest.fixture
def notes(textveil):
    Path("notes.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in NOTES))
    return "notes.jsonl"


@pytest.mark.parametrize("page", PAGES)
def test_the_page_shows_the_code_that_is_run(page):
    code = (EXAMPLE / PACKAGE / PAGES[page]).read_text(encoding="utf-8")
    assert code in [block.text for block in blocks(page) if block.language == "python"]


def test_the_pages_show_the_entry_points():
    shown = [block.text for page in ["docs/plug-ins.md", *PAGES] for block in blocks(page) if block.language == "toml"]
    lines = {line for text in shown for line in text.splitlines() if line}
    wanted = (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    assert {line for line in wanted if "entry-points" in line or "textveil_example." in line} <= lines


# ---- a mechanism ---------------------------------------------------------------------------------------------------


def test_a_mechanism_is_used_by_every_verb_that_takes_one(plug_in, textveil, notes):
    said = textveil(
        "veil", notes, "-o", "out", "--mechanism", "example.response", "--epsilon", "9", "--ledger", "l", "--json"
    )
    assert said.code == 0, said.err
    assert said.json["guarantee"]["loss"]["metric"] == "discrete"
    assert "example.response" in Path("out/card.html").read_text()
    audit = textveil("audit", "out", "--truth", notes, "--json")
    assert audit.code == 0, audit.err
    assert {"words.bayes", "words.stays"} <= {row["attack"] for row in audit.json["evidence"]}
    info = textveil(
        "words", "info", "bank", "--mechanism", "example.response", "--epsilon", "30", "--draws", "200", "--json"
    )
    assert info.json["stay"] == 1.0
    known = textveil("ledger", "show", "l", "--json").json
    assert "discrete" in json.dumps(known)


def test_it_says_what_it_expects_to_stay(plug_in, textveil, notes):
    """words.stays finds what `words info` foretells: epsilon 10 keeps about 42 of 100 of 30,000 words."""
    n = len(tv.vectors.load("default"))
    kept = np.expm1(10.0) / (np.expm1(10.0) + n)
    drawn = tv.veil(notes, "out", mechanism="example.response", epsilon=10.0, seed=4)
    row = tv.audit(drawn.folder, truth=notes, attack="words.stays")["evidence"][0]
    tries = row["tries"]
    assert abs(row["hits"] - tries * kept) < 5 * np.sqrt(tries * kept * (1 - kept))


def test_parameters_of_its_own_are_set_by_name(plug_in, textveil, notes):
    said = textveil(
        "veil", notes, "-o", "out", "--mechanism", "example.response", "--epsilon", "0.01", "--set", "most=3"
    )
    assert said.code == 0, said.err
    first = set(tv.vectors.load("default").words[:3])
    words = {
        w
        for line in Path("out/data.jsonl").read_text().splitlines()
        for w in tv.text.tokens.words(json.loads(line)["text"])
    }
    assert {word.lower() for word in words} <= first
    release = tv.veil(notes, "again", mechanism="example.response", epsilon=0.01, parameters={"most": 3})
    assert release.stamp.parameters["most"] == 3
    wrong = textveil("veil", notes, "-o", "no", "--mechanism", "example.response", "--set", "mosst=3")
    assert wrong.code == 2
    assert "has no parameter 'mosst'; possible: epsilon, most" in wrong.err
    assert textveil("veil", notes, "-o", "no", "--set", "most:3").code == 2


@pytest.mark.parametrize(
    "kind, name", [("mechanism", "example.response"), ("mechanism", "example.mentions"), ("attack", "words.stays")]
)
def test_it_passes_the_checks_that_the_pages_name(plug_in, kind, name):
    check_registered(kind, name)


def test_twice_the_epsilon_is_caught_by_the_documented_call(plug_in):
    from textveil_example.verb import Mentions

    class Careless(Mentions):
        name = "example.careless"

        def apply(self, data, *, noise):
            return Mentions(self.word, 2 * self.epsilon).apply(data, noise=noise)

    with pytest.raises(BrokenLaw) as caught:
        check_mechanism(Careless(), ["the bank called", "nothing new"])
    assert caught.value.law == "the promise holds"


# ---- a paper and a verb --------------------------------------------------------------------------------------------


def test_a_paper_is_reproduced_by_its_name(plug_in, textveil):
    said = textveil("reproduce", "example", "--out", "result", "--cache", "cache", "--json")
    assert said.code == 0, said.err
    assert [claim["verdict"] for claim in said.json["claims"]] == ["confirmed"]
    assert "Randomized response" in Path("result/README.md").read_text()


def test_a_verb_is_a_verb(plug_in, textveil, notes):
    said = textveil("mentions", notes, "-o", "out", "--word", "bank", "--epsilon", "30", "--ledger", "l", "--json")
    assert said.code == 0, said.err
    assert json.loads(Path("out/data.json").read_text()) == ["bank" in text for text in NOTES]
    assert said.json["guarantee"]["unit"] == "document"
    assert textveil("ledger", "verify", "l", "--release", "out").code == 0
    help_text = textveil("mentions", "--help").out
    assert "Release which notes mention a word" in help_text
    assert "--ledger" in help_text
    listed = textveil("--help").out
    assert "Verbs of other packages" in listed
    assert "from textveil-example" in listed
    refused = textveil("mentions", notes, "-o", "no", "--word", "bank", "--epsilon", "-1")
    assert refused.code == 2
    assert not Path("no").exists()


def test_without_the_package_nothing_is_known(textveil, notes):
    assert (
        "unknown mechanism 'example.response'"
        in textveil("veil", notes, "-o", "o", "--mechanism", "example.response").err
    )
    assert textveil("mentions", notes).code == 2
    assert "unknown paper 'example'" in textveil("reproduce", "example").err
    assert "Verbs of other packages" not in textveil("--help").out


# ---- what packages may get wrong -----------------------------------------------------------------------------------


def test_a_mechanism_that_replaces_no_words_is_named(plug_in, textveil, notes):
    said = textveil("veil", notes, "-o", "out", "--mechanism", "example.mentions", "--epsilon", "1")
    assert said.code == 2
    assert "example.mentions replaces no words" in said.err


def test_a_package_that_cannot_be_loaded_is_named_and_harms_nobody(tmp_path_factory, textveil, notes):
    broken = {
        "textveil.mechanisms": {"example.broken": "textveil_example.nowhere:Nothing"},
        "textveil.attacks": {"words.broken": "textveil_example.nowhere:Nothing"},
    }
    with installed(tmp_path_factory.mktemp("site"), broken):
        said = textveil("veil", notes, "-o", "out", "--mechanism", "example.broken")
        assert said.code == 2
        assert (
            "'example.broken' of the package textveil-example cannot be loaded from textveil_example.nowhere"
            in said.err
        )
        assert textveil("veil", notes, "-o", "out", "--epsilon", "0.5").code == 0
        audit = textveil("audit", "out", "--json")
        assert audit.code == 0, audit.err
        assert "cannot be loaded" in audit.json["not_run"]["words.broken"]
        assert textveil("audit", "out", "--attack", "words.broken").code == 2


def test_no_package_takes_the_place_of_a_name_of_ours(tmp_path_factory, textveil):
    greedy = {
        "textveil.mechanisms": {"words.brr": "textveil_example.mechanism:Response"},
        "textveil.verbs": {"veil": "textveil_example.verb:mentions"},
    }
    with installed(tmp_path_factory.mktemp("site"), greedy):
        assert registry.find("mechanism", "words.brr") is tv.words.BRR
        assert "Replace each word" in textveil("veil", "--help").out


def test_nothing_of_other_packages_is_imported_unasked(plug_in):
    code = (
        "import sys; from textveil.cli import run; run(['words', 'info', 'bank', '--draws', '5']); "
        "print([name for name in sys.modules if 'textveil_example' in name])"
    )
    paths = os.pathsep.join([str(plug_in), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_two_packages_of_one_name_are_refused(tmp_path_factory, monkeypatch):
    twice = {"textveil.mechanisms": {"example.response": "textveil_example.mechanism:Response"}}
    other = {"textveil.mechanisms": {"example.response": "textveil_example.verb:Mentions"}}
    with (
        installed(tmp_path_factory.mktemp("one"), twice) as one,
        installed(tmp_path_factory.mktemp("two"), other) as two,
    ):
        (two / "textveil_example-0.1.0.dist-info").rename(two / "textveil_other-0.1.0.dist-info")
        metadata = two / "textveil_other-0.1.0.dist-info" / "METADATA"
        metadata.write_text(metadata.read_text().replace("textveil-example", "textveil-other"))
        registry._entry_points.cache_clear()
        with pytest.raises(BadInput, match="registered by several packages: textveil-example, textveil-other"):
            registry.find("mechanism", "example.response")
        assert one != two
