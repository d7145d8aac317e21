"""Release folders: contract 2, and that nothing half-written stays."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from scipy import sparse

import textveil as tv
from textveil.core import Adjacency, BadInput, Event, Guarantee, Metric, MetricNoise, Payload, Release, Stamp, Unit


def a_release(value) -> Release:
    event = Event(MetricNoise(0.5, "hamming", "ab"), Unit.WORD, Adjacency.METRIC, mechanism="words.brr")
    promise = Guarantee(Metric(0.5, "hamming", "ab"), Unit.WORD, Adjacency.METRIC, ("public codes",), "Theorem 3")
    return Release(value, event, promise, "line-7", Stamp.now("words.brr", {"epsilon": 0.5}, draft=False))


@pytest.mark.parametrize(
    "value, name",
    [
        (["one", "zwei\n☃"], "data.jsonl"),
        ([], "data.jsonl"),
        ({"counts": [1, 2]}, "data.json"),
        (np.arange(6).reshape(2, 3), "data.npz"),
        (sparse.csr_matrix([[0, 1], [2, 0]]), "data.npz"),
    ],
)
def test_save_and_load(tmp_path, value, name):
    folder = a_release(value).save(tmp_path / "out")
    assert sorted(p.name for p in folder.iterdir()) == sorted(["card.html", "release.json", name])
    again = Release.load(folder)
    same = again.value != value if sparse.issparse(value) else None
    assert same.nnz == 0 if same is not None else np.array_equal(again.value, value)
    assert (again.guarantee, again.event, again.entry) == (a_release(value).guarantee, a_release(value).event, "line-7")


def test_manifest_keys_of_contract_2(tmp_path):
    shown = json.loads((a_release(["x"]).save(tmp_path / "out") / "release.json").read_text())
    wanted = "textveil mechanism parameters guarantee entry draft created versions data evidence".split()
    assert set(wanted) <= set(shown)
    assert shown["guarantee"]["loss"] == {"kind": "metric", "epsilon": 0.5, "metric": "hamming", "metric_id": "ab"}
    assert (shown["guarantee"]["unit"], shown["guarantee"]["label"], shown["draft"]) == ("word", "guarantee", False)


def test_nothing_is_overwritten(tmp_path):
    a_release(["x"]).save(tmp_path / "out")
    with pytest.raises(BadInput, match="exists already"):
        a_release(["y"]).save(tmp_path / "out")
    assert Release.load(tmp_path / "out").value == ["x"]


def test_a_failed_save_leaves_nothing(tmp_path):
    with pytest.raises(BadInput, match="cannot be saved"):
        a_release(object()).save(tmp_path / "out")
    assert os.listdir(tmp_path) == []


def test_models_are_copied_as_folders(tmp_path):
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "w.bin").write_bytes(b"1")
    folder = a_release(Payload(tmp_path / "weights")).save(tmp_path / "out")
    assert (folder / "model" / "w.bin").read_bytes() == b"1"


@pytest.mark.parametrize("content", [None, "not json", "[]", '{"mechanism": 1}'])
def test_a_folder_that_is_no_release_is_named(tmp_path, content):
    if content is not None:
        (tmp_path / "release.json").write_text(content)
    with pytest.raises(BadInput, match="release"):
        Release.load(tmp_path)


def test_post_processing_keeps_the_promise():
    release = a_release(["b", "a"])
    after = release.then(sorted)
    assert after.value == ["a", "b"] and after.guarantee == release.guarantee and after.entry == release.entry


def test_all_public_names_resolve():
    assert all(getattr(tv, name) is not None for name in tv.__all__)


def test_a_link_beside_it_is_not_emptied(tmp_path):
    (tmp_path / "others").mkdir()
    (tmp_path / "others/letter").write_text("keep")
    (tmp_path / ".out.new").symlink_to("others")
    with pytest.raises(BadInput, match="is a link"):
        a_release(["x"]).save(tmp_path / "out")
    assert (tmp_path / "others/letter").read_text() == "keep"


HOSTILE = {
    "data": ["../secret.txt", "/etc/hostname", "..", "", "model/../../secret.txt", None, 3, ["data.txt"]],
    "mechanism": [None, 3, ["words.brr"], {}],
    "parameters": [None, [], "epsilon"],
    "guarantee": [None, [], "pure"],
    "passes": ["all", [3], [None], {}],
    "evidence": ["none", [3], {}],
    "facts": [[], "none"],
    "draft": [None, "no"],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in HOSTILE.items() for value in values])
def test_a_manifest_from_elsewhere_leads_nowhere_and_is_refused_in_a_sentence(tmp_path, key, value):
    folder = a_release(["x"]).save(tmp_path / "out")
    (tmp_path / "secret.txt").write_text("private")
    path = folder / "release.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(BadInput, match=key):
        Release.load(folder)


def test_a_data_file_that_is_a_link_out_of_the_folder_is_refused(tmp_path):
    folder = a_release(["x"]).save(tmp_path / "out")
    (tmp_path / "secret.txt").write_text('{"text": "private"}\n')
    (folder / "data.jsonl").unlink()
    (folder / "data.jsonl").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(BadInput, match="outside of the folder"):
        Release.load(folder)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1" + "0" * 400])
def test_a_number_that_json_does_not_know_is_refused(tmp_path, number):
    folder = a_release(["x"]).save(tmp_path / "out")
    path = folder / "release.json"
    path.write_text(path.read_text().replace('"epsilon": 0.5', f'"epsilon": {number}'))
    with pytest.raises(BadInput, match="not valid JSON"):
        Release.load(folder)
