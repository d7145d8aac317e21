"""`veil --mask`: what is masked never reaches the noise, and the card states both halves apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from textveil.cli import run
from textveil.recipes.pii.veil_mask import MaskBeforeVeil

TEXT = "Please write to zyxwq@example.org or call +49 30 7654321 about the good weather."


@pytest.fixture
def veil(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [{"id": str(n), "text": TEXT if n % 2 else "Nothing stands here but weather."} for n in range(6)]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def call(*more):
        code = run(["veil", "in.jsonl", "-o", "out", "--epsilon", "0.5", "--text-field", "text", *more])
        return code, capsys.readouterr()

    return call


def texts():
    return [json.loads(line)["text"] for line in Path("out/data.jsonl").read_text().splitlines()]


def test_masked_words_are_gone_and_the_others_are_veiled(veil):
    code, said = veil("--mask", "patterns")
    assert code == 0, said.err
    for text in texts()[1::2]:
        assert "[EMAIL_ADDRESS]" in text and "[PHONE_NUMBER]" in text and "zyxwq" not in text and "7654321" not in text
    assert all("[" not in text for text in texts()[::2])
    assert not any(b"zyxwq" in p.read_bytes() for p in Path("out").iterdir())


def test_the_card_states_both_halves(veil):
    veil("--mask", "patterns")
    shown = json.loads(Path("out/release.json").read_text())
    assert shown["guarantee"]["label"] == "guarantee"
    assert any("masked at the same places" in line for line in shown["guarantee"]["assumes"])
    assert shown["passes"][0].startswith("where masks stand")
    card = Path("out/card.html").read_text()
    assert "between texts that are masked at different places nothing is promised" in card
    assert "every word outside of masks was drawn under the promise" in card


def test_an_audit_runs_without_the_truth_and_says_why_not_with_it(veil, capsys):
    veil("--mask", "patterns")
    assert run(["audit", "out", "--attack", "words.two_worlds"]) == 0
    assert run(["audit", "out", "--attack", "words.bayes", "--truth", "in.jsonl"]) == 2
    assert "was masked before it was veiled" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "sentence"),
    [(("--mask", "no-such"), "is no recogniser"), (("--mask-labels", "AGE"), "belongs to --mask")],
)
def test_mistakes_cost_nothing(veil, more, sentence):
    code, said = veil(*more, "--ledger", "l.ledger")
    assert code == 2 and sentence in said.err and not Path("l.ledger").exists()


def test_brackets_of_a_text_cannot_stand_for_masks():
    mask = MaskBeforeVeil()
    forged = "⸨⸢⸢⸢⸢⸢⸢⸢⸢⸩ stays text"
    assert "stays text" in mask.restore(mask.cut([forged]))[0] and "[A" not in mask.restore(mask.cut([forged]))[0]
