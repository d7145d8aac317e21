"""A study of one claim: randomized response tells the truth with chance e^epsilon / (1 + e^epsilon)."""

from pathlib import Path

import numpy as np

from textveil.reproduce.cells import Kind, grid
from textveil.reproduce.study import Study


def keeps(data, epsilon, seed):
    """One cell: the share of true answers among a thousand."""
    rng = np.random.default_rng(seed)
    return {"share": float((rng.random(1000) < 1 / (1 + np.exp(-epsilon))).mean())}


def plan(scale):
    return grid("keeps", epsilon=[1.0], seed=range(5 if scale == "small" else 50))


STUDY = Study(
    paper="example",
    title="Randomized response",
    kinds={"keeps": Kind(keeps)},
    plan=plan,
    parts={"all": ("keeps",)},
    notes=("A thousand answers for each seed.",),
    claims=Path(__file__).with_name("example.toml"),
)
