"""The study of use: its law is found again in made-up cells, and a frontier is written for its owner."""

from __future__ import annotations

import json
import math
import stat
from importlib.resources import files
from pathlib import Path

import pytest

from textveil.core import BadInput
from textveil.recipes.use.channel import Channel
from textveil.recipes.use.forecast import Curve, Table
from textveil.recipes.use.trial import Trial
from textveil.reproduce import study_of
from textveil.reproduce.cells import Cell
from textveil.reproduce.claims import gaps, load_claims
from textveil.reproduce.frontier.page import recommendation
from textveil.reproduce.frontier.run import FrontierJob, find_frontier, recommended
from textveil.reproduce.study import Results
from textveil.reproduce.use.collections import FORESEEN, LEARNT_FROM, SOURCES
from textveil.reproduce.use.law import TrialPoint, fit_growth, fit_table, left_out_error
from textveil.reproduce.use.measures import forecast_error

LAW = Table(intercept=0.5, stay=1.2, alike=0.4, documents=0.8, spread=0.0, curves={})
SIZES = [10, 30, 100, 300, 1_000, 3_000, 10_000]


def cells_curve(rate: float) -> dict:
    return {"curve": [[n, 0.4 + rate * math.log(n / 10)] for n in SIZES], "chance": 0.4}


def made_up_cells() -> list[dict]:
    """Cells of the two collections that follow the law, and of one that is never learnt from and does not."""
    cells = []
    for name, rate in (("tweets", 0.05), ("stars", 0.08), ("complaints", 0.06)):
        cells.append({"cell": "clear", "parameters": {"name": name}, "result": cells_curve(rate)})
    for stay in (0.02, 0.1, 0.3, 0.6):
        arm = {"mechanism": "brr", "attack": stay}
        cells.append({"cell": "channel", "parameters": arm, "result": {"stay": stay, "alike": stay**0.5}})
        for name, rate in (("tweets", 0.05), ("stars", 0.08)):
            points = []
            for documents in (1_000, 8_000):
                worth = LAW.worth(Channel(stay, stay**0.5), documents)
                points.append({"documents": documents, "tfidf": 0.4 + rate * math.log(max(1, worth / 10))})
            cells.append({"cell": "table", "parameters": {"name": name, **arm}, "result": {"points": points}})
            for kind, result in (
                ("trial", {"learnt": 800, "accuracy": points[0]["tfidf"]}),
                ("own", cells_curve(rate)),
            ):
                cells.append({"cell": kind, "parameters": {"name": name, "file": 8_000, **arm}, "result": result})
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


def test_the_growth_of_trials_is_found_again():
    curve = Curve(tuple(map(float, SIZES)), tuple(0.4 + 0.06 * math.log(n / 10) for n in SIZES), 0.4)

    def points(name: str, growth: float) -> list[TrialPoint]:
        trial = Trial(800, 0.4 + curve.gain(100))
        grown = [(n, 0.4 + curve.gain(100 * (n / 800) ** growth)) for n in (1_000, 3_000, 8_000)]
        return [TrialPoint(name, trial, n, accuracy, curve) for n, accuracy in grown]

    assert fit_growth(points("tweets", 0.7)) == pytest.approx(0.7, abs=1e-3)
    other = points("stars", 0.9)
    assert left_out_error([*points("tweets", 0.7), *other], "stars") == pytest.approx(
        math.sqrt(sum(point.missed(0.7) ** 2 for point in other) / 3), abs=1e-4
    )


def test_the_study_keeps_its_test_apart_and_every_claim_has_cells():
    study = study_of("use")
    assert gaps(load_claims("use"), study) == []
    assert set(SOURCES) == {*LEARNT_FROM, *FORESEEN} and not set(LEARNT_FROM) & set(FORESEEN)
    learnt = {cell.parameters["name"] for cell in study.cells("full") if cell.kind == "table"}
    assert learnt == set(LEARNT_FROM)


KEPT = Path(__file__).parents[3] / "docs" / "results" / "use" / "results.json"
WITHIN = 0.05


def kept_results() -> Results:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))["cells"]
    return Results({Cell.of(entry["cell"], **entry["parameters"]): entry["result"] for entry in kept})


FORESEEN_POINTS = [
    *(("frontier", name, 2_000, {"attack": attack}) for name in FORESEEN for attack in (0.05, 0.1, 0.2, 0.4)),
    *(("bank", "complaints", 6_000, {"epsilon": epsilon}) for epsilon in (0.3, 0.5)),
]


@pytest.mark.parametrize(("kind", "name", "documents", "setting"), FORESEEN_POINTS)
def test_what_the_shipped_table_foresees_is_near_to_what_was_measured(kind, name, documents, setting):
    """The kept measurements (ten draws of each point, two of the bank's) against the table that ships."""
    errors = forecast_error(kept_results(), kind=kind, name=name, documents=documents, mechanism="brr")
    (wanted,) = [f"{key} {value:g}" for key, value in setting.items()]
    (error,) = [error.value for error in errors if error.label.endswith(f", {wanted}")]
    assert abs(error) <= WITHIN


def test_the_shipped_table_is_the_one_that_the_kept_results_give():
    kept = json.loads(KEPT.read_text(encoding="utf-8"))["cells"]
    shown = json.loads(files("textveil.recipes.use").joinpath("forecast.json").read_text(encoding="utf-8"))
    again = fit_table(kept)
    assert again["growth"] == pytest.approx(shown["growth"], abs=2e-3)
    assert again["law"] == pytest.approx(shown["law"], abs=0.02) and set(again["curves"]) == set(shown["curves"])


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
