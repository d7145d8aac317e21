"""`textveil train` end to end: examples in, model folder out; charge first; stop and go on; nothing left after bad input.

Batches that hold everybody are priced in closed form, which keeps these runs short; one run samples.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest

from textveil.nets.folders import example_losses, load_net

PEOPLE, TOWNS = "Anna Boris Clara David".split(), "Bern Lima Oslo Riga".split()


def tagged(count: int, seed: int = 0) -> list[tuple[list[str], list[str]]]:
    rng = np.random.default_rng(seed)
    return [
        ([str(rng.choice(PEOPLE)), "lives", "in", str(rng.choice(TOWNS)), "."], ["B-PER", "O", "O", "B-LOC", "O"])
        for _ in range(count)
    ]


def write_conll(name: str, sentences) -> None:
    blocks = ["".join(f"{w} X {t}\n" for w, t in zip(*s, strict=True)) for s in sentences]
    Path(name).write_text("-DOCSTART- X O\n\n" + "\n".join(blocks))


def write_texts(name: str, count: int = 80) -> None:
    rng = np.random.default_rng(2)
    rows = []
    for n in range(count):
        label = str(rng.choice(["praise", "blame"]))
        words = rng.choice("good fine great lovely".split() if label == "praise" else "bad poor awful sad".split(), 5)
        rows.append({"text": " ".join(words), "label": label, "user": f"u{n % 8}"})
    Path(name).write_text("".join(json.dumps(r) + "\n" for r in rows))


def charges(textveil, ledger: str = "t.ledger") -> int:
    if not Path(ledger).exists():
        return 0
    return sum(
        json.loads(line).get("kind") == "charge" for line in textveil("ledger", "export", ledger).out.splitlines()
    )


WHOLE = ("--delta", 1e-3, "--batch", 1000, "--epochs", 12)


def test_a_tagger_becomes_a_release(textveil):
    write_conll("notes.conll", tagged(90))
    write_conll("public.conll", tagged(20, seed=5))
    said = textveil(
        "train", "tagger", "notes.conll", "-o", "out", "--epsilon", 20, *WHOLE, "--rate", 0.03, "--hidden", 12,
        "--test", "public.conll", "--ledger", "t.ledger", "--json",
    )  # fmt: skip
    assert said.code == 0, said.err
    assert {p.name for p in Path("out").iterdir()} == {"model", "release.json", "card.html"}
    shown = json.loads(Path("out/release.json").read_text())
    assert (
        shown["mechanism"] == "training.tagger" and shown["data"] == "model" and shown["entry"] and not shown["draft"]
    )
    assert shown["guarantee"]["unit"] == "example" and 0 < shown["guarantee"]["loss"]["epsilon"] <= 20
    assert said.json["scores"]["all_outside_entity_f1"] == 0.0 and 0 <= said.json["scores"]["entity_f1"] <= 1
    assert "entity F1" in Path("out/card.html").read_text() and "Anna" not in Path("out/card.html").read_text()
    assert charges(textveil) == 1
    assert len(example_losses(load_net("out"), tagged(3))) == 3  # what an audit needs is in the folder


def test_sampled_batches_are_priced_as_drawn(textveil):
    write_conll("notes.conll", tagged(60))
    options = ("--delta", 1e-3, "--batch", 20, "--epochs", 1, "--examples", 64, "--output", "softmax", "--hidden", 6)
    said = textveil("train", "tagger", "notes.conll", "-o", "out", "--epsilon", 1, *options, "--json")
    assert said.code == 0, said.err
    event = json.loads(Path("out/release.json").read_text())["event"]
    assert event["noise"]["kind"] == "poisson_sampled" and event["noise"]["probability"] == 20 / 64
    assert said.json["epsilon"] <= 1 and event["times"] == said.json["steps"] == 4


def test_a_classifier_and_a_seed(textveil):
    write_texts("letters.jsonl")
    write_texts("public.jsonl", 160)
    options = ("--epsilon", 20, *WHOLE, "--rate", 0.02, "--text-field", "text", "--test", "public.jsonl", "--seed", 1)
    said = textveil("train", "classifier", "letters.jsonl", "-o", "out", *options, "--json")
    assert said.code == 0, said.err
    assert said.json["scores"]["accuracy"] > 0.9 and said.json["draft"]
    assert json.loads(Path("out/release.json").read_text())["guarantee"]["label"] == "seeded"


@pytest.mark.parametrize("lines", [80, 30])
def test_no_score_on_the_private_examples_is_published(textveil, lines):
    """The file itself, or a part of it: the card would show an exact figure about private labels."""
    write_texts("letters.jsonl")
    Path("held.jsonl").write_text("".join(Path("letters.jsonl").read_text().splitlines(keepends=True)[:lines]))
    options = ("--epsilon", 20, *WHOLE, "--text-field", "text", "--test", "held.jsonl", "--ledger", "t.ledger")
    said = textveil("train", "classifier", "letters.jsonl", "-o", "out", *options)
    assert said.code == 2
    assert "the private examples themselves" in said.err
    assert charges(textveil) == 0
    assert not Path("out").exists()


def test_words_and_weights_in_one_promise(textveil):
    write_texts("letters.jsonl")
    options = ("--epsilon", 30, *WHOLE, "--text-field", "text", "--private-vocabulary", "--vocab-epsilon", 8)
    said = textveil("train", "lm", "letters.jsonl", "-o", "out", *options, "--ledger", "t.ledger", "--json")
    assert said.code == 0, said.err
    shown = json.loads(Path("out/release.json").read_text())
    assert shown["event"]["noise"]["kind"] == "together" and shown["guarantee"]["loss"]["epsilon"] <= 30
    assert charges(textveil) == 1
    words = set(Path("out/model/words.txt").read_text().split("\n"))
    assert words and words <= set("good fine great lovely bad poor awful sad".split())


def test_one_file_has_one_ledger_whatever_is_done_with_it(textveil):
    write_texts("letters.jsonl")
    write_conll("notes.conll", tagged(30))
    field, ledger = ("--text-field", "text"), ("--ledger", "t.ledger")
    assert textveil("train", "vocab", "letters.jsonl", "-o", "v", "--size", 600, *field, *ledger).code == 0
    said = textveil("train", "classifier", "letters.jsonl", "-o", "c", "--epsilon", 9, *WHOLE, *field, *ledger)
    assert said.code == 0, said.err
    assert charges(textveil) == 2
    other = textveil("train", "tagger", "notes.conll", "-o", "t", "--epsilon", 9, *WHOLE, *ledger)
    assert other.code == 1 and not Path("t").exists()
    veiled = textveil(
        "veil", "notes.conll", "-o", "w", "--mechanism", "words.brr", "--epsilon", 1, "--ledger", "n.ledger"
    )
    assert veiled.code == 0, veiled.err
    said = textveil("train", "tagger", "notes.conll", "-o", "t", "--epsilon", 9, *WHOLE, "--ledger", "n.ledger")
    assert said.code == 0, said.err


def test_users_are_the_unit(textveil):
    write_texts("letters.jsonl", 24)
    options = ("--epsilon", 20, "--delta", 1e-2, "--batch", 8, "--epochs", 3, "--text-field", "text", "--unit", "user")
    refused = textveil("train", "lm", "letters.jsonl", "-o", "out", *options)
    assert refused.code == 2 and "--user-field" in refused.err
    said = textveil(
        "train", "lm", "letters.jsonl", "-o", "out", *options, "--size", 300, "--user-field", "user", "--json"
    )
    assert said.code == 0, said.err
    assert said.json["units"] == 8 and said.json["guarantee"]["unit"] == "user"


def test_a_stopped_run_goes_on_and_is_charged_once(textveil, monkeypatch):
    from textveil.training.engine import PrivateTrainer

    write_conll("notes.conll", tagged(40))
    options = ("--epsilon", 20, *WHOLE, "--hidden", 6, "--ledger", "t.ledger")
    whole, steps = PrivateTrainer.fit, []

    def stopped(self, examples, **more):
        def watch(progress):
            steps.append(progress.step)
            if progress.step == 5:
                raise KeyboardInterrupt

        return whole(self, examples, **{**more, "progress": watch, "save_every": 3})

    monkeypatch.setattr(PrivateTrainer, "fit", stopped)
    first = textveil("train", "tagger", "notes.conll", "-o", "out", *options)
    assert first.code == 130 and not Path("out").exists() and charges(textveil) == 1
    monkeypatch.setattr(PrivateTrainer, "fit", whole)
    second = textveil("train", "tagger", "notes.conll", "-o", "out", *options, "--json")
    assert second.code == 0, second.err
    # 12 steps were planned and 2 were lost: these are charged again, and the promise counts them
    assert charges(textveil) == 2 and second.json["epsilon"] > 20


def test_ctrl_c_loses_no_step_and_nothing_is_charged_twice(textveil, monkeypatch):
    from textveil.training.engine import PrivateTrainer

    write_conll("notes.conll", tagged(40))
    command = ("train", "tagger", "notes.conll", "-o", "out", "--epsilon", 20, *WHOLE, "--hidden", 6)
    command = (*command, "--ledger", "t.ledger")
    step_of, steps = PrivateTrainer._step, []

    def interrupted(self, step, *given):
        steps.append(step)
        if steps == [0, 1, 2, 3, 4]:
            signal.raise_signal(signal.SIGINT)
        step_of(self, step, *given)

    monkeypatch.setattr(PrivateTrainer, "_step", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the runner does with it
    try:
        first = textveil(*command)
    finally:
        signal.signal(signal.SIGINT, before)
    assert first.code == 130
    assert "is not charged again" in first.err
    assert not Path("out").exists()
    second = textveil(*command, "--json")
    assert second.code == 0, second.err
    assert steps == list(range(12))
    assert charges(textveil) == 1
    assert second.json["epsilon"] <= 20


def test_a_stopped_run_does_not_go_on_with_other_data(textveil, monkeypatch):
    from textveil.training.engine import PrivateTrainer

    write_conll("notes.conll", tagged(40))
    options = ("--epsilon", 20, *WHOLE, "--hidden", 6, "--ledger", "t.ledger")
    whole = PrivateTrainer.fit

    def stopped(self, *given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(PrivateTrainer, "fit", stopped)
    assert textveil("train", "tagger", "notes.conll", "-o", "out", *options).code == 130
    monkeypatch.setattr(PrivateTrainer, "fit", whole)
    write_conll("notes.conll", tagged(40, seed=8))
    other = textveil("train", "tagger", "notes.conll", "-o", "out", *options, "--other-data")
    assert other.code in (1, 2) and not Path("out").exists() and charges(textveil) == 1, other


def test_a_private_vocabulary_that_came_out_empty_leaves_the_public_words(textveil):
    """That no word was frequent is an answer that was paid for: it is said, and the model goes on with public words."""
    Path("letters.jsonl").write_text("".join(json.dumps({"text": f"only{n}"}) + "\n" for n in range(40)))
    options = ("--epsilon", 4, "--delta", 1e-3, "--batch", 1000, "--epochs", 2, "--private-vocabulary", "--vocab-epsilon", 1,
               "--text-field", "text", "--ledger", "t.ledger", "--size", 50)  # fmt: skip
    said = textveil("train", "lm", "letters.jsonl", "-o", "out", *options)
    assert said.code == 0, said.err
    assert "no word was frequent enough" in said.err
    assert charges(textveil) == 1
    words = Path("out/model/words.txt").read_text().split()
    assert len(words) == 50 and "the" in words and not any(word.startswith("only") for word in words)
    assert "no word was frequent enough" in Path("out/card.html").read_text()
    write_texts("letters.jsonl", 40)
    other = textveil("train", "lm", "letters.jsonl", "-o", "other", *options)
    assert other.code == 1 and charges(textveil) == 1  # other data, the same ledger


def test_a_rare_tag_is_not_shown_where_tags_are_declared(textveil):
    write_conll("notes.conll", [*tagged(40), (["Anna", "rests"], ["B-RAREDISEASE", "O"])])
    options = ("--epsilon", 20, *WHOLE, "--hidden", 4, "--ledger", "t.ledger")
    refused = textveil("train", "tagger", "notes.conll", "-o", "out", *options, "--tags", "O,B-PER,B-LOC")
    assert refused.code == 2
    assert "RAREDISEASE" not in refused.err
    assert charges(textveil) == 0
    said = textveil("train", "tagger", "notes.conll", "-o", "out", *options)
    assert said.code == 0, said.err
    for place in (said.out, Path("out/release.json").read_text(), Path("out/card.html").read_text()):
        assert "list of tags was taken from the training file" in place


@pytest.mark.parametrize("noise", [1, 1.3, 2.7, 4.1, 5.5])
def test_no_printed_price_is_below_the_true_one(textveil, noise):
    plan = ("train", "price", "--examples", 1000, "--batch", 100, "--epochs", 3, "--noise", noise, "--delta", 1e-4)
    said = textveil(*plan).out
    assert float(said.split()[1]) >= textveil(*plan, "--json").json["epsilon"], said


def test_the_price_of_fixed_batches_is_said_to_be_loose(textveil):
    plan = ("--examples", 59, "--batch", 10, "--epochs", 5, "--noise", 0.6, "--delta", 1e-3)
    assert "can be many times the true loss" in textveil("train", "price", *plan, "--sampling", "fixed").out
    assert "true loss" not in textveil("train", "price", *plan).out


@pytest.mark.parametrize("verb", ["tagger", "vocab"])
def test_a_delta_that_publishes_somebody_is_refused(textveil, verb):
    write_conll("notes.conll", tagged(40))
    write_texts("letters.jsonl", 40)
    source = ("notes.conll",) if verb == "tagger" else ("letters.jsonl", "--text-field", "text")
    said = textveil("train", verb, *source, "-o", "out", "--epsilon", 1, "--delta", 0.2, "--ledger", "t.ledger")
    assert said.code == 1
    assert "1/n" in said.err
    assert charges(textveil) == 0


BAD = {
    "tags that do not align": (
        "Anna X B-PER\nlives\n",
        [],
        "notes.conll, line 2: has 1 column where the first token has 3",
    ),
    "no tags at all": ("Anna\nlives\n", [], "line 1: a token has no tag beside it"),
    "empty": ("\n\n", [], "holds no tokens"),
    "epsilon": (None, ["--epsilon", 0], "epsilon must be a finite number above 0"),
    "delta": (None, ["--delta", 2], "delta must be a number between 0 and 1"),
    "output": (None, ["--output", "softmx"], "'softmx' is not one of"),
    "unit": (None, ["--unit", "word"], "unit"),
    "sampling": (None, ["--sampling", "shuffle"], "has no price"),
    "encoder": (None, ["--encoder", "nowhere"], "no config.json"),
    "vectors": (None, ["--vectors", "nowhere.txt"], "nowhere.txt"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_charges_nothing_and_leaves_nothing(textveil, name):
    text, options, what = BAD[name]
    write_conll("notes.conll", tagged(10)) if text is None else Path("notes.conll").write_text(text)
    base = {"--epsilon": 5, "--delta": 1e-2, "--batch": 1000, "--epochs": 2}
    base |= dict(zip(options[::2], options[1::2], strict=True))
    said = textveil(
        "train", "tagger", "notes.conll", "-o", "out", *[x for o in base.items() for x in o], "--ledger", "t.ledger"
    )
    assert said.code == 2 and what in said.err and said.err.count("\n") == 1, said.err
    assert charges(textveil) == 0 and {p.name for p in Path().iterdir()} <= {"notes.conll", "t.ledger"}


def test_an_unknown_tag_in_the_test_file(textveil):
    write_conll("notes.conll", tagged(10))
    write_conll("public.conll", [*tagged(3), (["Secret"], ["B-ORG"])])
    options = ("--epsilon", 5, "--delta", 1e-2, "--ledger", "t.ledger", "--test", "public.conll")
    said = textveil("train", "tagger", "notes.conll", "-o", "out", *options)
    assert said.code == 2 and "public.conll, line 21: a tag or label here is unknown" in said.err
    assert "Secret" not in said.err and charges(textveil) == 0
    assert "B-PER" not in said.err  # the tags of the private file are private, until they are declared
    declared = textveil("train", "tagger", "notes.conll", "-o", "out", *options, "--tags", "O,B-PER,B-LOC")
    assert declared.code == 2 and "possible: O, B-PER, B-LOC" in declared.err


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"tokens": ["Secret", "x"], "tags": ["O"]}, "line 1: has 2 tokens and 1 tags"),
        ({"tokens": "Secret", "tags": ["O"]}, "line 1, field 'tokens': is not a list of strings"),
        ({"tokens": ["Secret"]}, "line 1, field 'tags': is not a list of strings"),
    ],
)
def test_bad_rows_of_tokens_and_tags(textveil, row, what):
    Path("notes.jsonl").write_text(json.dumps(row) + "\n")
    said = textveil("train", "tagger", "notes.jsonl", "-o", "out", "--epsilon", 5)
    assert said.code == 2 and what in said.err and "Secret" not in said.err


def test_a_label_that_is_missing(textveil):
    Path("letters.jsonl").write_text('{"text": "x", "label": "a"}\n{"text": "Secret"}\n')
    said = textveil("train", "classifier", "letters.jsonl", "-o", "out", "--epsilon", 5)
    assert said.code == 2 and "letters.jsonl, line 2, field 'label'" in said.err and "Secret" not in said.err


def test_a_head_on_public_text(textveil, tmp_path):
    """A masked-word head for an encoder that has none, then private training on top of it."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path / "bert"
    folder.mkdir()
    words = "good fine great lovely bad poor awful sad".split()
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=len(pieces), max_position_embeddings=64, **sizes)).save_pretrained(folder)
    write_texts("letters.jsonl")
    said = textveil("train", "head", "letters.jsonl", "-o", "mlm", "--encoder", folder, "--text-field", "text", "--epochs", 4,
                    "--rate", 0.02, "--json")  # fmt: skip
    assert said.code == 0, said.err
    assert said.json["last"] < said.json["first"]
    said = textveil("train", "lm", "letters.jsonl", "-o", "out", "--encoder", "mlm", "--epsilon", 20, "--delta", 1e-3,
                    "--batch", 1000, "--epochs", 2, "--text-field", "text", "--json")  # fmt: skip
    assert said.code == 0, said.err
    from transformers import AutoModelForMaskedLM

    assert AutoModelForMaskedLM.from_pretrained("out/model").config.vocab_size == len(pieces)
