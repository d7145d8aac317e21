"""`pii find` and `pii mask` from the command line: what leaves, what is counted, and mistakes on purpose."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from textveil.cli import run

PLANTED = ("zyxwq.unique@example.org", "4111 1111 1111 1111", "+49 30 7654321", "Zyxwina Qworble", "1964-05-17")
TEXTS = [
    f"Dear {PLANTED[3]}, we wrote to {PLANTED[0]} and called {PLANTED[2]}.",
    f"Card {PLANTED[1]}, born {PLANTED[4]}. zyxwina qworble is known.",
    "Nothing stands here.",
]


@pytest.fixture
def pii(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    rows = [{"id": f"d{n}", "text": text, "city": "Bern"} for n, text in enumerate(TEXTS)]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def call(*arguments):
        code = run(["pii", *arguments])
        return code, capsys.readouterr()

    return call


MASK = ("mask", "in.jsonl", "-o", "out", "--text-field", "text")


def masked() -> list[str]:
    return [json.loads(line)["text"] for line in Path("out/data.jsonl").read_text().splitlines()]


def files_with(words, leave: tuple[str, ...]) -> list[str]:
    files = [p for p in Path(".").rglob("*") if p.is_file() and p.name not in leave]
    return [str(p) for p in files if any(w.encode() in p.read_bytes().lower() for w in words)]


@pytest.mark.parametrize("how", ["redact", "tag", "hash", "pseudonym"])
def test_planted_values_survive_nowhere(pii, how):
    code, said = pii(*MASK, "--how", how, "--ledger", "l.ledger")
    assert code == 0, said.err
    assert files_with([p.lower() for p in PLANTED[:3]] + [PLANTED[4]], leave=("in.jsonl",)) == []
    assert not any(p.lower() in (said.out + said.err).lower() for p in PLANTED)
    assert masked()[2] == TEXTS[2]


def test_a_recognised_value_that_stands_elsewhere_is_counted(pii):
    _, said = pii(*MASK, "--json")
    assert json.loads(said.out)["repeats"] == 1
    card = Path("out/card.html").read_text()
    assert "1 times a value that was recognised somewhere stands unmasked elsewhere" in card
    assert "heuristic" in card.lower() and "anonym" not in card.lower()


def test_columns_that_leave_are_named_and_can_be_left_out(pii):
    _, said = pii(*MASK, "--json")
    assert "column 'city'" in json.loads(said.out)["passes"]
    code, _ = pii("mask", "in.jsonl", "-o", "out2", "--text-field", "text", "--only-text")
    assert code == 0 and "Bern" not in Path("out2/data.jsonl").read_text()


def test_hashes_of_one_key_agree_and_of_none_do_not(pii):
    for name, key in (("a", ("--key-file", "key")), ("b", ("--key-file", "key")), ("c", ())):
        code, said = pii("mask", "in.jsonl", "-o", name, "--text-field", "text", "--how", "hash", *key)
        assert code == 0, said.err
    a, b, c = (Path(name, "data.jsonl").read_text() for name in "abc")
    assert a == b != c
    assert os.stat("key").st_mode & 0o777 == 0o600
    secret = Path("key").read_text().strip()
    assert files_with([secret.lower()], leave=("key",)) == []


def test_a_key_that_others_can_read_is_refused(pii):
    pii(*MASK, "--how", "hash", "--key-file", "key")
    os.chmod("key", 0o644)
    code, said = pii("mask", "in.jsonl", "-o", "o2", "--text-field", "text", "--how", "hash", "--key-file", "key")
    assert code == 2 and "can be read by others" in said.err and not Path("o2").exists()


def test_recall_on_a_reviewed_sample_stands_on_the_card(pii):
    text = "Mail bo@example.org to Karl Unfound."
    marks = [{"start": 5, "end": 19, "label": "EMAIL_ADDRESS"}, {"start": 23, "end": 35, "label": "PERSON"}]
    Path("reviewed.jsonl").write_text(json.dumps({"id": "r", "text": text, "spans": marks}) + "\n")
    _, said = pii(*MASK, "--reviewed", "reviewed.jsonl", "--json")
    recall = json.loads(said.out)["recall"]
    assert (recall["found"], recall["marked"]) == (1, 2)
    assert recall["interval"] == pytest.approx([0.0126, 0.9874], abs=1e-3)
    assert "recall on reviewed.jsonl: 50.0 % [1.3 %, 98.7 %] (1 of 2)" in Path("out/card.html").read_text().replace(
        "&nbsp;", " "
    )


def test_find_writes_places_and_no_values(pii):
    code, _ = pii("find", "in.jsonl", "-o", "spans.jsonl", "--text-field", "text")
    rows = [json.loads(line) for line in Path("spans.jsonl").read_text().splitlines()]
    assert code == 0 and {"id", "start", "end", "label", "score", "rule"} <= set(rows[0])
    assert files_with([p.lower() for p in PLANTED], leave=("in.jsonl",)) == []
    assert os.stat("spans.jsonl").st_mode & 0o777 == 0o600


def test_a_policy_chooses_labels_and_says_what_is_not_looked_for(pii):
    code, said = pii(*MASK, "--policy", "hipaa")
    assert code == 0, said.err
    assert "not looked for at all: Biometric identifiers" in Path("out/card.html").read_text()
    _, said = pii("policy", "hipaa", "--json")
    assert [t["found"] for t in json.loads(said.out)["types"]].count("not at all") == 2


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--model", "nothing-there"), "nothing-there"),
        (("--policy", "hippa"), "unknown policy 'hippa'; there are: hipaa"),
        (("--labels", "PERSONS"), "unknown kind of personal data 'PERSONS'"),
        (("--thresholds", "AGE"), "a threshold is a label and a score"),
        (("--labels", "AGE", "--policy", "hipaa"), "exclude each other"),
        (("--reviewed", "in.jsonl"), "a reviewed document has a text and spans"),
        (("--seed", "1", "--key-file", "k"), "exclude each other"),
    ],
)
def test_mistakes_are_told_in_one_sentence(pii, more, sentence):
    code, said = pii(*MASK, *more)
    assert code == 2 and sentence in said.err and len(said.err.strip().splitlines()) == 1
    assert not Path("out").exists()


SECRETS = ("--map", "people.map", "--key-file", "key")


@pytest.mark.parametrize("how", ["pseudonym", "redact"])
def test_a_map_and_its_key_undo_a_masking(pii, how):
    code, said = pii(*MASK, "--how", how, *SECRETS)
    assert code == 0, said.err
    assert files_with([p.lower() for p in PLANTED[:3]], leave=("in.jsonl",)) == []
    assert os.stat("people.map").st_mode & 0o777 == 0o600 and sorted(os.listdir("out")) == [
        "card.html",
        "data.jsonl",
        "release.json",
    ]
    code, said = pii("unmask", "out", "-o", "back", *SECRETS)
    assert code == 0, said.err
    assert Path("back/data.jsonl").read_text() == Path("in.jsonl").read_text()
    assert os.stat("back").st_mode & 0o777 == 0o700


def test_a_wrong_key_is_told_in_one_sentence(pii):
    pii(*MASK, "--how", "pseudonym", *SECRETS)
    pii("mask", "in.jsonl", "-o", "o2", "--text-field", "text", "--how", "hash", "--key-file", "other")
    code, said = pii("unmask", "out", "-o", "back", "--map", "people.map", "--key-file", "other")
    assert code == 2 and "was made with another key" in said.err and len(said.err.strip().splitlines()) == 1
    assert not Path("back").exists()
    code, said = pii(
        "mask", "in.jsonl", "-o", "o3", "--text-field", "text", "--map", "people.map", "--key-file", "other"
    )
    assert code == 2 and "was made with another key" in said.err and not Path("o3").exists()


def test_two_maskings_share_their_people(pii):
    pii(*MASK, "--how", "pseudonym", *SECRETS)
    first = masked()
    Path("in.jsonl").write_text(json.dumps({"id": "x", "text": f"Dear {PLANTED[3]}, again."}) + "\n")
    code, said = pii("mask", "in.jsonl", "-o", "more", "--text-field", "text", "--how", "pseudonym", *SECRETS)
    assert code == 0, said.err
    name = " ".join(first[0].split()[1:3]).rstrip(",")
    assert name in Path("more/data.jsonl").read_text()
    assert pii("unmask", "out", "-o", "b1", *SECRETS)[0] == 0 and pii("unmask", "more", "-o", "b2", *SECRETS)[0] == 0


def test_a_changed_release_is_not_unmasked(pii):
    pii(*MASK, "--how", "tag", *SECRETS)
    path = Path("out/data.jsonl")
    path.write_text(path.read_text().replace("Nothing", "Something"))
    code, said = pii("unmask", "out", "-o", "back", *SECRETS)
    assert code == 2 and "was changed since it was masked" in said.err and not Path("back").exists()


def test_secrets_never_stand_in_the_release(pii):
    code, said = pii(*MASK, "--map", "out/people.map", "--key-file", "key")
    assert code == 2 and "secrets never stand in the release folder" in said.err


def test_reviewed_spans_are_masked(pii):
    Path("spans.jsonl").write_text(json.dumps({"id": "d2", "start": 0, "end": 7, "label": "THING"}) + "\n")
    code, said = pii(*MASK, "--spans", "spans.jsonl")
    assert code == 0, said.err
    assert masked() == [*TEXTS[:2], "[THING] stands here."]
    Path("spans.jsonl").write_text(json.dumps({"id": "nobody", "start": 0, "end": 7, "label": "THING"}) + "\n")
    code, said = pii("mask", "in.jsonl", "-o", "o2", "--text-field", "text", "--spans", "spans.jsonl")
    assert code == 2 and "documents that are not in the file" in said.err


def marked_rows(count=60):
    names = ("Anna", "Bo", "Carl", "Dora", "Emil", "Frida")
    for n in range(count):
        text = f"We told {names[n % 6]} that the fee is due."
        yield {"id": str(n), "text": text, "spans": [{"start": 8, "end": 8 + len(names[n % 6]), "label": "PERSON"}]}


def test_a_trained_tagger_finds_and_masks(pii):
    Path("marked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in marked_rows()))
    code, said = pii(
        "train", "marked.jsonl", "-o", "tagger", "--bits", "12", "--test", "marked.jsonl", "--text-field", "text"
    )
    assert code == 0, said.err
    assert "nothing is promised (heuristic)" in said.out and "F1 1.000" in said.out
    assert sorted(os.listdir("tagger/model")) == ["tagger.json", "weights.npz"]
    Path("in.jsonl").write_text(json.dumps({"id": "x", "text": "We told Karl that bo@example.org is due."}) + "\n")
    code, said = pii(*MASK, "--model", "tagger", "--model", "patterns")
    assert code == 0, said.err
    assert masked() == ["We told [PERSON] that [EMAIL_ADDRESS] is due."]
    assert "by rule and by model" in pii("policy", "hipaa", "--model", "patterns", "--model", "tagger")[1].out


def test_bio_files_train_too(pii):
    lines = ["We\tO\ntold\tO\n{}\tB-PERSON\n.\tO\n".format(row["text"].split()[2]) for row in marked_rows(30)]
    Path("in.conll").write_text("\n".join(lines))
    assert pii("train", "in.conll", "-o", "tagger", "--bits", "10")[0] == 0
    Path("bad.conll").write_text("We\tO\ntold\tI-PERSON\n")
    code, said = pii("train", "bad.conll", "-o", "t2")
    assert code == 2 and "line 2" in said.err and "I- tag" in said.err


def write_people(count=30):
    rows, records = [], []
    for n in range(count):
        rows.append({"id": f"p{n}", "text": f"Dear Anna Meyer{n}, hello. meyer{n} is {n + 30} and lives in Town{n}."})
        records.append({"id": f"p{n}", "name": f"Anna Meyer{n}", "age": n + 30, "town": f"Town{n}"})
    for name, listed in (("in.jsonl", rows), ("records.jsonl", records)):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in listed))


def test_attacks_name_people_that_masks_left(pii, capsys):
    write_people()
    for out in ("out", "other"):
        assert pii("mask", "in.jsonl", "-o", out, "--text-field", "text", "--how", "hash", "--key-file", "key")[0] == 0
    before = Path("out/card.html").read_bytes()
    run(["audit", "out", "--truth", "in.jsonl", "--records", "records.jsonl", "--other", "other", "--json"])
    shown = json.loads(capsys.readouterr().out)["evidence"]
    values = {e["attack"]: e["value"] for e in shown}
    assert values.pop("pii.recognised") < 0.4  # no capitals are left, so it guesses
    assert values == {"pii.refound": 1.0, "pii.quasi": 1.0, "pii.pseudonyms": 1.0}
    assert Path("out/card.html").read_bytes() == before
    assert run(["audit", "out", "--other", "other"]) == 0 and "pii.pseudonyms" in Path("out/card.html").read_text()


def test_without_names_and_without_a_shared_key_attacks_are_near_chance(pii, capsys):
    write_people()
    rows = [json.loads(line) for line in Path("in.jsonl").read_text().splitlines()]
    for row in rows:
        row["text"] = row["text"].split(" meyer")[0]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for out in ("out", "other"):
        assert pii("mask", "in.jsonl", "-o", out, "--text-field", "text", "--how", "pseudonym")[0] == 0
    run(["audit", "out", "--truth", "in.jsonl", "--records", "records.jsonl", "--other", "other", "--json"])
    shown = json.loads(capsys.readouterr().out)["evidence"]
    assert all(e["value"] <= 0.4 for e in shown)
    assert len(shown) == 4


def test_a_second_recogniser_finds_what_the_first_one_missed(pii, capsys):
    """The patterns mask names after a title; a name inside a sentence stays, and is found again by its capitals."""
    rows = [{"id": f"p{n}", "text": f"Dear Anna Meyer{n}, yesterday Otto Lang{chr(97 + n)} came."} for n in range(20)]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert pii("mask", "in.jsonl", "-o", "out", "--text-field", "text")[0] == 0
    assert "Otto" in masked()[0]
    run(["audit", "out", "--truth", "in.jsonl", "--attack", "pii.recognised", "--json"])
    (found,) = json.loads(capsys.readouterr().out)["evidence"]
    assert found["value"] == 1.0
    assert "20 documents hold a marked value" in found["notes"][0]
    run(["audit", "out", "--truth", "in.jsonl", "--attack", "pii.recognised", "--recogniser", "patterns", "--json"])
    (missed,) = json.loads(capsys.readouterr().out)["evidence"]
    assert missed["hits"] < 10  # the recogniser that masked finds nothing more
    assert run(["audit", "out", "--truth", "in.jsonl", "--recogniser", "nowhere"]) == 2
    assert "patterns, names, presidio" in capsys.readouterr().err
