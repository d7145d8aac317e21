"""What a model is shown and what holds it: every fragment once, penalties as their formulas say."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from textveil.core import BadInput
from textveil.fragments.pull import Pull, fisher_diagonal
from textveil.fragments.training_pairs import Diet, length_tagged

FRAGMENTS = [(f"s{i}", f"t{i}") for i in range(40)]


def test_each_fragment_is_shown_once_an_epoch_however_they_are_joined():
    diet = Diet(FRAGMENTS, [("g", "h")], replay=0.5, join=4, length_tags=True)
    rows = [*diet.epoch(np.random.default_rng(1))]
    own = [row for row in rows if row != ("g", "h")]
    words = [word for source, _ in own for word in source.split() if not word.startswith("<")]
    assert sorted(words) == sorted(s for s, _ in FRAGMENTS)
    assert len(rows) - len(own) == round(0.5 * len(own))
    for source, target in own:  # both sides in the same order, the mark on the source alone
        assert [w.replace("s", "t") for w in source.split()[1:]] == target.split()
        assert len(target.split()) <= 4
    assert rows != [*diet.epoch(np.random.default_rng(2))]


@pytest.mark.parametrize(
    ("words", "tag"), [(1, "<L1>"), (2, "<L2>"), (3, "<L4>"), (4, "<L4>"), (5, "<L8>"), (30, "<L8>")]
)
def test_lengths_and_their_tags(words, tag):
    assert length_tagged(("x", " ".join("y" * words)))[0] == f"{tag} x"


def test_an_epoch_in_batches_of_like_lengths_has_every_row_once_in_as_many_batches():
    from textveil.fragments.adapting import WINDOW, _batches, _length

    rng = np.random.default_rng(5)
    rows = [("a" * int(n), f"b{i}") for i, n in enumerate(rng.integers(1, 40, size=3 * WINDOW + 11))]
    batches = [*_batches(iter(rows), 3, rng)]
    assert sorted(row for batch in batches for row in batch) == sorted(rows)
    assert len(batches) == -(-len(rows) // 3)
    spread = [max(map(_length, batch)) - min(map(_length, batch)) for batch in batches[:WINDOW]]
    assert max(spread) <= 6  # 96 rows of 39 lengths, sorted, by threes
    first = [_length(batch[0]) for batch in batches[:WINDOW]]
    assert first != sorted(first)


def test_a_model_with_an_attention_of_its_own_is_trained_as_it_is(monkeypatch):
    from textveil.fragments.precision import use_bfloat16

    class Own:
        def set_attn_implementation(self, name):
            raise ValueError(name)

    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True, raising=False)
    assert not use_bfloat16(Own())


def test_penalties_equal_their_formulas():
    model = torch.nn.Linear(3, 1, bias=False)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, 2.0, 3.0]]))
    examples = [torch.tensor([1.0, 0.0, 0.0]), torch.tensor([1.0, 2.0, 0.0])]
    fisher = fisher_diagonal(model, examples, lambda x: model(x).sum())
    raw = np.array([(1 + 1) / 2, (0 + 4) / 2, 0.0])  # gradients are the examples
    assert fisher[0].flatten().tolist() == pytest.approx((raw / raw.mean()).tolist())
    pull = Pull(model, l2=0.5, ewc=2.0, fisher=fisher)
    assert pull.penalty().detach() == 0
    with torch.no_grad():
        model.weight += torch.tensor([[1.0, -1.0, 2.0]])
    expected = 0.5 * (1 + 1 + 4) + 2.0 / 2 * float((raw / raw.mean() * np.array([1, 1, 4])).sum())
    assert float(pull.penalty().detach()) == pytest.approx(expected)
    assert Pull(model).penalty() == 0.0


def test_a_pretraining_that_is_stopped_makes_the_same_steps(tmp_path):
    from textveil.fragments.pretraining import Pretraining, PretrainSettings

    pairs = [(f"ein Wort {i % 7} und {i % 5}", f"a word {i % 7} and {i % 5}") for i in range(60)]
    small = PretrainSettings(300, width=16, encoder_layers=1, decoder_layers=1, heads=2, tokens=120, warm_up=2)
    whole, first = Pretraining(pairs, tmp_path / "a", small), Pretraining(pairs, tmp_path / "b", small)
    whole.run(12, every=6)
    first.run(6, every=6)
    resumed = Pretraining(pairs, tmp_path / "b", small)
    state = resumed.run(12, every=6, score=lambda translator: {"bleu": len(translator.translate(["ein Wort"], 1))})
    assert (state.step, state.target_tokens) == (12, whole.state.target_tokens)
    assert [point["step"] for point in state.curve] == [6, 12]
    assert state.curve[-1]["bleu"] == 1
    for name, value in whole.average.items():
        assert torch.equal(value, resumed.average[name]), name
    assert json.loads((tmp_path / "b" / "progress.json").read_text())["step"] == 12
    with pytest.raises(BadInput, match="other text"):
        Pretraining(pairs[1:], tmp_path / "b", small)
    folder = tmp_path / "b" / "model-12"
    further = Pretraining(pairs[30:], tmp_path / "c", small, start=folder)
    assert further.state.step == 0 and len(further.tokenizer) == len(resumed.tokenizer)
    for name, value in resumed.average.items():
        assert torch.equal(value, further.model.state_dict()[name]), name
    assert further.run(2).step == 2

    from textveil.fragments.adapting import Translator

    loaded = Translator.load(folder)
    assert loaded.loss(pairs[:8]) == pytest.approx(resumed.translator().loss(pairs[:8]), rel=1e-5)
    assert (
        loaded.tokenizer.decode(loaded.tokenizer("Öl , das !")["input_ids"], skip_special_tokens=True).strip()
        == "Öl , das !"
    )


def test_parts_of_a_batch_in_threads_of_their_own_give_the_gradients_of_the_whole(tmp_path):
    from textveil.fragments.pretraining import Pretraining, PretrainSettings

    pairs = [(f"ein Wort {i % 7} " * (1 + i % 3), f"a word {i % 7}" + " and" * (i % 4)) for i in range(60)]
    small = PretrainSettings(300, width=16, encoder_layers=1, decoder_layers=1, heads=2, tokens=120, warm_up=2)
    training = Pretraining(pairs, tmp_path / "a", small)
    training.narrow = False
    batch = training.numbered.tensors([(place,) for place in range(20)])
    counted = int((batch[1] != 0).sum())
    loss, whole = training._gradients(*batch, counted)
    parts = [training._gradients(*(side[n::3] for side in batch), counted) for n in range(3)]
    assert sum(share for share, _ in parts) == pytest.approx(loss, rel=1e-6)
    for expected, *shares in zip(whole, *(gradients for _, gradients in parts), strict=True):
        assert torch.allclose(sum(shares), expected, atol=1e-5)


def test_a_new_model_begins_with_subwords_as_long_as_the_marks_of_their_places():
    from textveil.fragments.pretraining import PretrainSettings, new_model

    settings = PretrainSettings(width=32, heads=2, encoder_layers=1, decoder_layers=1)
    model = new_model(300, settings)
    scaled = model.model.shared.weight.detach()[2:] * settings.width**0.5
    assert float(scaled.std()) == pytest.approx(1.0, abs=0.05)
    assert not model.model.shared.weight[0].any()  # the filling
    assert model.lm_head.weight is model.model.shared.weight
    marks = model.model.encoder.embed_positions.weight.detach()
    assert float(marks[1].square().sum()) == pytest.approx(settings.width / 2, rel=1e-4)  # sines and cosines, untouched
    queries = model.model.encoder.layers[0].self_attn.q_proj.weight.detach()
    assert float(queries.abs().max()) <= (6 / (2 * settings.width)) ** 0.5
    assert float(queries.std()) == pytest.approx((1 / settings.width) ** 0.5, rel=0.1)
