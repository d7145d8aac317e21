"""Algorithm 2: what a client sends is the gradient of its hidden batch, and the server steps as AdamW does."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tiny_bert import write_tiny_bert  # noqa: E402

from textveil.accounting.account import PartNoise  # noqa: E402
from textveil.core import BadInput  # noqa: E402
from textveil.federated.texthide import HidingPlan, drawn_key  # noqa: E402
from textveil.federated.texthide_net import HiddenNet  # noqa: E402
from textveil.federated.texthide_step import TextHideStep, WarmedAdamW, batch_rows  # noqa: E402
from textveil.federated.weights import flat_of, layout_of  # noqa: E402

TEXTS = ["tea is hot", "milk is cold and old", "hot milk", "cold tea again", "old tea", "hot hot tea"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_bert(tmp_path_factory.mktemp("bert"), TEXTS)


def test_a_client_sends_minus_the_gradient_of_its_hidden_batch(folder):
    net = HiddenNet(folder, ["no", "yes"], max_pieces=8)
    examples = [(text, "yes" if "tea" in text else "no") for text in TEXTS]
    step = TextHideStep(HidingPlan(8, 2), PartNoise(5), b"secret", batch=4)
    sent = step(net, examples, seed=9, part=3).update
    chosen = [examples[i] for i in batch_rows(len(examples), 4, 9)]
    key = drawn_key(step.plan, step.client_pool(net, examples), 4, noise=PartNoise(5).of(3), public=4)

    def loss():
        with torch.no_grad():
            return float(net.double().hidden_losses(_doubled(net.collate(chosen)), key, None).mean())

    places = layout_of(net).slices()
    names = layout_of(net).names
    for name in ("head.0.weight", "encoder.encoder.layer.0.attention.self.value.weight"):
        values = dict(net.double().named_parameters())[name]
        gap = 1e-5
        with torch.no_grad():
            values.view(-1)[5] += gap
        up = loss()
        with torch.no_grad():
            values.view(-1)[5] -= 2 * gap
        slope = (up - loss()) / (2 * gap)
        with torch.no_grad():
            values.view(-1)[5] += gap
        assert -sent[places[names.index(name)]][5] == pytest.approx(slope, rel=1e-3, abs=1e-6)


def _doubled(batch):
    return {k: v.double() if v.is_floating_point() else v for k, v in batch.items()}


def test_a_pool_stays_the_same_over_rounds_and_differs_between_clients(folder):
    net = HiddenNet(folder, ["a"], max_pieces=8)
    step = TextHideStep(HidingPlan(8, 2), PartNoise(None), b"secret")
    one, other = [("hot tea", "a")], [("cold tea", "a")]
    assert (step.client_pool(net, one) == step.client_pool(net, one)).all()
    assert (step.client_pool(net, one) != step.client_pool(net, other)).any()


def test_the_server_steps_as_adamw_with_a_warm_up():
    start, rounds = np.linspace(-1, 1, 6).astype(np.float32), 20
    ours, memory = start.copy(), {}
    step = WarmedAdamW(rate=0.05, rounds=rounds)
    theirs = torch.nn.Parameter(torch.tensor(start))
    adamw = torch.optim.AdamW([theirs], lr=0.05, weight_decay=0.01)
    plan = torch.optim.lr_scheduler.LambdaLR(adamw, lambda n: step.factor(n + 1))
    for number in range(rounds):
        gradient = np.sin(start * 3 + number).astype(np.float32)
        theirs.grad = torch.tensor(gradient)
        adamw.step()
        plan.step()
        ours = ours + step(-gradient, memory, ours)
    assert np.allclose(ours, theirs.detach().numpy(), atol=1e-5)


def test_pairs_numbers_and_folders(folder, tmp_path):
    net = HiddenNet(folder, None, max_pieces=12)
    batch = net.collate([(("hot tea", "cold milk"), "2.5"), (("tea", "tea"), 1)])
    assert batch["target"].tolist() == [[2.5], [1.0]] and int(batch["token_type_ids"].max()) == 1
    assert net.losses(batch).shape == (2,)
    net.save(tmp_path / "model")
    again = HiddenNet.load(tmp_path / "model")
    assert np.allclose(flat_of(net), flat_of(again))
    assert again.predict([("hot tea", "cold milk")]) == pytest.approx(net.eval().predict([("hot tea", "cold milk")]))
    with pytest.raises(BadInput, match=r"no texthide\.json"):
        HiddenNet.load(tmp_path)
    with pytest.raises(BadInput, match="does not know"):
        HiddenNet(folder, ["a"]).collate([("tea", "b")])
