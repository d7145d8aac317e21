"""The overview of a folder of releases, and the charts."""

from __future__ import annotations

import json
import re

import pytest

from textveil.attacks.evidence import Evidence
from textveil.core import Adjacency, BadInput, Guarantee, Metric, NoPromise, Pure, Unit
from textveil.report import write_report
from textveil.report.svg import Bar, histogram, success_chart

FOUND = Evidence("words.bayes", "success", 0.31, 0.01, 310, 1000)


def put(folder, loss, evidence=(), draft=False, name="words.brr"):
    folder.mkdir(parents=True)
    shown = {
        "mechanism": name,
        "parameters": {"epsilon": 0.5},
        "guarantee": Guarantee(loss, Unit.WORD, Adjacency.METRIC).to_json(),
        "draft": draft,
        "data": "data.jsonl",
        "evidence": [e.to_json() for e in evidence],
    }
    (folder / "release.json").write_text(json.dumps(shown))
    (folder / "card.html").write_text("card")


def test_one_row_per_release(tmp_path):
    put(tmp_path / "brr", Metric(0.5, "hamming", "x", 256), [FOUND])
    put(tmp_path / "deep" / "bad <one>", Pure(0.5), [FOUND])
    put(tmp_path / "draft", NoPromise("a seed", "seeded"), draft=True)
    put(tmp_path / ".hidden.unfinished", Pure(0.1))
    result = write_report(tmp_path)
    stored = json.loads((tmp_path / "report.json").read_text())
    assert stored["releases"] == result["releases"]
    assert [r["name"] for r in stored["releases"]] == ["brr", "deep/bad <one>", "draft"]
    assert [r["label"] for r in stored["releases"]] == ["guarantee", "guarantee", "seeded"]
    assert [[e["refuted"] for e in r["evidence"]] for r in stored["releases"]] == [[False], [True], []]
    page = (tmp_path / "report.html").read_text()
    assert "A PROMISE IS REFUTED" in page
    assert "bad <one>" not in page
    assert re.findall(r'href="([^"]*)"', page) == [
        "brr/card.html", "deep/bad%20%3Cone%3E/card.html", "draft/card.html",
    ]  # fmt: skip
    assert not re.search(r"https?:|url\(|@import|<script", page)


def test_a_row_has_the_badge_of_its_card_and_what_left_unprotected(tmp_path):
    put(tmp_path / "near", Metric(0.5, "hamming", "x", 256), [FOUND])
    put(tmp_path / "green", Pure(1.0))
    shown = json.loads((tmp_path / "near" / "release.json").read_text())
    shown |= {"format": 2, "passes": ["the column 'customer'"], "facts": {"making": ["drawn on one machine"]}}
    (tmp_path / "near" / "release.json").write_text(json.dumps(shown))
    rows = {row["name"]: row for row in write_report(tmp_path)["releases"]}
    assert (rows["green"]["bounding"], rows["near"]["bounding"]) == (True, False)
    assert rows["near"]["passes"] == ["the column 'customer'"]
    assert "near words" in rows["near"]["in_short"]
    page = (tmp_path / "report.html").read_text()
    assert '<span class="label-near"><span class="badge badge-plain">Guarantee for near words</span></span>' in page
    assert '<span class="label-guarantee"><span class="badge badge-plain">Guarantee</span></span>' in page


def test_a_single_release_is_its_own_report(tmp_path):
    put(tmp_path / "one", Pure(1.0))
    result = write_report(tmp_path / "one")
    assert [r["name"] for r in result["releases"]] == ["one"]
    assert 'href="./card.html"' in (tmp_path / "one" / "report.html").read_text()


def test_what_cannot_be_read_is_listed_and_the_rest_reported(tmp_path):
    put(tmp_path / "good", Pure(1.0))
    for name, text in {"torn": "{", "strange": '{"mechanism": 1}', "list": "[]"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "release.json").write_text(text)
    put(tmp_path / "future", Pure(1.0))
    shown = json.loads((tmp_path / "future" / "release.json").read_text())
    shown["guarantee"]["loss"]["kind"] = "quantum"
    (tmp_path / "future" / "release.json").write_text(json.dumps(shown))
    result = write_report(tmp_path)
    assert [r["name"] for r in result["releases"]] == ["good"]
    assert [u["name"] for u in result["unreadable"]] == ["future", "list", "strange", "torn"]
    assert "Could not be read" in (tmp_path / "report.html").read_text()


def test_folders_without_releases_are_refused(tmp_path):
    with pytest.raises(BadInput, match="holds no release"):
        write_report(tmp_path)
    with pytest.raises(BadInput, match="is not a folder"):
        write_report(tmp_path / "nowhere")


def test_a_chart_draws_to_scale():
    chart = success_chart([Bar("a", "b", 0.25, 0.2, 0.3, 0.1, allowed=0.5)])
    assert 'width="25.000%"' in chart
    assert re.search(r'class="whisker" x1="20\.000%" x2="30\.000%"', chart)
    assert re.search(r'class="chance" x1="10\.000%"', chart)
    assert '<svg x="50.000%"' in chart
    assert success_chart([]) == ""


def test_a_refuting_bar_has_the_colour_of_alarm():
    assert "bar-alarm" in success_chart([Bar("a", "b", 0.9, 0.8, 1.0, 0.1, alarm=True)])
    assert "bar-alarm" not in success_chart([Bar("a", "b", 0.9, 0.8, 1.0, 0.1)])


def test_histogram_heights_are_relative_to_the_tallest():
    drawn = histogram([0.5, 0.25, 0.0], "distances")
    assert re.findall(r'height="([\d.]+)"><title>', drawn) == ["90.00", "45.00", "0.00"]
    assert histogram([], "none") == histogram([0.0], "none") == ""
