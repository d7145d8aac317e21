"""The app folder for Flower deployments, and a site's part, within this process."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from textveil.core import BadInput
from textveil.recipes.federated.app_folder import app_config, write_app_folder
from textveil.recipes.federated.on_grid import GridJob, prepare
from textveil.recipes.federated.site_app import SiteData
from textveil.recipes.federated.strategies import StrategyChoice
from textveil.recipes.federated.terms import Begin, SiteTerms, kept_terms

JOB = GridJob(
    out=Path("/srv/model"),
    task="classifier",
    asked=StrategyChoice("dp-fedavg", rounds=3, noise=1.5, delta=1e-3, clip=0.5, epochs=2),
    labels=("a", "b"),
    timeout=30.0,
    label_field="kind",
    model={"max_words": 40},
)


def test_the_settings_of_an_app_folder_read_back_as_the_job(tmp_path):
    from textveil.federated.deployment.flower import build_bundle
    from textveil.recipes.federated.apps import read_config

    folder = write_app_folder(tmp_path / "app", app_config(JOB, 3, 60.0))
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    config = project["tool"]["flwr"]["app"]["config"]
    flat = {**config, **{f"model.{name}": value for name, value in config.pop("model", {}).items()}}
    assert read_config(flat) == (JOB, 3, 60.0)
    assert 500 < len(build_bundle(folder)) < 10_000
    with pytest.raises(BadInput, match="exists already"):
        write_app_folder(folder, {})


def test_an_app_folder_holds_the_two_apps_of_the_package(tmp_path, monkeypatch):
    import importlib

    from flwr.clientapp import ClientApp
    from flwr.serverapp import ServerApp

    monkeypatch.syspath_prepend(write_app_folder(tmp_path / "app", {}))
    apps = importlib.import_module("textveil_federated.apps")
    assert isinstance(apps.server_app, ServerApp) and isinstance(apps.client_app, ClientApp)


def test_the_settings_of_a_node_read_back_as_the_data_of_a_site(tmp_path):
    site = SiteData(
        data=tmp_path / "notes.csv", ledger=tmp_path / "own.ledger", delimiter=";", header=False, unpriced=True
    )
    assert SiteData.read(site.node_config()) == site
    with pytest.raises(BadInput, match="this node has no data"):
        SiteData.read({})


def test_a_server_cannot_send_code_or_files_for_elsewhere(tmp_path):
    terms = SiteTerms("lm", "client", 2, {"step": "gradient"}, frozen=("table",))
    (tmp_path / "model").mkdir()
    for name in ("config.json", "words.txt", "net.py", "weights.pt"):
        (tmp_path / "model" / name).write_bytes(b"x")
    begin = Begin.of(terms, tmp_path / "model")
    assert sorted(begin.files) == ["config.json", "weights.pt", "words.txt"]
    assert Begin.read(begin.content()) == begin
    for name in ("net.py", "../../x.json", "/etc/x.txt", ".hidden.json"):
        with pytest.raises(BadInput, match="belongs to no model"):
            Begin.read(Begin(terms, {name: b"x"}).content())
    begin.keep(tmp_path / "kept")
    assert kept_terms(tmp_path / "kept") == terms


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"strategy": "central"}, "central sends the sites' text to the server"),
        ({"local": "dp-sgd", "noise": 1.0, "delta": 1e-5}, "find their own noise for one epsilon"),
        ({"per_round": 9}, "more than there are"),
    ],
)
def test_what_a_server_cannot_do_is_told_before_any_site_is_asked(asked, sentence, tmp_path):
    with pytest.raises(BadInput, match=sentence):
        prepare(GridJob(out=tmp_path / "out", task="lm", asked=StrategyChoice(**asked)), 3)


def test_sites_have_to_agree_on_labels(tmp_path):
    with pytest.raises(BadInput, match="agree on labels"):
        prepare(GridJob(out=tmp_path / "out", task="tagger", asked=StrategyChoice()), 3)


class Context:
    """What an app is told of its node."""

    def __init__(self, site: SiteData):
        self.run_id, self.node_config = 7, site.node_config()


@pytest.fixture
def start(tmp_path) -> Path:
    from textveil.nets.text_cnn import TextCNN
    from textveil.text.vectors import from_arrays

    words = "fine kind warm cold rude late".split()
    vectors = from_arrays(words, np.random.default_rng(0).normal(size=(6, 8)).astype(np.float32))
    TextCNN.of(("bad", "good"), vectors, channels=4).save(tmp_path / "start")
    return tmp_path / "start"


def notes(path: Path, labels: tuple[str, ...] = ("bad", "good"), count: int = 40) -> Path:
    rows = [{"text": "fine kind cold rude", "label": labels[k % len(labels)], "user": k % 4} for k in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


PRIVATE = {"batch": 8, "epochs": 1, "clip": 0.5, "delta": 1e-3, "noise": None, "target": 4.0, "rate": 1e-2}


def run_of(site: SiteData, start: Path, terms: SiteTerms):
    from textveil.recipes.federated.site_app import _Held

    held = _Held()
    tally = held.begin(Begin.of(terms, start).content(), Context(site))["tally"]
    return held.of(Context(site)), tally["units"]


def order(start: Path, round: int):
    from textveil.federated.messages import Order, order_content
    from textveil.federated.weights import flat_of, layout_of
    from textveil.nets.folders import load_net

    net = load_net(start)
    return order_content(layout_of(net), flat_of(net), Order(round, (0,)))


def test_dp_sgd_charges_the_ledger_of_the_site_before_each_round(tmp_path, start):
    from textveil.accounting.ledger import Ledger
    from textveil.core import Unit

    site = SiteData(data=notes(tmp_path / "a.jsonl"), ledger=tmp_path / "own.ledger", cache=tmp_path / "cache")
    terms = SiteTerms("classifier", "client", 3, {"step": "training"}, private=PRIVATE)
    run, units = run_of(site, start, terms)
    assert units == 1 and not site.ledger.exists()
    for round in (1, 2, 2):  # the server does round 2 again
        assert run.train(order(start, round))["tally"]["count"] == 1
    entries = list(Ledger(site.ledger, must_exist=True).entries())
    assert [entry.note.rpartition(": ")[2] for entry in entries] == ["round 1", "round 2", "round 2"]
    assert {entry.event.unit for entry in entries} == {Unit.EXAMPLE}
    assert run.plans.epsilon(40) == pytest.approx(4.0, rel=0.02)  # three rounds cost what was asked for


def test_a_budget_of_the_site_ends_its_part(tmp_path, start):
    from textveil.accounting.ledger import Ledger
    from textveil.core import Refused

    Ledger(tmp_path / "own.ledger").allow(unit="example", epsilon=0.5, delta=1e-3)
    site = SiteData(data=notes(tmp_path / "a.jsonl"), ledger=tmp_path / "own.ledger", cache=tmp_path / "cache")
    run, _ = run_of(site, start, SiteTerms("classifier", "client", 1, {"step": "training"}, private=PRIVATE))
    with pytest.raises(Refused, match="epsilon"):
        run.train(order(start, 1))


def test_users_of_a_site_are_units_of_their_own(tmp_path, start):
    site = SiteData(data=notes(tmp_path / "a.jsonl"), user_field="user", cache=tmp_path / "cache")
    run, units = run_of(site, start, SiteTerms("classifier", "user", 3, {"step": "gradient"}))
    assert units == 4 and [len(own) for own in run.units] == [10] * 4


def test_other_labels_and_missing_users_are_told_at_the_site(tmp_path, start):
    site = SiteData(data=notes(tmp_path / "a.jsonl", ("bad", "odd")), cache=tmp_path / "cache")
    with pytest.raises(BadInput, match=r"a\.jsonl, line 2: a tag or label here is unknown; possible: bad, good"):
        run_of(site, start, SiteTerms("classifier", "client", 1, {"step": "gradient"}))
    site = SiteData(data=notes(tmp_path / "b.jsonl"), cache=tmp_path / "cache")
    with pytest.raises(BadInput, match="no field names them"):
        run_of(site, start, SiteTerms("classifier", "user", 1, {"step": "gradient"}))
    with pytest.raises(BadInput, match="holds a model for the task 'classifier', not 'lm'"):
        run_of(site, start, SiteTerms("lm", "client", 1, {"step": "gradient"}))
