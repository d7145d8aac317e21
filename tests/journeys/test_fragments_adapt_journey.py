"""A tiny translation model, made here, learns from fragments; its folder loads without Textveil."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("numba")
pytest.importorskip("sacrebleu")

from journeys.test_fragments_journey import FIELDS, PAIRS, write_jsonl


def tiny_model(folder="tiny"):
    """A Marian model with a word-level tokenizer: real file formats, random weights."""
    from textveil.nets.translation import tiny_seq2seq

    tiny = tiny_seq2seq([word for pair in PAIRS for text in pair for word in text.split()])
    tiny.model.save_pretrained(folder)
    tiny.tokenizer.save_pretrained(folder)


def test_a_model_learns_from_fragments_and_is_scored(textveil):
    tiny_model()
    write_jsonl("general.jsonl", PAIRS[20:])
    textveil("fragments", "make", *write_jsonl(), "-o", "pieces", "--tags", "--seed", 1)
    adapt = [
        "fragments",
        "adapt",
        "pieces",
        "-o",
        "adapted",
        "--model",
        "tiny",
        "--valid",
        "in.jsonl",
        *FIELDS,
        "--rate",
        0.01,
    ]
    more = [
        "--epochs",
        2,
        "--general",
        "general.jsonl",
        "--replay",
        0.5,
        "--test",
        "general.jsonl",
        "--beams",
        2,
        "--l2",
        1e-6,
        "--ewc",
        1e-6,
        "--join",
        3,
        "--length-tags",
    ]
    said = textveil(*adapt, *more, "--json")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    first, last = found["valid_loss"]
    assert last < first - 0.1
    assert set(found["after"]) == {"bleu", "chrf", "words", "length_ratio"}
    assert found["bleu"]["interval"][0] <= found["bleu"]["gain"] <= found["bleu"]["interval"][1]
    assert not Path(".adapted.unfinished").exists()

    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained("adapted")
    assert {"<P>", "<L4>"} <= set(tokenizer.get_vocab())
    assert AutoModelForSeq2SeqLM.from_pretrained("adapted").get_input_embeddings().weight.shape[0] == len(tokenizer)
    assert textveil(*adapt).code == 2  # OUT exists


def test_bad_input_of_adapt(textveil):
    Path("empty").mkdir()
    textveil("fragments", "make", *write_jsonl(), "-o", "pieces")
    adapt = ["fragments", "adapt", "pieces", "-o", "adapted", "--valid", "in.jsonl", *FIELDS]
    for arguments, named in (
        (("--model", "empty"), "config.json"),
        (("--model", "empty", "--rate", -1), "rate"),
        (("--model", "nowhere"), "nowhere"),
        (("--model", "empty", "--join", 0), "join"),
        (("--model", "empty", "--epsilon", 2), "--valid"),
    ):
        said = textveil(*adapt, *arguments)
        assert said.code == 2, said.err
        assert named in said.err
        assert not Path("adapted").exists()


def test_a_stopped_run_goes_on_and_ends_at_the_same_weights(tmp_path, monkeypatch):
    import torch

    from textveil.fragments.adapting import AdaptSettings, Translator, adapt

    monkeypatch.chdir(tmp_path)
    tiny_model()
    settings = AdaptSettings(rate=0.01, dropout=0.0, epochs=2, batch=16, patience=99)
    whole, stopped, resumed = (Translator.load(tmp_path / "tiny", dropout=0.0) for _ in range(3))
    done = adapt(whole, PAIRS, PAIRS[:5], settings)

    def stop(n, counted=[0]):  # noqa: B006
        counted[0] += n
        if counted[0] == 5:  # in the second epoch: three steps an epoch
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adapt(stopped, PAIRS, PAIRS[:5], settings, checkpoint=tmp_path / "c.pt", step=stop)
    again = adapt(resumed, PAIRS, PAIRS[:5], settings, checkpoint=tmp_path / "c.pt")
    assert again == done
    weights = resumed.model.state_dict()
    assert all(torch.equal(value, weights[name]) for name, value in whole.model.state_dict().items())


def test_whole_sentences_are_learnt_from_under_a_promise(textveil):
    """The folder is a release: promise per sentence pair, a line in the ledger, a model that loads without Textveil."""
    tiny_model()
    write_jsonl("test.jsonl", [(s.replace("heute", "nicht"), t.replace("today", "not")) for s, t in PAIRS[:6]])
    adapt = ["fragments", "adapt", "in.jsonl", "--model", "tiny", *FIELDS, "--epsilon", 4, "--delta", 1e-3]
    adapt += ["--epochs", 2, "--batch", 16, "--ledger", "memory.ledger", "--unpriced", "--beams", 1]
    write_jsonl("in.jsonl", PAIRS[:25])
    assert textveil(*adapt, "-o", "refused", "--test", "in.jsonl").code == 2  # scores on it would be published
    assert not Path("refused").exists()
    said = textveil(*adapt, "-o", "private", "--test", "test.jsonl", "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out)["epsilon"] == 4
    promise = json.loads(Path("private/release.json").read_text())["guarantee"]
    assert (promise["label"], promise["unit"], promise["adjacency"]) == ("guarantee", "example", "add_remove")
    assert promise["loss"]["epsilon"] <= 4 * 1.01
    totals = json.loads(textveil("ledger", "show", "memory.ledger", "--json").out)["totals"]
    assert ("example", "add_remove") in {(total["unit"], total["adjacency"]) for total in totals}

    from transformers import AutoModelForSeq2SeqLM

    start, trained = (AutoModelForSeq2SeqLM.from_pretrained(f) for f in ("tiny", "private/model"))
    moved = {name for name, value in trained.state_dict().items() if not value.equal(start.state_dict()[name])}
    assert any("fc1" in name for name in moved)
    assert not any("embed" in name or "shared" in name or "lm_head" in name for name in moved)
