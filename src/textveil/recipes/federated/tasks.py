"""What is learnt together, as `federated` wants it: the nets of `train`, new or from a public model folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.federated.task import NetTask, SavedNet

KINDS = ("lm", "tagger", "classifier")
LABELS = {"tagger": "tags", "classifier": "classes"}
ALWAYS_FROZEN = {"lm": (), "tagger": (), "classifier": ()}


@dataclass(frozen=True)
class NewNet:
    """Builds the untrained net of an estimator of `train`, with the same values each time (they are public)."""

    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    labels: tuple[str, ...] = ()

    def __call__(self) -> Any:
        from textveil.nets.fit import own_randomness
        from textveil.training.classifier import Classifier
        from textveil.training.language_model import LanguageModel
        from textveil.training.tagger import Tagger

        maker: Any = {"tagger": Tagger, "classifier": Classifier, "lm": LanguageModel}[self.kind]
        model = maker(**self.parameters)
        if self.kind == "tagger":
            model.classes_ = list(self.labels)
        elif self.kind == "classifier":
            import numpy as np

            model.classes_ = np.array(self.labels)
        with own_randomness(0):
            return model._net()


@dataclass(frozen=True)
class AdaptedNet:
    """Builds a net whose encoder rests: its head learns, and adapters of this rank (0: none). Adapters begin alike."""

    make: Callable[[], Any]
    rank: int

    def __call__(self) -> Any:
        from textveil.nets.fit import own_randomness
        from textveil.training.adapters import adapt_encoder

        with own_randomness(0):
            return adapt_encoder(self.make(), self.rank)


def make_task(
    kind: str,
    parameters: Mapping[str, Any],
    *,
    labels: tuple[str, ...] = (),
    start: Path | None = None,
    frozen: tuple[str, ...] = (),
) -> NetTask:
    """The task: a net of this kind, begun anew or from a model folder. `frozen`: beginnings of parameter names.

    `adapters` among the parameters: the rank of LoRA adapters, of a new net or of the one in the folder.
    """
    own = dict(parameters)
    rank = own.pop("adapters", None)
    make: Callable[[], Any] = NewNet(kind, own, labels) if start is None else SavedNet(start, kind)
    return NetTask(kind, make if rank is None else AdaptedNet(make, rank), frozen)


def save_model(net: Any, folder: Path) -> None:
    """Write the model folder of a net; adapters are put into the layers that they stand beside."""
    from textveil.training.adapters import merge_adapters

    merge_adapters(net)
    net.save(folder)


def labels_of_start(kind: str, start: Path) -> tuple[str, ...]:
    """The labels that a model folder knows; BadInput if it is made for another task."""
    net = SavedNet(start, kind)()
    if kind == "lm":
        return ()
    labels = net.labels if hasattr(net, "head") else net.config[LABELS[kind]]
    if labels is None:
        raise BadInput("does not say which labels it knows", where=start)
    return tuple(str(label) for label in labels)
