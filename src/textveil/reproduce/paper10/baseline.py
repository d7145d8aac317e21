"""The baseline of paper 10, trained from scratch and kept: steps done once are not done again."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.reproduce.paper10.data import DOMAINS, Pair
from textveil.reproduce.paper10.general import judged, public

CURVE_PAIRS = 150  # of each domain, translated greedily: a curve has to be cheap
EVERY = 200  # steps


def baseline(data: Path, *, left_out: str, steps: int, kept: Path) -> dict[str, Any]:
    """BLEU over training minutes, by domain, until `steps`; what an earlier cell trained is gone on with.

    `left_out`: the domain that is confidential, while the other two are public; "" trains on general text alone, which
    leaves all three out.
    """
    from textveil.fragments.pretraining import Pretraining

    folder = folder_of(kept, left_out)
    with held(folder):
        training = Pretraining(public(data, left_out), folder)
        domains = [left_out] if left_out else [*DOMAINS]
        state = training.run(steps, every=EVERY, score=lambda translator: curve_scores(translator, data, domains))
    return {"curve": [point for point in state.curve if point["step"] <= steps]}


def model_of(data: Path, left_out: str, steps: int, kept: Path) -> Path:
    """The folder of the model after so many steps; trained now, if it is not there."""
    folder = folder_of(kept, left_out) / f"model-{steps}"
    if not folder.is_dir():
        baseline(data, left_out=left_out, steps=steps, kept=kept)
    if not folder.is_dir():
        raise BadInput(f"the training went past step {steps} without keeping its model", where=folder.parent)
    return folder


def folder_of(kept: Path, left_out: str) -> Path:
    return kept / f"baseline-{left_out or 'general'}"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Only one process trains in a folder; the others wait and find the work done."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def curve_scores(translator: Any, data: Path, domains: list[str]) -> dict[str, Any]:
    """BLEU, chrF and the length of the output on a few held-out sentences of each domain."""
    from textveil.fragments.translation_scores import scores

    shown: dict[str, Any] = {}
    for domain in domains:
        pairs: list[Pair] = judged(data, domain, CURVE_PAIRS)
        written = translator.translate([de for de, _ in pairs], beams=1, size=32)
        found = scores(written, [en for _, en in pairs])
        shown[domain] = {"bleu": found["bleu"], "chrf": found["chrf"], "length_ratio": found["length_ratio"]}
    return shown
