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
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import MarianConfig, MarianMTModel, PreTrainedTokenizerFast

    inner = Tokenizer(models.WordLevel(unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    inner.train_from_iterator(
        [text for pair in PAIRS for text in pair], trainers.WordLevelTrainer(special_tokens=["<pad>", "</s>", "<unk>"])
    )
    inner.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    torch.manual_seed(0)
    size = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    wide = {"encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "d_model": 16, "max_position_embeddings": 64}
    config = MarianConfig(
        vocab_size=len(tokenizer),
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        forced_eos_token_id=1,
        **size,
        **wide,
    )
    MarianMTModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


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
    assert "<P>" in tokenizer.get_vocab()
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
