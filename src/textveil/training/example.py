"""The example on which every private model is checked: a small net, a few steps, eight examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from textveil.core import Shape
from textveil.core.example import Example
from textveil.text.vectors import from_arrays

if TYPE_CHECKING:
    from .private_model import PrivateModel

WORDS = ("tea", "milk", "cold", "hot")
TEXTS = ("hot tea", "cold milk", "tea with milk", "hot milk", "cold tea", "hot hot tea", "milk", "cold cold tea")
EXEMPT = {
    "the promise holds": "two worlds would take thousands of trainings; training.one_run audits a run",
    "the limits of epsilon hold": "without noise, steps are decided by the loss: no two trainings need agree",
    "every size works": "a training of fifty thousand texts is no small example",
}
_SMALL: dict[str, dict[str, Any]] = {
    "training.classifier": {"channels": 2, "widths": (1,), "max_words": 4, "classes": ("no", "yes")},
    "training.tagger": {"output": "softmax", "hidden": 2, "affix": 2, "tags": ("O", "T")},
    "training.lm": {"words": WORDS, "dimensions": 2, "hidden": 2, "max_words": 4},
}


def model_example(kind: type[PrivateModel]) -> Example:
    """The smallest model of a kind."""
    own = dict(_SMALL.get(kind.name, {}))
    if kind.name == "training.translation":
        from textveil.nets.translation import tiny_seq2seq

        own["model"] = tiny_seq2seq([word for text in TEXTS for word in text.split()])
    if "vectors" in kind._parameter_names():
        own["vectors"] = from_arrays(list(WORDS), np.eye(4, 3) + 0.5)
    model = kind(**own, epsilon=2.0, delta=1e-3, epochs=2, batch=8, examples=8)
    return Example(model, _data(kind.name), Shape(units=8), see=_weights, exempt=EXEMPT)


def _data(name: str) -> Any:
    texts = list(TEXTS)
    if name == "training.lm":
        return texts
    if name == "training.translation":
        return texts, texts[::-1]
    if name == "training.tagger":
        sentences = [text.split() for text in texts]
        return sentences, [["T" if word == "tea" else "O" for word in words] for words in sentences]
    return texts, ["yes" if "tea" in text else "no" for text in texts]


def _weights(model: PrivateModel) -> np.ndarray:
    return np.concatenate([p.detach().numpy().ravel() for p in model.net_.parameters()])
