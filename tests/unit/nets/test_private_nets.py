"""Every net: alone as in a batch, per-example gradients as recorded, and loaded without Textveil as with it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from textveil.core import BadInput
from textveil.nets.encoder import Encoder, encoder_folder
from textveil.nets.folders import example_losses, load_net
from textveil.nets.language_model import CIFGLanguageModel
from textveil.nets.portable import language_model as portable_lm
from textveil.nets.small_encoder import SmallEncoder
from textveil.nets.tagger import BiLSTMTagger
from textveil.nets.text_cnn import TextCNN
from textveil.noise import secure
from textveil.text.vectors import from_arrays
from textveil.training import PrivateTrainer, TrainingPlan, verify
from textveil.training.clipping_tape import Recorder

WORDS = "anna lives in bern and has a small dog that barks".split()
TAGS = ["O", "B-PER", "B-LOC", "I-LOC"]
SENTENCES = [
    ("Anna lives in New Bern".split(), "B-PER O O B-LOC I-LOC".split()),
    (["Bern"], ["B-LOC"]),
    ("a dog barks at Anna-Lena in 1999 .".split(), "O O O O B-PER O O O".split()),
]
TEXTS = ["anna has a dog", "bern", "a small dog that barks and barks and barks"]


@pytest.fixture(scope="module")
def vectors():
    return from_arrays(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 6)).astype(np.float32))


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory):
    """An encoder's folder, made here."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("bert")
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *"abcdefghijklmnopqrstuvwxyz.-", "##s", "##ern"]
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(pieces)) + "\n")
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=len(dict.fromkeys(pieces)), max_position_embeddings=40, **sizes)).save_pretrained(
        folder
    )
    return folder


def nets(vectors, tiny_bert):
    torch.manual_seed(1)
    yield "crf", BiLSTMTagger.of(TAGS, vectors, hidden=5, affix=3), SENTENCES
    yield "softmax", BiLSTMTagger.of(TAGS, vectors, output="softmax", hidden=5, layers=2, affix=0), SENTENCES
    yield "cnn", TextCNN.of(["x", "y"], vectors, channels=4), list(zip(TEXTS, "xyx", strict=True))
    yield "cifg", CIFGLanguageModel.of(WORDS, dimensions=6, hidden=5), TEXTS
    yield "encoder classes", Encoder(tiny_bert, "classifier", ["x", "y"]), list(zip(TEXTS, "xyx", strict=True))
    yield "encoder tags", Encoder(tiny_bert, "tagger", TAGS, layers=1), SENTENCES
    yield "encoder words", Encoder(tiny_bert, "lm"), TEXTS


NAMES = ["crf", "softmax", "cnn", "cifg", "encoder classes", "encoder tags", "encoder words"]


@pytest.fixture(params=NAMES)
def made(request, vectors, tiny_bert):
    return next((net.eval(), examples) for name, net, examples in nets(vectors, tiny_bert) if name == request.param)


def test_alone_as_in_a_batch(made):
    net, examples = made
    together = net.losses(net.collate(examples))
    alone = torch.cat([net.losses(net.collate([e])) for e in examples])
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-6)
    assert len(set(together.tolist())) == len(examples)


def test_recorded_gradients_are_the_examples_own(made):
    net, examples = made
    verify(net, examples, 1e-4)


def test_a_saved_net_gives_the_same_losses(made, tmp_path):
    net, examples = made
    net.save(tmp_path / "model")
    again = load_net(tmp_path)
    torch.testing.assert_close(example_losses(again, examples), example_losses(net, examples), rtol=1e-5, atol=1e-6)


def test_packed_portable_lstm_equals_ours(vectors):
    from textveil.nets.portable import tagger as portable

    net = BiLSTMTagger.of(TAGS, vectors, hidden=7, layers=2, affix=2).eval()
    plain = portable.Tagger(net.config, WORDS)
    weights = {("steps" if k == "chain.weight" else k): v for k, v in net.state_dict().items()}
    plain.load_state_dict(weights)
    batch = net.collate(SENTENCES)
    inside = torch.arange(batch["rows"].shape[1]) < batch["lengths"][:, None]
    torch.testing.assert_close(net(batch)[inside], plain(batch)[inside], rtol=1e-5, atol=1e-6)


