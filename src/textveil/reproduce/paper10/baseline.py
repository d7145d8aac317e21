"""The baselines of paper 10, trained from scratch and kept: steps done once are not done again.

One learns general text and a dictionary. Three go on from it, each with a domain left out: the other two are public
text then.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.reproduce.paper10.data import DOMAINS, Pair
from textveil.reproduce.paper10.general import general, judged, near, words

CURVE_PAIRS = 150  # of each domain, translated greedily: a curve has to be cheap
EVERY = 1000  # steps
RATE, FALLS_FROM = 0.001, 4000
SENTENCES = 3  # how often each general sentence is seen for an entry of the dictionary; at 1, a model learns far slower


def baseline(data: Path, *, left_out: str, steps: int, more: int, kept: Path) -> dict[str, Any]:
    """BLEU over training minutes, by domain; what an earlier cell trained is gone on with.

    `left_out`: the domain that is confidential, while the other two are public: `more` steps on them, from the model that
    learnt general text in `steps`. "" is that model, which knows none of the three.
    """
    from textveil.fragments.pretraining import Pretraining, PretrainSettings

    folder = folder_of(kept, left_out, steps, more)
    start = model_of(data, left_out="", steps=steps, more=0, kept=kept) if left_out else None
    with held(folder):
        if start is None:
            settings = PretrainSettings(rate=RATE, falls_from=FALLS_FROM)
            training = Pretraining(SENTENCES * general(data) + words(data), folder, settings)
            last, domains = steps, [*DOMAINS]
        else:
            settings = PretrainSettings(rate=RATE, ends=more)
            training = Pretraining(near(data, left_out), folder, settings, start=start)
            last, domains = more, [left_out]
        state = training.run(last, every=EVERY, score=lambda translator: curve_scores(translator, data, domains))
    return {"curve": [point for point in state.curve if point["step"] <= last]}


def model_of(data: Path, *, left_out: str, steps: int, more: int, kept: Path) -> Path:
    """The folder of the model after so many steps; trained now, if it is not there."""
    folder = folder_of(kept, left_out, steps, more) / f"model-{more if left_out else steps}"
    if not folder.is_dir():
        baseline(data, left_out=left_out, steps=steps, more=more, kept=kept)
    if not folder.is_dir():
        raise BadInput("the training went further without keeping this model", where=folder)
    return folder


def folder_of(kept: Path, left_out: str, steps: int, more: int) -> Path:
    """Where a training lies. The second one ends at a step that its rates know, so another end is another training."""
    return kept / (f"baseline-{left_out}-from-{steps}-to-{more}" if left_out else "baseline-general-and-words")


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
