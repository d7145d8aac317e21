"""Every piece of a text is asked about: a batch of one equals the padded batch; the loss is the mean over masked places."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from textveil.nets.encoder import Encoder  # noqa: E402
from textveil.nets.pseudo_likelihood import pseudo_losses  # noqa: E402
from textveil.training.vocabulary_wordpiece import save_folder, smallest_size, wordpiece  # noqa: E402


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    save_folder(wordpiece({"ward": 9.0, "night": 9.0}, smallest_size() + 20), folder)
    size = len(transformers.AutoTokenizer.from_pretrained(folder))
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    torch.manual_seed(0)
    model = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=size, max_position_embeddings=32, **shape))
    model.save_pretrained(folder)
    return Encoder(folder, "lm", max_pieces=16)


def test_a_batch_of_one_equals_the_padded_batch(net):
    texts = ["ward at night", "night", "a ward"]
    alone = np.concatenate([pseudo_losses(net, [text]) for text in texts])
    assert np.allclose(pseudo_losses(net, texts), alone, atol=1e-5)


def test_it_is_the_mean_over_places(net):
    row = net.tokenizer("ward night", return_tensors="pt")
    expected = []
    for place in (1, 2):
        pieces = row["input_ids"].clone()
        target = int(pieces[0, place])
        pieces[0, place] = net.tokenizer.mask_token_id
        with torch.no_grad():
            scores = net.model(input_ids=pieces, attention_mask=row["attention_mask"]).logits[0, place]
        expected.append(-float(scores.log_softmax(0)[target]))
    assert pseudo_losses(net, ["ward night"])[0] == pytest.approx(np.mean(expected), abs=1e-5)
