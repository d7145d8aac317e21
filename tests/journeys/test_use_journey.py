"""The way of a user who asks for use: foreseen before the charge, measured after it, published on wish."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from textveil.text import sample

VEIL = ("veil", "-o", "out", "--text-field", "text")


@pytest.fixture
def letters() -> Path:
    return sample.path()


def test_use_is_foreseen_before_anything_is_charged(textveil, letters):
    Path("l.ledger").mkdir()  # no ledger can be charged there
    said = textveil(*VEIL, letters, "--epsilon", 0.5, "--ledger", "l.ledger")
    assert said.code == 2 and not Path("out").exists()
    Path("l.ledger").rmdir()
    said = textveil(
        "veil",
        letters,
        "-o",
        "out",
        "--epsilon",
        0.5,
        "--text-field",
        "text",
        "--label-field",
        "kind",
        "--ledger",
        "l.ledger",
    )
    lines = said.out.splitlines()
    assert said.code == 0 and lines[0].startswith("use to expect: a classifier learns from these 110 documents")
    assert "on this file (for you alone): classify by kind" in said.out
    shown = json.loads(Path("out/release.json").read_text())
    assert "foreseen" not in json.dumps(shown) and "expected" not in shown  # nothing of it leaves


def test_a_setting_that_leaves_next_to_nothing_is_warned_about(textveil, letters):
    poor = textveil("veil", letters, "-o", "poor", "--epsilon", 0.1, "--text-field", "text", "--json")
    assert poor.code == 0 and "next to nothing is expected" in poor.err
    assert poor.json["expected"]["kept"] < 0.25
    fine = textveil("veil", letters, "-o", "fine", "--stay", 0.9, "--text-field", "text")
    assert fine.code == 0 and "next to nothing" not in fine.err
    assert fine.out.splitlines()[0].startswith("epsilon ")


def test_measure_keeps_its_figures_for_the_owner_and_publishes_on_wish(textveil, letters):
    textveil(*VEIL, letters, "--epsilon", 0.6, "--ledger", "l.ledger")
    measure = ("measure", "out", "--truth", letters, "--label-field", "kind")
    said = textveil(*measure)
    assert said.code == 0 and "for you alone; the folder is as it was" in said.out
    assert "classify by kind" in said.out and "not done: topics" in said.out
    refused = textveil("measure", "out", "--truth", letters, "--publish")
    assert refused.code == 2 and "--ledger FILE" in refused.err
    said = textveil(
        "measure",
        "out",
        "--truth",
        letters,
        "--label-field",
        "kind",
        "--task",
        "classify",
        "--publish",
        "--ledger",
        "l.ledger",
        "--json",
    )
    assert said.code == 0 and len(said.json["utility"]) == 2
    assert "classify by kind" in Path("out/card.html").read_text()


def test_measure_of_counts(textveil, letters):
    textveil(
        "counts",
        letters,
        "-o",
        "out",
        "--epsilon",
        50,
        "--precision",
        1,
        "--text-field",
        "text",
        "--vocabulary-size",
        2000,
    )
    said = textveil("measure", "out", "--truth", letters, "--label-field", "kind", "--text-field", "text", "--json")
    assert said.code == 0, said.err
    by_task = {row["task"]: row for row in said.json["utility"]}
    assert by_task["find the 10 nearest documents"]["value"] > 0.9  # next to no noise at this epsilon
    assert "classify by kind" in by_task


def test_frontier_of_the_bundled_letters(textveil):
    said = textveil("frontier", "-o", "out", "--mechanism", "words.brr", "--attack-success", "0.2", "--draws", 2)
    assert said.code == 0 and "Most useful where the best attack succeeds in at most 20.0 %" in said.out
    assert Path("out/frontier.html").is_file()
    assert textveil("frontier", "-o", "other", "--attack-success", "a,b").code == 2
