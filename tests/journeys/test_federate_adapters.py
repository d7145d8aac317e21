"""An encoder at rest with adapters or a head that sites and users train together: by simulation, and on a grid of sites."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("flwr")

from tiny_bert import write_tiny_bert

import textveil as tv
from textveil.cli import run
from textveil.core import BadInput
from textveil.recipes.federated.on_grid import GridJob, prepare
from textveil.recipes.federated.strategies import StrategyChoice
from textveil.recipes.federated.tasks import make_task, save_model
from textveil.recipes.federated.terms import SiteTerms

TEXTS = ["hot tea now", "cold milk again", "warm tea today", "old milk here"]
CLASSIFIER = ("--task", "classifier", "--text-field", "text", "--workers", "0", "--rounds", "2")
PRIVATE = {
    "users": ("--user-field", "user", "--strategy", "dp-fedavg", "--users-per-round", "4", "--noise", "1"),
    "sites": ("--sites", "2", "--local", "dp-sgd", "--noise", "1", "--batch", "4"),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"text": TEXTS[k % 4], "label": "ab"[k % 2], "user": f"u{k % 8}"} for k in range(16)]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_tiny_bert(Path("bert"), TEXTS)
    return tmp_path


def weights(folder):
    return {name: value.numpy() for name, value in tv.training.load(folder).net_.state_dict().items()}


@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.parametrize("who", PRIVATE)
def test_what_learns_is_the_head_and_the_adapters_and_the_folder_has_none(here, rank, who, capsys):
    options = ("--encoder", "bert", "--adapters", str(rank), "--delta", "0.05", "--ledger", "l.ledger")
    code = run(["federate", "simulate", "in.jsonl", "-o", "out", *CLASSIFIER, *options, *PRIVATE[who]])
    assert code == 0, capsys.readouterr().err
    start = make_task("classifier", {"encoder": "bert"}, labels=("a", "b")).build()
    before = {name: value.numpy() for name, value in start.state_dict().items()}
    after = weights("out")
    assert after.keys() == before.keys()
    changed = {name for name in after if not np.array_equal(before[name], after[name])}
    learnt = {name.rsplit(".", 1)[0].rsplit(".", 1)[-1] for name in changed}
    assert learnt == ({"classifier"} if rank == 0 else {"classifier", "query", "value"})
    shown = json.loads(Path("out", "release.json").read_text())
    assert shown["guarantee"]["label"] == "guarantee" and shown["parameters"]["adapters"] == rank
    assert shown["guarantee"]["unit"] == {"users": "user", "sites": "example"}[who]


def test_a_site_builds_the_net_that_the_server_has(here):
    """The terms name the rank, and the start goes without adapters: both sides have one layout."""
    from textveil.federated.weights import flat_of, layout_of

    job = GridJob(
        out=here / "out",
        task="classifier",
        asked=StrategyChoice(),
        labels=("a", "b"),
        model={"encoder": "bert", "adapters": 2},
    )
    ready = prepare(job, 2)
    assert ready.terms.adapters == 2
    save_model(ready.task.build(), here / "start")
    site = make_task("classifier", {"adapters": ready.terms.adapters}, start=here / "start").build()
    assert layout_of(site) == layout_of(ready.net)
    assert np.array_equal(flat_of(site), flat_of(ready.net))


def test_adapters_without_an_encoder_are_refused(here, capsys):
    assert run(["federate", "simulate", "in.jsonl", "-o", "out", *CLASSIFIER, "--sites", "2", "--adapters", "2"]) == 2
    assert "adapters belong to an encoder" in capsys.readouterr().err and not Path("out").exists()


def test_texthide_is_run_by_simulation_alone(here, capsys):
    """Neither a server offers it, nor does a site take it from a server of another make."""
    keys = ("--sites", ".", "--certificate", "server.pem", "--key", "server.key")
    for verb in (["serve", "-o", "out", *keys], ["app", "folder", "-o", "out"]):
        assert run(["federate", *verb, "--task", "classifier", "--labels", "a,b", "--local", "texthide"]) == 2
        error = capsys.readouterr().err
        assert "TextHide is broken: it is run by simulation alone" in error and error.count("\n") == 1
    assert not Path("out").exists() and not Path("folder").exists()
    with pytest.raises(BadInput, match="a step that no site takes"):
        SiteTerms("classifier", "client", 1, {"step": "texthide"}).local_step()


def test_join_takes_no_local_step_from_its_own_command_line(here, capsys):
    files = ("--data", "in.jsonl", "--ca", "ca.pem", "--key", "a.key")
    assert run(["federate", "join", "localhost:1", *files, "--local", "texthide"]) == 2
    assert "--local" in capsys.readouterr().err
