"""What is learnt: any net of `nets` that has `collate` and `losses`, built alike by the server and by every site.

    class Task(Protocol):
        kind                       "lm", "tagger", "classifier", or a name of your own
        build() -> net             the net all begin from; frozen parts have requires_grad False
        evaluate(net, examples)    public scores by name, "loss" among them

A task is picklable: it is sent to the processes that train. Examples of a unit are a list of whatever `collate` takes (a
text; (words, tags); (text, class)). A unit without examples contributes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from textveil.core import BadInput

from .weights import freeze

KINDS = {"language_model": "lm", "tagger": "tagger", "text_cnn": "classifier"}


class Task(Protocol):
    """What the server and the sites agree on beforehand."""

    @property
    def kind(self) -> str: ...

    def build(self) -> Any: ...

    def evaluate(self, net: Any, examples: Sequence[Any]) -> dict[str, float]: ...


@dataclass(frozen=True)
class NetTask:
    """A task around a function that builds a net (picklable, the same values each time); `frozen`: beginnings of names."""

    kind: str
    make: Callable[[], Any]
    frozen: tuple[str, ...] = ()

    def build(self) -> Any:
        net = self.make()
        freeze(net, self.frozen)
        return net

    def evaluate(self, net: Any, examples: Sequence[Any]) -> dict[str, float]:
        return evaluate(net, examples)


@dataclass(frozen=True)
class SavedNet:
    """Builds the net of a model folder (of `train`, of an earlier run): a public start."""

    folder: Path
    kind: str | None = None

    def __call__(self) -> Any:
        from textveil.nets.folders import load_net

        net = load_net(self.folder)
        check_kind(net, self.kind, self.folder)
        return net


def kind_of(net: Any) -> str:
    """Which task a net of ours is made for."""
    return str(net.head) if hasattr(net, "head") else KINDS.get(net.config["kind"], net.config["kind"])


def check_kind(net: Any, kind: str | None, folder: Path) -> None:
    """Refuse the model folder of another task."""
    if kind is not None and kind_of(net) != kind:
        raise BadInput(f"holds a model for the task '{kind_of(net)}', not '{kind}'", where=folder)


def evaluate(net: Any, examples: Sequence[Any]) -> dict[str, float]:
    """The mean loss, and of a language model the perplexity and the accuracy of the next word."""
    from textveil.nets.folders import example_losses

    net.eval()
    loss = float(example_losses(net, list(examples)).double().mean())
    if kind_of(net) != "lm" or not hasattr(net, "negative_logs"):
        return {"loss": loss}
    return {"loss": loss, **next_word_scores(net, examples)}


def next_word_scores(net: Any, examples: Sequence[str], batch: int = 64) -> dict[str, float]:
    """Perplexity over all words (each word weighs alike), and how often the likeliest next word is the right one."""
    import torch

    logs, words, right = 0.0, 0, 0
    texts = sorted(examples, key=net.length)
    with torch.no_grad():
        for start in range(0, len(texts), batch):
            rows = net.collate(texts[start : start + batch])
            scores, target = net(rows), rows["target"]
            inside = target >= 0
            each = torch.nn.functional.cross_entropy(scores[inside], target[inside], reduction="sum")
            logs, words = logs + float(each), words + int(inside.sum())
            right += int((scores[inside].argmax(1) == target[inside]).sum())
    return {"perplexity": math.exp(min(logs / max(1, words), 700.0)), "accuracy": right / max(1, words)}
