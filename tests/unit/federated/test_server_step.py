"""The server's step against torch's optimisers: minus the mean update is the gradient."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from textveil.federated import ServerStep

MEANS = [np.float32([0.3, -0.1]), np.float32([0.0, 0.4]), np.float32([-0.2, 0.1])]


@pytest.mark.parametrize(
    ("step", "peer"),
    [
        (ServerStep("average", 0.5), lambda p: torch.optim.SGD(p, lr=0.5)),
        (ServerStep("momentum", 0.5, momentum=0.9), lambda p: torch.optim.SGD(p, lr=0.5, momentum=0.9)),
        (
            ServerStep("adam", 0.1, momentum=0.9, second=0.99, tiny=1e-3, decay=0.01),
            lambda p: torch.optim.AdamW(p, lr=0.1, betas=(0.9, 0.99), eps=1e-3, weight_decay=0.01),
        ),
    ],
)
def test_it_steps_as_torch_does(step, peer):
    weights, memory = np.float32([1.0, -1.0]), {}
    parameter = torch.nn.Parameter(torch.tensor(weights))
    optimiser = peer([parameter])
    for mean in MEANS:
        weights = weights + step(mean, memory, weights)
        parameter.grad = torch.tensor(-mean)
        optimiser.step()
        assert weights == pytest.approx(parameter.detach().numpy(), abs=1e-6)
