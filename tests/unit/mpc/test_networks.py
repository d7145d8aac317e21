"""The network: the same numbers by torch, by numpy and, up to its tolerance, in fixed point."""

from __future__ import annotations

import numpy as np
import pytest

from textveil.core.errors import BadInput
from textveil.mpc.model_folder import Classifier, load_classifier, save_classifier
from textveil.mpc.networks import NetworkShape, labels, scores
from textveil.mpc.oracle import encode, oracle_scores, tolerance

torch = pytest.importorskip("torch")

SHAPES = {
    "paper": NetworkShape(24, kernels=(3, 4, 5), channels=2, hidden=4),
    "wide": NetworkShape(24, kernels=(6,), channels=3, stride=2, pool=3, hidden=4),
    "square": NetworkShape(24, kernels=(6,), channels=3, stride=2, pool=3, pooling="sum", bend="square", hidden=4),
    "pieces": NetworkShape(6, 5, kernels=(2, 3), channels=3, pool=5, hidden=0),
    "linear": NetworkShape(24, hidden=0),
    "classes": NetworkShape(24, kernels=(3,), channels=2, hidden=4, classes=5),
}


def made(shape):
    from textveil.mpc.train import _build, from_layers

    torch.manual_seed(3)
    net = _build(shape, 0.25).eval()
    x = np.random.default_rng(4).normal(size=(40, shape.inputs)).astype(np.float32)
    return net, from_layers(shape, list(net.convs), net.hidden, net.out), x


@pytest.mark.parametrize("name", SHAPES)
def test_numpy_computes_what_torch_computes(name):
    net, arrays, x = made(SHAPES[name])
    with torch.no_grad():
        assert np.allclose(scores(SHAPES[name], arrays, x), net(torch.from_numpy(x)).numpy(), atol=1e-5)


@pytest.mark.parametrize("name", SHAPES)
def test_the_oracle_is_the_network_up_to_its_bits(name):
    _, arrays, x = made(SHAPES[name])
    exact = scores(SHAPES[name], {k: encode(v) / 65536 for k, v in arrays.items()}, encode(x) / 65536)
    assert np.abs(oracle_scores(SHAPES[name], arrays, x) - exact).max() <= tolerance(SHAPES[name], arrays, x)
    assert np.abs(oracle_scores(SHAPES[name], arrays, x, 30) - scores(SHAPES[name], arrays, x)).max() < 1e-4


def test_training_learns_and_a_folder_comes_back(tmp_path):
    from textveil.mpc.train import shape_of, train_network

    rng = np.random.default_rng(5)
    x = rng.normal(size=(400, 24)).astype(np.float32)
    y = (x[:, :12].sum(1) > 0).astype(int)
    shape = shape_of("paper", 24, channels=2)
    arrays = train_network(shape, x[:300], y[:300].tolist(), epochs=60)
    assert (labels(scores(shape, arrays, x[300:])) == y[300:]).mean() > 0.8
    save_classifier(Classifier(shape, arrays, ("a", "b"), {"kind": "sentence"}), tmp_path / "model")
    again = load_classifier(tmp_path / "model")
    assert again.shape == shape and all((again.arrays[n] == arrays[n]).all() for n in arrays)
    assert (tmp_path / "model/weights.npz").stat().st_mode & 0o077 == 0
    np.savez(tmp_path / "model/weights.npz", conv=np.array([{"pickled": 1}], dtype=object))
    with pytest.raises(BadInput, match="is no classifier"):
        load_classifier(tmp_path / "model")


@pytest.mark.parametrize(
    "changed",
    [
        {"length": 0},
        {"kernels": (30,)},
        {"classes": 1},
        {"pool": 10**6},
        {"pooling": "min"},
        {"hidden": -1},
        {"width": 1.5},
    ],
)
def test_shapes_that_do_not_fit_are_refused(changed):
    with pytest.raises(BadInput):
        NetworkShape.from_json(
            {**SHAPES["paper"].to_json(), **{k: list(v) if k == "kernels" else v for k, v in changed.items()}}
        )
