"""The study of use: its law is found again in made-up cells, and a frontier is written for its owner."""

from __future__ import annotations

import json
import math
import stat
from pathlib import Path

import pytest

from textveil.core import BadInput
from textveil.recipes.use.channel import Channel
from textveil.recipes.use.forecast import Curve, Table
from textveil.reproduce import study_of
from textveil.reproduce.claims import gaps, load_claims
from textveil.reproduce.frontier.page import recommendation
from textveil.reproduce.frontier.run import FrontierJob, find_frontier, recommended
from textveil.reproduce.use.collections import FORESEEN, LEARNT_FROM, SOURCES
from textveil.reproduce.use.law import fit_table, worth_of

LAW = Table(intercept=0.5, stay=1.2, alike=0.4, documents=0.8, spread=0.0, curves={})
SIZES = [10, 30, 100, 300, 1_000, 3_000, 10_000]


def made_up_cells() -> list[dict]:
    """Cells of the two collections that follow the law, and of one that is never learnt from and does not."""
    cells = []
    for name, rate in (("tweets", 0.05), ("stars", 0.08), ("complaints", 0.06)):
        curve = [[n, 0.4 + rate * math.log(n / 10)] for n in SIZES]
        cells.append({"cell": "clear", "parameters": {"name": name}, "result": {"curve": curve, "chance": 0.4}})
    for stay in (0.02, 0.1, 0.3, 0.6):
        arm = {"mechanism": "brr", "attack": stay}
        cells.append({"cell": "channel", "parameters": arm, "result": {"stay": stay, "alike": stay**0.5}})
        for name, rate in (("tweets", 0.05), ("stars", 0.08)):
            points = []
            for documents in (1_000, 8_000):
                worth = LAW.worth(Channel(stay, stay**0.5), documents)
                points.append({"documents": documents, "tfidf": 0.4 + rate * math.log(max(1, worth / 10))})
            cells.append({"cell": "table", "parameters": {"name": name, **arm}, "result": {"points": points}})
        wrong = {"documents": 1_000, "tfidf": 0.9}
        cells.append({"cell": "table", "parameters": {"name": "complaints", **arm}, "result": {"points": [wrong]}})
    return cells


def test_the_law_is_found_again_and_what_is_foreseen_is_never_learnt_from():
    found = fit_table(made_up_cells())
    law = found["law"]
    for name in ("intercept", "stay", "alike", "documents"):
        assert law[name] == pytest.approx(getattr(LAW, name), abs=0.1)
    assert found["spread"] < 0.1
    assert set(found["curves"]) == {"tweets", "stars"} and found["points"] == 16


def test_worth_inverts_a_curve():
    curve = Curve((10.0, 100.0, 1_000.0), (0.5, 0.7, 0.9), 0.5)
    for documents in (20, 100, 700):
        assert worth_of(curve, 0.5 + curve.gain(documents)) == pytest.approx(documents)


def test_the_study_keeps_its_test_apart_and_every_claim_has_cells():
    study = study_of("use")
    assert gaps(load_claims("use"), study) == []
    assert set(SOURCES) == {*LEARNT_FROM, *FORESEEN} and not set(LEARNT_FROM) & set(FORESEEN)
    learnt = {cell.parameters["name"] for cell in study.cells("full") if cell.kind == "table"}
    assert learnt == set(LEARNT_FROM)


def test_the_recommended_point_is_the_most_useful_one_that_is_allowed():
    def point(attack: float, value: float) -> dict:
        accuracy = {"value": value, "interval": [value - 0.02, value + 0.02]}
        return {"mechanism": "words.brr", "wanted": attack, "epsilon": attack, "accuracy": accuracy, "kept": value}

    points = [point(0.1, 0.6), point(0.2, 0.63), point(0.3, 0.9)]
    best = recommended(points, 0.2)
    assert best["epsilon"] == 0.2
    assert best["not_told_apart"] == [{"mechanism": "words.brr", "epsilon": 0.1}]
    assert "at most 20.0 % of words: words.brr at epsilon 0.2" in recommendation({"recommended": best, "target": 0.2})


@pytest.fixture
def labelled(tmp_path) -> Path:
    rows = [
        {"body": "A cup of tea, please." if n % 2 else "Rain all day.", "kind": "ab"[n % 2], "n": n} for n in range(60)
    ]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_frontier_is_for_its_owner_alone_and_goes_on_where_it_stopped(labelled, tmp_path):
    job = FrontierJob(
        out=tmp_path / "out",
        source=labelled,
        label_field="kind",
        text_field="body",
        mechanisms=("brr",),
        targets=(0.2,),
        draws=3,
    )
    steps = []

    def stop(done: int, cells: int) -> None:
        steps.append((done, cells))
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_frontier(job, progress=stop)
    work = tmp_path / ".out.cells"
    assert stat.S_IMODE(work.stat().st_mode) == 0o700 and not job.out.exists()
    kept = {path.name: path.stat().st_mtime_ns for path in work.rglob("*.json")}
    assert len(kept) == 3 and steps[-1] == (3, 5)
    found = find_frontier(job)
    assert not work.exists() and stat.S_IMODE(job.out.stat().st_mode) == 0o700
    assert {p.name for p in job.out.iterdir()} == {"frontier.html", "frontier.json", "frontier.svg"}
    assert all(stat.S_IMODE(p.stat().st_mode) == 0o600 for p in job.out.iterdir())
    assert found["accuracy"] == 1.0 and found["chance"] == 0.5 and len(found["points"]) == 1
    assert found["recommended"]["wanted"] == 0.2 and json.loads((job.out / "frontier.json").read_text()) == found
    page = (job.out / "frontier.html").read_text()
    assert "keep this folder as you keep the text" in page and "<svg" in page and "tea" not in page


def test_a_frontier_names_what_is_missing(labelled, tmp_path):
    with pytest.raises(BadInput, match="--label-field"):
        find_frontier(FrontierJob(out=tmp_path / "out", source=labelled))
    with pytest.raises(BadInput, match="no point is tried"):
        find_frontier(FrontierJob(out=tmp_path / "out", source=labelled, label_field="kind", target=0.01))
    with pytest.raises(BadInput, match="field 'n': holds no labels to learn"):
        find_frontier(FrontierJob(out=tmp_path / "out", source=labelled, label_field="n", text_field="body"))
