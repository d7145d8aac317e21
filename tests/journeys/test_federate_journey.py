"""`textveil federate simulate`, end to end: strategies, sites and users, resuming, what the card says, what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import textveil as tv
from textveil.accounting.ledger import Ledger
from textveil.cli import run

WORDS = "the fee is due law of state may rent bank letter year good bad fine poor".split()
NET = ("--words", "words.txt", "--hidden", "4", "--workers", "0")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    rows = []
    for user in range(12):
        for _ in range(1 if user == 0 else 4):  # one user with a single text
            text = " ".join(rng.choice(WORDS, 7))
            rows.append({"user": f"u{user}", "text": text, "label": str(rng.choice(["praise", "blame"]))})
    write("in.jsonl", rows)
    write("public.jsonl", [{"text": "the bank is due", "label": "praise"}, {"text": "bad law", "label": "blame"}])
    Path("words.txt").write_text("\n".join(WORDS) + "\n")
    tv.vectors.from_arrays(WORDS, rng.normal(size=(len(WORDS), 6))).save(Path("small.npz"))
    return tmp_path


def write(name, rows):
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def conll(name, tags, sentences=6):
    Path(name).write_text(
        "\n".join("".join(f"{w} {tags[i % len(tags)]}\n" for i, w in enumerate(WORDS[:5])) for _ in range(sentences))
    )


def simulate(*arguments, out="out"):
    return run(["federate", "simulate", *arguments[:1], "-o", out, *map(str, arguments[1:])])


USERS = ("in.jsonl", "--user-field", "user", "--text-field", "text", *NET, "--rounds", "2", "--users-per-round", "4")


def manifest(out="out"):
    return json.loads(Path(out, "release.json").read_text())


def test_users_train_a_language_model_that_loads(here, capsys):
    args = (
        "--strategy",
        "dp-fedavg",
        "--noise",
        "2",
        "--delta",
        "0.01",
        "--test",
        "public.jsonl",
        "--ledger",
        "l.ledger",
    )
    assert simulate(*USERS, *args) == 0, capsys.readouterr().err
    model = tv.training.load("out")
    assert model.guarantee_.unit is tv.Unit.USER and model.perplexity(["the fee"]) > 1
    shown = manifest()
    assert shown["guarantee"]["loss"]["kind"] == "approx" and len(Ledger("l.ledger").entries()) == 2
    assert shown["entries"][0] != shown["entries"][1]
    card = Path("out/card.html").read_text()
    assert "server sees the update of every user" in card and "<polyline" in card and "Epsilon spent by round" in card
    totals = [t for t in Ledger("l.ledger").total(delta=0.01) if (t.unit, t.adjacency) == ("user", "add_remove")]
    assert [t.loss.epsilon for t in totals] == pytest.approx([shown["guarantee"]["loss"]["epsilon"]], rel=1e-6)


@pytest.mark.parametrize("strategy", ["fedavg", "fedsgd", "remote", "central"])
def test_strategies_without_noise_say_what_they_leak(here, strategy, capsys):
    assert simulate(*USERS, "--strategy", strategy) == 0, capsys.readouterr().err
    shown = manifest()
    assert shown["guarantee"]["label"] == "heuristic" and shown["mechanism"] == f"federated.{strategy}"
    leak = {"central": "operator receives the text itself", "remote": "site before it"}.get(strategy, "server sees")
    assert leak in " ".join(shown["facts"]["not_protected"])


def test_sites_under_dp_sgd_have_a_price_each(here, capsys):
    for k, count in enumerate((40, 20)):
        write(f"site{k}.jsonl", [{"text": " ".join(WORDS[k : k + 6]), "label": "ab"[n % 2]} for n in range(count)])
    options = ("--task", "classifier", "--vectors", "small.npz", "--local", "dp-sgd", "--noise", "2", "--delta", "0.01")
    code = run(["federate", "simulate", "site0.jsonl", "site1.jsonl", "-o", "out", *options, "--text-field", "text",
                "--rounds", "2", "--batch", "10", "--workers", "0", "--ledger", "l.ledger"])  # fmt: skip
    assert code == 0, capsys.readouterr().err
    shown = manifest()
    large, small = shown["facts"]["federation"]["site_epsilons"]
    assert small > large and shown["guarantee"]["unit"] == "example"
    assert shown["guarantee"]["loss"]["epsilon"] == pytest.approx(small)
    assert shown["passes"] == ["the list of classes was taken from the training files"]


def test_sites_train_a_tagger_from_a_public_start_with_frozen_parts(here, capsys):
    conll("one.conll", ["O", "B-X"])
    conll("two.conll", ["O", "B-X"])
    plain = ("--task", "tagger", "--vectors", "small.npz", "--hidden", "3", "--output", "softmax", "--workers", "0")
    sites = ["federate", "simulate", "one.conll", "two.conll"]
    assert run([*sites, "-o", "first", *plain, "--rounds", "1"]) == 0, capsys.readouterr().err
    more = ("--task", "tagger", "--start", "first", "--frozen", "vectors,lstm", "--rounds", "1", "--workers", "0")
    assert run([*sites, "-o", "second", *more]) == 0, capsys.readouterr().err
    first, second = (tv.training.load(name).net_.state_dict() for name in ("first", "second"))
    changed = {name for name in first if not bool((first[name] == second[name]).all())}
    assert changed and not any(name.startswith(("vectors", "lstm")) for name in changed)


def test_a_list_of_texts_in_each_line_is_read_too(here, capsys):
    write("lists.jsonl", [{"user": k, "sentences": ["the fee is due", "bad law"]} for k in range(5)])
    args = ("--user-field", "user", "--text-field", "sentences", *NET, "--rounds", "1", "--users-per-round", "2")
    assert simulate("lists.jsonl", *args) == 0, capsys.readouterr().err


def test_a_stopped_run_goes_on_without_another_charge(here, monkeypatch):
    from textveil.federated import rounds
    from textveil.training import interrupts

    real, done = rounds.aggregate, []

    def stop_after_first(*given, **more):
        done.append(1)
        if len(done) == 1:
            asked[0].asked = True
        return real(*given, **more)

    asked = []
    enter = interrupts.Interrupts.__enter__
    monkeypatch.setattr(interrupts.Interrupts, "__enter__", lambda self: asked.append(self) or enter(self))
    monkeypatch.setattr(rounds, "aggregate", stop_after_first)
    command = (*USERS, "--strategy", "dp-fedavg", "--noise", "2", "--delta", "0.01", "--ledger", "l.ledger")
    assert simulate(*command) == 130
    assert not Path("out").exists() and len(Ledger("l.ledger").entries()) == 1
    assert simulate(*command) == 0
    assert len(done) == 2 and len(Ledger("l.ledger").entries()) == 2


BAD = {
    "other labels": (("one.conll", "two.conll"), ("--task", "tagger", "--vectors", "small.npz"), "two.conll, line"),
    "empty site": (("one.conll", "empty.conll"), ("--task", "tagger"), "empty.conll"),
    "too many a round": (
        ("in.jsonl",),
        ("--user-field", "user", "--users-per-round", "13"),
        "13 users a round are more",
    ),
    "another task": (
        ("in.jsonl",),
        ("--user-field", "user", "--start", "tagger"),
        "holds a model for the task 'tagger'",
    ),
    "nobody's text": (("in.jsonl",), (), "whose text"),
    "no noise asked for": (
        ("in.jsonl",),
        ("--user-field", "user", "--strategy", "dp-fedavg"),
        "needs --epsilon or --noise",
    ),
    "noise without a mechanism": (("in.jsonl",), ("--user-field", "user", "--epsilon", "3"), "adds no noise"),
    "no such parameter": (("in.jsonl",), ("--user-field", "user", "--frozen", "nothing"), "begins with 'nothing'"),
    "scores on the private text": (("in.jsonl",), ("--user-field", "user", "--test", "in.jsonl"), "private examples"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence_and_leaves_nothing(here, name, capsys):
    conll("one.conll", ["O", "B-X"])
    conll("two.conll", ["O", "B-Y"])
    Path("empty.conll").write_text("")
    if name == "another task":
        plain = ("--task", "tagger", "--vectors", "small.npz", "--hidden", "3", "--rounds", "1", "--workers", "0")
        assert run(["federate", "simulate", "one.conll", "one.conll", "-o", "tagger", *plain]) == 0
    before = sorted(os.listdir("."))
    sources, options, said = BAD[name]
    net = () if sources[0] == "one.conll" else ("--words", "words.txt", "--hidden", "4", "--text-field", "text")
    capsys.readouterr()
    code = run(["federate", "simulate", *sources, "-o", "out", *options, *net, "--rounds", "1", "--workers", "0"])
    error = capsys.readouterr().err.strip()
    assert code == 2 and error.count("\n") == 0 and error.startswith("textveil: ")
    assert said.split(",")[0] in error
    assert sorted(os.listdir(".")) == before


def test_flowers_simulation_gives_what_this_process_gives(here):
    """The one test that starts Ray. A seed fixes sample, local order and noise; only the order of sums may differ."""
    noisy = ("--strategy", "dp-fedavg", "--noise", "2", "--delta", "0.01", "--seed", "5")
    assert simulate(*USERS, *noisy, out="here") == 0
    command = [sys.executable, "-m", "textveil", "federate", "simulate", *USERS[:1], "-o", "there", *USERS[1:], *noisy]
    done = subprocess.run([*command, "--workers", "2"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    here_, there = (tv.training.load(name).net_.state_dict() for name in ("here", "there"))
    for name, values in here_.items():
        assert values.numpy() == pytest.approx(there[name].numpy(), abs=1e-5)
    assert not [
        left for left in Path("/tmp").glob("textveil-*-*") if left.stat().st_uid == os.getuid() and is_stale(left)
    ]


def is_stale(folder):
    """A folder for Ray whose process is gone."""
    return not Path("/proc", folder.name.split("-")[1]).exists()
