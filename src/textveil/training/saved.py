"""Models from their folders, in one call: a release folder of `textveil train`, its `model/`, or a Hugging Face folder.

What comes back is fitted and ready to use, with the promise that the release states (`guarantee_`). It knows the net, its
labels and the settings that the release shows; training it anew needs the data and the vectors again.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textveil.core import Adjacency, BadInput, Guarantee, NoPromise, Unit, read_manifest
from textveil.core.params import needs
from textveil.core.release import MANIFEST

from .classifier import Classifier
from .language_model import LanguageModel
from .private_model import SHARED, PrivateModel
from .tagger import Tagger

UNSTATED = "the folder does not say how the model was made: load the release folder around it"
WORDS, TOKENIZER, TABLE = "words.tsv", "tokenizer.json", "table.json"
_KINDS: dict[str, type[PrivateModel]] = {
    "tagger": Tagger, "text_cnn": Classifier, "classifier": Classifier, "language_model": LanguageModel, "lm": LanguageModel,
}  # fmt: skip


@dataclass(frozen=True)
class ReleasedVocabulary:
    """A private vocabulary as it was released: words with their noisy counts, and the tokenizer made of them."""

    counts: dict[str, float]  # empty where only the tokenizer's folder was given
    tokenizer: Any
    guarantee_: Guarantee

    @property
    def words(self) -> list[str]:
        """The words that were shown, the most frequent first: what `LanguageModel(words=...)` takes."""
        return list(self.counts)

    def pieces(self, texts: Sequence[str]) -> list[list[str]]:
        """The pieces of each text."""
        return [encoded.tokens for encoded in self.tokenizer.encode_batch(list(texts), add_special_tokens=False)]


def load(folder: str | os.PathLike[str]) -> Any:
    """A fitted Tagger, Classifier or LanguageModel, or the vocabulary that `train vocab` released."""
    place = Path(folder)
    model = place / "model" if (place / "model").is_dir() else place
    shown = read_manifest(place) if (place / MANIFEST).is_file() else {}
    if not model.is_dir():
        raise BadInput("does not exist, or is no folder", where=place, possible="a folder that textveil train made")
    if (model / TABLE).is_file():
        raise BadInput("holds a hashed model", where=place, possible="textveil.hashed.load, or textveil hashed apply")
    promise = _promise(shown)
    if (model / TOKENIZER).is_file() and not (model / "config.json").is_file():
        return _vocabulary(place, model, promise)
    needs("training", "torch")
    from textveil.nets.folders import load_net

    net = load_net(model)
    return _fitted(net, model, shown.get("parameters", {}), promise)


def _fitted(net: Any, folder: Path, parameters: dict[str, Any], promise: Guarantee) -> PrivateModel:
    """The estimator around a net, as it stood after `fit`."""
    is_encoder = hasattr(net, "head")
    kind = _KINDS[net.head if is_encoder else net.config["kind"]]
    own = {"encoder": str(folder), "max_words": net.max_pieces} if is_encoder else dict(net.config)
    own |= _labels(kind, net.labels if is_encoder else net.config) | _settings(parameters)
    known = kind._parameter_names()
    model = kind(**{name: value for name, value in own.items() if name in known})
    if kind is LanguageModel and not is_encoder:
        model.set_params(words=net.names)
    labels = list(own.get("tags") or own.get("classes") or ())
    if kind is not LanguageModel:
        model.classes_ = np.array(labels) if kind is Classifier else labels  # type: ignore[attr-defined]
    model.net_, model.guarantee_, model.plan_, model.history_ = net, promise, None, None
    return model


def _labels(kind: type[PrivateModel], given: Any) -> dict[str, Any]:
    name = {Tagger: "tags", Classifier: "classes"}.get(kind)
    if name is None:
        return {}
    return {name: given[name] if isinstance(given, dict) else list(given)}


def _settings(parameters: dict[str, Any]) -> dict[str, Any]:
    """Those settings of a release that are numbers and names as they were given."""
    return {name: value for name, value in parameters.items() if name in SHARED and name != "also"}


def _vocabulary(place: Path, model: Path, promise: Guarantee) -> ReleasedVocabulary:
    needs("training", "tokenizers")
    from tokenizers import Tokenizer

    lines = (place / WORDS).read_text(encoding="utf-8").splitlines() if (place / WORDS).is_file() else []
    counts = {word: float(count) for word, _, count in (line.partition("\t") for line in lines)}
    try:
        return ReleasedVocabulary(counts, Tokenizer.from_file(str(model / TOKENIZER)), promise)
    except Exception:  # the library raises nothing narrower
        raise BadInput("cannot be read", where=model / TOKENIZER) from None


def _promise(shown: dict[str, Any]) -> Guarantee:
    if shown:
        return Guarantee.from_json(shown["guarantee"])
    return Guarantee(NoPromise(UNSTATED, "heuristic"), Unit.EXAMPLE, Adjacency.ADD_REMOVE)


__all__ = ["ReleasedVocabulary", "load"]
