"""`textveil train vocab`, `train canaries` and the audits of a trained model, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from textveil.text import sample

pytest.importorskip("tokenizers")


def letters(count: int, name: str = "letters.jsonl", **more: str) -> str:
    """Some sentences of the bundled letters, repeated until there are enough."""
    texts = [json.loads(line)["text"] for line in sample.path().read_text(encoding="utf-8").splitlines()]
    rows = [{"text": texts[i % len(texts)][:120], "who": f"u{i % 7}", **more} for i in range(count)]
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def vocab(textveil, *more: object):
    return textveil("train", "vocab", letters(700), "-o", "out", "--size", 600, "--text-field", "text", *more)


def test_a_vocabulary_becomes_a_release(textveil):
    said = vocab(textveil, "--method", "policy", "--epsilon", 4, "--ledger", "v.ledger", "--json")
    assert said.code == 0, said.err
    shown = json.loads(Path("out/release.json").read_text())
    assert shown["mechanism"] == "training.vocab" and not shown["draft"] and shown["entry"] == said.json["entry"]
    assert shown["guarantee"]["unit"] == "example" and shown["guarantee"]["loss"]["epsilon"] <= 4
    assert {p.name for p in Path("out").iterdir()} == {"card.html", "model", "release.json", "words.tsv"}
    assert said.json["private_report"]["unknown"] == 0
    assert "tokens_per_word" not in json.dumps(shown)  # computed from private text: not released
    transformers = pytest.importorskip("transformers")
    made = transformers.AutoTokenizer.from_pretrained("out/model")
    assert made.vocab_size == said.json["pieces"] <= 600
    totals = textveil("ledger", "show", "v.ledger", "--json").json["totals"]
    assert [t["unit"] for t in totals if not t["from_larger"]] == ["example"]


def test_the_papers_rule_says_what_it_protects(textveil):
    said = vocab(textveil, "--method", "paper")
    assert said.code == 0, said.err
    assert "one occurrence of one word; an example of 256 words has a loss of up to 256 times epsilon" in said.out
    assert json.loads(Path("out/release.json").read_text())["guarantee"]["unit"] == "word"


def test_users_and_drafts(textveil):
    said = vocab(
        textveil, "--unit", "user", "--user-field", "who", "--seed", 1, "--no-compare", "--public-words", "none"
    )
    assert said.code == 0, said.err
    shown = json.loads(Path("out/release.json").read_text())
    assert shown["draft"] and shown["guarantee"]["label"] == "seeded" and shown["guarantee"]["unit"] == "user"
    assert "private report" not in said.out


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--unit", "user"), "--user-field"),
        (("--unit", "user", "--user-field", "nobody"), "line 1, field 'nobody': is missing"),
        (("--size", 10), "public alphabet"),
        (("--method", "magic"), "'magic' is not one of"),
        (("--delta", 2), "delta must be"),
        (("--public-words", "missing.txt"), "list of words"),
    ],
)
def test_bad_input_leaves_nothing(textveil, more, told):
    said = vocab(textveil, *more, "--ledger", "v.ledger")
    assert said.code == 2 and told in said.err, said.err
    assert sorted(p.name for p in Path().iterdir()) == ["letters.jsonl"]


def test_canaries_are_planted_and_the_model_is_audited(textveil):
    pytest.importorskip("torch")
    letters(60, "outside.jsonl")
    said = textveil(
        "train", "canaries", letters(60), "-o", "planted", "--text-field", "text", "--form", "HSH", "--form", "random",
        "--copies", 1, "--each", 15, "--candidates", 64, "--coin", "--json",
    )  # fmt: skip
    assert said.code == 0, said.err
    assert said.json["examples"] == 60 + said.json["planted"]
    made = textveil(
        "train", "lm", "planted/data.jsonl", "-o", "model", "--epsilon", 8, "--delta", 1e-3, "--size", 200, "--epochs", 1,
        "--batch", 32, "--text-field", "text",
    )  # fmt: skip
    assert made.code == 0, made.err
    found = textveil(
        "audit", "model", "--truth", "planted/canaries.json", "--attack", "training.exposure", "--attack",
        "training.one_run", "--json",
    )  # fmt: skip
    assert found.code == 0, found.err
    exposure, one_run = found.json["evidence"]
    assert exposure["attack"] == "training.exposure" and exposure["tries"] == said.json["planted"]
    assert one_run["coins"] == 30 and one_run["epsilon_floor"] <= 8
    members = textveil(
        "audit", "model", "--truth", "planted/data.jsonl", "--public", "outside.jsonl", "--text-field", "text", "--attack",
        "training.membership", "--attack", "training.lira", "--json",
    )  # fmt: skip
    assert members.code == 0, members.err
    assert [e["attack"] for e in members.json["evidence"]] == ["training.membership", "training.lira"]
    assert json.loads(Path("model/release.json").read_text())["evidence"] == []
    assert len(json.loads(Path("model.private/evidence.json").read_text())["evidence"]) == 4
    missing = textveil("audit", "model", "--attack", "training.exposure")
    assert missing.code == 2 and "--truth" in missing.err
