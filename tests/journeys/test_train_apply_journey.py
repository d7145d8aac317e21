"""`textveil train apply`: a model that was trained is used on raw text, from the shell and in Python."""

from __future__ import annotations

import csv
import json
import stat
from pathlib import Path

import pytest

import textveil as tv
from textveil.text.spans import Span

from .test_train_journey import WHOLE, tagged, write_conll, write_texts


def rows_of(path: str) -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


@pytest.fixture
def tagger(textveil):
    write_conll("notes.conll", tagged(60))
    options = ("--epsilon", 50, *WHOLE, "--rate", 0.05, "--hidden", 12, "--seed", 1)
    said = textveil("train", "tagger", "notes.conll", "-o", "tagger", *options)
    assert said.code == 0, said.err
    return "tagger"


LETTERS = ["Anna lives in Bern.", "Nothing here\n\nBoris lives in Oslo .", ""]


def test_spans_of_raw_text(textveil, tagger):
    Path("new.jsonl").write_text("".join(json.dumps({"id": f"n{i}", "text": t}) + "\n" for i, t in enumerate(LETTERS)))
    said = textveil("train", "apply", tagger, "new.jsonl", "-o", "found", "--conll", "--json")
    assert said.code == 0, said.err
    assert said.json["records"] == 3
    assert {p.name for p in Path("found").iterdir()} == {"spans.jsonl", "highlights.html", "tags.conll"}
    rows = rows_of("found/spans.jsonl")
    assert rows
    assert all(set(row) == {"id", "start", "end", "label", "score"} for row in rows)
    texts = {f"n{i}": t for i, t in enumerate(LETTERS)}
    named = {(row["label"], texts[row["id"]][row["start"] : row["end"]]) for row in rows}
    assert {("PER", "Anna"), ("LOC", "Bern"), ("PER", "Boris"), ("LOC", "Oslo")} <= named
    assert all(0 <= row["score"] <= 1 for row in rows)
    sentences = Path("found/tags.conll").read_text().split("\n\n")
    assert sentences[0].split("\n")[0].split() == ["Anna", "B-PER"]
    model = tv.training.load(tagger)
    spans = [(f"n{i}", s.start, s.end, s.label) for i, own in enumerate(model.find(LETTERS)) for s in own]
    assert spans == [(row["id"], row["start"], row["end"], row["label"]) for row in rows]