def test_cifg_by_hand_equals_autograd():
    net = CIFGLanguageModel.of(WORDS, dimensions=6, hidden=5).double()
    plain = portable_lm.LanguageModel(net.config, WORDS).double()
    plain.load_state_dict(net.state_dict())
    batch = net.collate(TEXTS)
    a, b = net.negative_logs(batch), plain.negative_logs(batch)
    torch.testing.assert_close(a, b, rtol=0, atol=1e-12)
    for x, y in zip(
        torch.autograd.grad(a.sum(), list(net.parameters())),
        torch.autograd.grad(b.sum(), list(plain.parameters())),
        strict=True,
    ):
        torch.testing.assert_close(x, y, rtol=0, atol=1e-12)


def test_the_language_model_has_the_size_that_is_told():
    net = CIFGLanguageModel.of([str(n) for n in range(10_000)])
    assert sum(p.numel() for p in net.parameters()) == 1_266_067


PLAIN = {
    "tagger": "net.load('.').tag([['Anna', 'lives', 'in', 'Bern'], []])",
    "cnn": "net.load('.').label(['anna has a dog', ''])",
    "lm": "[round(float(x), 5) for x in net.load('.').log_chances(['anna has a dog'])], len(net.load('.').next_words('', 2))",
}


def test_model_folders_load_without_textveil(vectors, tmp_path):
    """In a process of its own, where importing textveil fails; all three in one start, since torch is slow to come."""
    tagger = BiLSTMTagger.of(TAGS, vectors, hidden=5).eval()
    cnn = TextCNN.of(["x", "y"], vectors, channels=4).eval()
    model = CIFGLanguageModel.of(WORDS, dimensions=6, hidden=5).eval()
    code = "import sys, os, importlib\nsys.modules['textveil'] = None\n"
    for name, net in (("tagger", tagger), ("cnn", cnn), ("lm", model)):
        net.save(tmp_path / name)
        code += f"os.chdir({str(tmp_path / name)!r}); sys.path[:0] = ['.']; sys.modules.pop('net', None)\n"
        code += f"importlib.invalidate_caches(); import net\nprint({PLAIN[name]})\nsys.path.pop(0)\n"
    said = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert said.returncode == 0, said.stderr
    tags, labels, chances = said.stdout.strip().splitlines()
    assert tags == str(tagger.tag([["Anna", "lives", "in", "Bern"], []]))
    assert labels == str(cnn.label(["anna has a dog", ""]))
    assert chances == f"{[round(float(x), 5) for x in model.log_chances(['anna has a dog'])]} 2"


def test_encoders_load_in_plain_transformers(tiny_bert, tmp_path):
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    net = Encoder(tiny_bert, "tagger", TAGS).eval()
    net.save(tmp_path)
    model, tokenizer = (
        AutoModelForTokenClassification.from_pretrained(tmp_path),
        AutoTokenizer.from_pretrained(tmp_path),
    )
    assert list(model.config.id2label.values()) == TAGS
    words = SENTENCES[0][0]
    given = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    with torch.no_grad():
        best = model(input_ids=given["input_ids"], attention_mask=given["attention_mask"]).logits.argmax(2)[0]
    first = {w: p for p, w in reversed(list(enumerate(given.word_ids(0)))) if w is not None}
    assert [TAGS[int(best[first[w]])] for w in range(len(words))] == net.tag([words])[0]


