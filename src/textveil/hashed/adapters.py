"""Seal tables of other tools: crfsuite models, scikit-learn linear models on hashed features, Vowpal Wabbit readable
models.

Each adapter reads hash -> weights into a WeightTable, and (scikit-learn, Vowpal Wabbit) writes the sealed weights back
into a model of the same kind. A binary model has one weight per slot; here it becomes the row (-w/2, w/2), whose
difference is w.

None of these tools says in how many documents a slot occurred, so rare rows cannot be found and `min_documents` is 1,
unless the caller has the training matrix (`documents=` of `seal_linear`).
"""

from __future__ import annotations

import copy
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textveil.core.errors import BadInput
from textveil.core.params import needs
from textveil.hashed.seal import seal
from textveil.hashed.table import WeightTable


def table_of_rows(weights: np.ndarray, present: np.ndarray, labels: tuple[str, ...], **more: Any) -> WeightTable:
    """A WeightTable of any number of rows: padded to a power of two with rows that no feature reaches."""
    rows = 1 << max(1, int(len(weights) - 1).bit_length())
    padding = ((0, rows - len(weights)), (0, 0))
    d = weights.shape[1]
    more.setdefault("transitions", np.zeros((d, d), np.float32))
    if more.get("documents") is not None:
        more["documents"] = np.pad(more["documents"], (0, rows - len(weights)))
    return WeightTable(np.pad(weights, padding), np.pad(present, padding), labels, **more)


def mirrored(weights: np.ndarray) -> np.ndarray:
    """Rows (-w/2, w/2) of a binary model."""
    half = np.asarray(weights, np.float64) / 2
    return np.stack([-half, half], axis=1)


# crfsuite --------------------------------------------------------------------------------------------------------


def from_crfsuite(path: str | os.PathLike[str], bits: int = 21) -> WeightTable:
    """The table of a crfsuite model whose attributes are slot numbers; `decode` and `seal` work on it.

    crfsuite keeps its models in a closed binary form that only its trainer writes, so there is no way back into one.
    """
    needs("hashed", "pycrfsuite")
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    try:
        tagger.open(os.fspath(path))
    except (ValueError, OSError, RuntimeError):
        raise BadInput("is not a crfsuite model", where=path) from None
    info = tagger.info()
    labels = tuple(name for name, _ in sorted(info.labels.items(), key=lambda item: int(item[1])))
    number = {name: i for i, name in enumerate(labels)}
    weights = np.zeros((1 << bits, len(labels)), np.float32)
    present = np.zeros(weights.shape, bool)
    for (attribute, label), value in info.state_features.items():
        if not attribute.isdecimal() or int(attribute) >= len(weights):
            raise BadInput(
                "has attributes that are not slot numbers",
                where=path,
                possible=f"attributes '0' to '{len(weights) - 1}'",
            )
        weights[int(attribute), number[label]] = value
        present[int(attribute), number[label]] = True
    steps = np.zeros((len(labels), len(labels)), np.float32)
    for (one, other), value in info.transitions.items():
        steps[number[one], number[other]] = value
    return WeightTable(weights, present, labels, steps).require_weights(path)


# scikit-learn ----------------------------------------------------------------------------------------------------


def seal_linear(estimator: Any, *, documents: np.ndarray | None = None, **options: Any) -> Any:
    """A sealed copy of a fitted linear classifier (`coef_`) whose columns are hash slots.

    `documents`: for each column, how many training documents had it (`(X != 0).sum(axis=0)`); without it min_documents
    is 1.
    """
    coefficients = np.asarray(getattr(estimator, "coef_", np.zeros(0)))
    if coefficients.ndim != 2 or not coefficients.size:
        raise BadInput(
            "the estimator has no matrix of coefficients", possible="a fitted linear classifier of scikit-learn"
        )
    binary = len(coefficients) == 1
    weights = mirrored(coefficients[0]) if binary else coefficients.T
    present = np.repeat((coefficients != 0).any(axis=0)[:, None], 2, axis=1) if binary else coefficients.T != 0
    if documents is None:
        options.setdefault("min_documents", 1)
    else:
        documents = np.minimum(np.asarray(documents).ravel(), 65535).astype(np.uint16)
    labels = tuple(map(str, getattr(estimator, "classes_", range(weights.shape[1]))))
    table = table_of_rows(weights.astype(np.float32), present, labels, documents=documents)
    sealed = seal(table, **options).weights[: len(weights)].astype(np.float64)
    filled = (sealed[:, 1] - sealed[:, 0])[None] if binary else sealed.T
    if options.get("mode") == "paper":  # genuine weights bit by bit
        filled = np.where(coefficients != 0, coefficients, filled)
    other = copy.deepcopy(estimator)
    other.coef_ = filled.astype(coefficients.dtype)
    return other


# Vowpal Wabbit ---------------------------------------------------------------------------------------------------

_LINE = re.compile(r"^(\d+):(\S+)$")


@dataclass
class VowpalModel:
    """A model written by `vw --readable_model`: the header as it is, and weights as the text that stood there."""

    header: list[str]
    bits: int
    weights: dict[int, str]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> VowpalModel:
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            raise BadInput("cannot be read as text", where=path, possible="a file of `vw --readable_model`") from None
        bits = next((int(m[1]) for line in lines if (m := re.match(r"^bits:\s*(\d+)$", line))), None)
        begin = next((i for i, line in enumerate(lines) if line.strip() == ":0"), None)
        if bits is None or begin is None or bits > 28:
            raise BadInput("is not a readable model of Vowpal Wabbit", where=path, possible="vw --readable_model FILE")
        weights = {}
        for number, line in enumerate(lines[begin + 1 :], begin + 2):
            found = _LINE.match(line.strip())
            if found is None or int(found[1]) >= 1 << bits or not _is_number(found[2]):
                raise BadInput(
                    "is not 'slot:weight'", where=path, line=number, possible="one weight per slot (no --oaa)"
                )
            weights[int(found[1])] = found[2]
        return cls(lines[: begin + 1], bits, weights)

    def write(self, path: str | os.PathLike[str]) -> None:
        rows = (f"{slot}:{text}" for slot, text in sorted(self.weights.items()))
        Path(path).write_text("\n".join([*self.header, *rows]) + "\n", encoding="utf-8")

    def table(self) -> WeightTable:
        values = np.zeros(1 << self.bits)
        slots = np.fromiter(self.weights, np.int64, len(self.weights))
        values[slots] = [float(text) for text in self.weights.values()]
        present = np.repeat((values != 0)[:, None], 2, axis=1)
        return WeightTable(mirrored(values), present, ("-1", "1"), np.zeros((2, 2))).require_weights("the model")

    def seal(self, **options: Any) -> VowpalModel:
        """Every slot filled. Weights are printed with six digits, as vw does, drawn and genuine ones alike."""
        options.setdefault("min_documents", 1)
        sealed = seal(self.table(), **options).weights
        values = sealed[:, 1].astype(np.float64) - sealed[:, 0]
        texts = {slot: f"{value:.6g}" for slot, value in enumerate(values.tolist())}
        if options.get("mode") == "paper":
            texts |= {slot: text for slot, text in self.weights.items() if float(text) != 0}
        return VowpalModel(list(self.header), self.bits, texts)


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