def test_only_the_owner_can_read_it_and_nothing_is_left_of_a_failure(textveil, tagger):
    Path("new.txt").write_text("Anna lives in Bern.\n")
    assert textveil("train", "apply", tagger, "new.txt", "-o", "found").code == 0
    for path in (Path("found"), *Path("found").iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    Path("bad.jsonl").write_text('{"text": "Anna"}\n{"text": Secret}\n')
    said = textveil("train", "apply", tagger, "bad.jsonl", "-o", "other")
    assert said.code == 2
    assert "bad.jsonl, line 2" in said.err
    assert "Secret" not in said.err
    assert not [p for p in Path().iterdir() if "other" in p.name]
    again = textveil("train", "apply", tagger, "new.txt", "-o", "found")
    assert again.code == 2
    assert "exists already" in again.err


def test_formats(textveil, tagger):
    """The same sentence gives the same spans, whatever file it stands in; conll keeps its own tokens."""
    text = "Anna lives in Bern ."
    Path("new.txt").write_text(text + "\n")
    Path("new.conll").write_text("".join(f"{word} X\n" for word in text.split()) + "\n")
    with open("new.csv", "w", newline="") as file:
        csv.writer(file).writerows([["key", "text"], ["k7", text]])
    found = {}
    for name, more in {
        "new.txt": (),
        "new.conll": (),
        "new.csv": ("--text-field", "text", "--id-field", "key"),
    }.items():
        said = textveil("train", "apply", tagger, name, "-o", f"{name}.out", "--no-page", *more)
        assert said.code == 0, said.err
        assert {p.name for p in Path(f"{name}.out").iterdir()} == {"spans.jsonl"}
        found[name] = [(r.pop("id"), r) for r in rows_of(f"{name}.out/spans.jsonl")]
    assert {i for i, _ in found["new.csv"]} == {"k7"}
    assert {i for i, _ in found["new.txt"]} == {1}
    assert [r for _, r in found["new.txt"]] == [r for _, r in found["new.csv"]] == [r for _, r in found["new.conll"]]


def test_a_string_is_words_and_not_characters(textveil, tagger, tmp_path, monkeypatch):
    model = tv.training.load(tagger)
    assert [len(row) for row in model.predict(["Anna lives in Bern"])] == [4]
    assert model.tag(["Anna lives"])[0][0] == ("Anna", "B-PER")
    assert model.predict(["Anna lives in Bern"]) == model.predict([["Anna", "lives", "in", "Bern"]])
    assert model.find(["Anna lives in Bern"])[0][0] == Span(
        0, 4, "PER", pytest.approx(1, abs=0.5), "model"
    ) and model.labels == ("LOC", "PER")
    with pytest.raises(tv.BadInput, match="not one text"):
        model.predict("Anna lives in Bern")
    monkeypatch.syspath_prepend(str(tmp_path / "tagger" / "model"))
    import net

    alone = net.load(tmp_path / "tagger" / "model")
    assert alone.tag(["Anna lives in Bern"]) == model.predict(["Anna lives in Bern"])


def test_loading_works_from_anywhere_and_keeps_the_promise(textveil, tagger, tmp_path, monkeypatch):
    place = Path(tagger).absolute()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    released, bare = tv.training.load(place), tv.training.load(str(place / "model"))
    assert released.guarantee_.label == "seeded"
    assert bare.guarantee_.label == "heuristic"
    assert released.get_params()["hidden"] == 12
    assert released.epsilon == 50
    X = [words for words, _ in tagged(5)]
    assert released.predict(X) == bare.predict(X)
    released.save(elsewhere / "copy")
    assert tv.training.load(elsewhere / "copy").predict(X) == bare.predict(X)


def test_labels_of_a_classifier(textveil):
    write_texts("letters.jsonl")
    options = ("--epsilon", 20, *WHOLE, "--rate", 0.02, "--text-field", "text", "--seed", 1)
    assert textveil("train", "classifier", "letters.jsonl", "-o", "model", *options).code == 0
    Path("new.txt").write_text("good fine great\nbad poor awful\n")
    said = textveil("train", "apply", "model", "new.txt", "-o", "found", "--chances")
    assert said.code == 0, said.err
    rows = rows_of("found/labels.jsonl")
    assert [(row["id"], row["label"]) for row in rows] == [(1, "praise"), (2, "blame")]
    assert all(row["score"] == max(row["chances"].values()) for row in rows)
    model = tv.training.load("model")
    assert model.predict(["good fine great", "bad poor awful"]).tolist() == ["praise", "blame"]
    refused = textveil("train", "apply", "model", "new.txt", "-o", "other", "--conll")
    assert refused.code == 2
    assert "--conll is for taggers" in refused.err
    assert not Path("other").exists()


def test_scores_of_a_language_model(textveil):
    write_texts("letters.jsonl")
    options = ("--epsilon", 20, *WHOLE, "--text-field", "text", "--seed", 1, "--size", 300)
    assert textveil("train", "lm", "letters.jsonl", "-o", "model", *options).code == 0
    Path("new.txt").write_text("good fine great\nbad\n")
    said = textveil("train", "apply", "model", "new.txt", "-o", "found", "--next", 2)
    assert said.code == 0, said.err
    model = tv.training.load("model")
    rows = rows_of("found/scores.jsonl")
    assert [row["perplexity"] for row in rows] == pytest.approx(model.perplexities(["good fine great", "bad"]))
    assert [len(row["next"]) for row in rows] == [2, 2]
    assert rows[0]["next"][0][0] == model.next_words("good fine great", 1)[0][0]


def test_a_vocabulary_is_loaded_too(textveil):
    write_texts("letters.jsonl")
    said = textveil("train", "vocab", "letters.jsonl", "-o", "v", "--size", 600, "--text-field", "text", "--epsilon", 8)
    assert said.code == 0, said.err
    vocabulary = tv.training.load("v")
    assert set(vocabulary.words) <= set("good fine great lovely bad poor awful sad".split())
    assert vocabulary.guarantee_.label == "guarantee"
    assert "".join(vocabulary.pieces(["good"])[0]).replace("##", "") == "good"
    refused = textveil("train", "apply", "v", "letters.jsonl", "-o", "found")
    assert refused.code == 2
    assert "holds a vocabulary" in refused.err


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_what_is_no_model(textveil, name):
    Path("empty").mkdir()
    Path("new.txt").write_text("Anna\n")
    said = textveil("train", "apply", name, "new.txt", "-o", "found")
    assert said.code == 2
    assert name in said.err
    assert said.err.count("\n") == 1