def test_a_pipeline_of_transformers_gives_the_same_labels_on_long_texts(tiny_bert, tmp_path):
    """A saved encoder says how much of a text it was trained on, which is what `truncation=True` asks for."""
    from transformers import AutoTokenizer, pipeline

    torch.manual_seed(3)
    net = Encoder(tiny_bert, "classifier", ["x", "y"], max_pieces=6).eval()
    torch.nn.init.normal_(net.model.classifier.weight, std=3.0)
    net.save(tmp_path)
    assert AutoTokenizer.from_pretrained(tmp_path).model_max_length == 6
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(WORDS, 60)) for _ in range(40)]
    ours = net.chances(texts)[:, 0]
    classify = pipeline("text-classification", model=str(tmp_path), device="cpu")
    theirs = [
        {row["label"]: row["score"] for row in rows}["x"] for rows in classify(texts, truncation=True, top_k=None)
    ]
    assert np.allclose(theirs, ours, atol=1e-6)
    whole = Encoder(tmp_path, "classifier", ["x", "y"], max_pieces=40).eval()
    assert not np.allclose(whole.chances(texts)[:, 0], ours, atol=1e-3)  # so that the length matters


def test_bad_examples_are_named_without_their_text(vectors, tiny_bert):
    tagger = BiLSTMTagger.of(TAGS, vectors, hidden=3)
    for examples in ([(["secret"], ["O", "O"])], [(["secret"], ["B-XYZ"])]):
        for net in (tagger, Encoder(tiny_bert, "tagger", TAGS)):
            with pytest.raises(BadInput) as told:
                net.collate(examples)
            assert "secret" not in str(told.value)
    with pytest.raises(BadInput, match="a class that the net does not know"):
        TextCNN.of(["x", "y"], vectors).collate([("secret", "z")])
    with pytest.raises(BadInput, match=r"no config\.json"):
        encoder_folder("nowhere")


def test_masked_places_are_fixed_outside_training(tiny_bert):
    net = Encoder(tiny_bert, "lm").eval()
    a, b = net.collate(TEXTS), net.collate(TEXTS)
    assert torch.equal(a["input_ids"], b["input_ids"]) and torch.equal(a["places"], b["places"])
    net.train()
    hidden = net.collate([TEXTS[2]] * 50)["input_ids"]
    assert len({tuple(row.tolist()) for row in hidden}) > 1


def masked_net(name, tiny_bert):
    if name == "small encoder":
        return SmallEncoder(300, width=8, layers=1, heads=2), [[250 + n % 7] * 5 + [260 + n] * 9 for n in range(8)]
    return Encoder(tiny_bert, "lm"), [" ".join(WORDS[n:] + WORDS[:n]) for n in range(8)]


@pytest.mark.parametrize("name", ["small encoder", "encoder words"])
def test_hidden_places_belong_to_the_text_and_not_to_a_shared_generator(name, tiny_bert):
    """With torch's generator in a known state one text moved the places of all later ones: sums 6 clips apart."""
    torch.manual_seed(1)
    net, examples = masked_net(name, tiny_bert)
    net.train()
    drawn = [net.draw(example, secure()) for example in examples]
    again = [net.draw(example, secure()) for example in examples]
    state, sums = torch.get_rng_state(), []
    recorder = Recorder(net)
    for some in (drawn, drawn[1:], again):
        total = {p: torch.zeros_like(p) for p in recorder.parameters}
        recorder.add_clipped(net.collate(some), len(some), 1.0, total)
        sums.append(torch.cat([g.flatten() for g in total.values()]))
    recorder.close()
    assert torch.equal(torch.get_rng_state(), state)
    assert float((sums[0] - sums[1]).norm()) <= 1.0
    assert not torch.allclose(sums[0], sums[2])
    assert [net.length(e) for e in drawn] == [net.length(e) for e in examples]


@pytest.mark.parametrize("unit", ["example", "user"])
def test_a_masked_word_model_trains_on_drawn_places(unit, tiny_bert):
    net, texts = masked_net("encoder words", tiny_bert)
    plan = TrainingPlan(noise=4.0, batch=4, examples=8, steps=2, unit=unit)
    history = PrivateTrainer(net, plan, rate=0.01).fit(texts if unit == "example" else [texts[:3], texts[3:]])
    assert history.steps == 2
