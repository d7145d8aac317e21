"""What a server tells its sites before the first round: the model to start from, and what they are asked to do with it.

    "terms": ConfigRecord   json: the fields of `SiteTerms`
    "model": ArrayRecord    the files of the model folder, as bytes; never code

A site keeps both in a folder of its own for the run, since Flower may start a new process for each message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from textveil.core import BadInput
from textveil.federated.local import LocalGradient, LocalStep, LocalTraining

BEGIN = "query.begin"
TERMS, MODEL = "terms.json", "model"
STEPS: Mapping[str, Callable[..., LocalStep]] = {"training": LocalTraining, "gradient": LocalGradient}
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.(json|txt|pt|safetensors|model)")


@dataclass(frozen=True)
class SiteTerms:
    """What every site is asked to do.

    unit: "client" (all of a site's text is one unit) or "user" (a site trains for each of its users);
    local: {"step": "training" | "gradient", ...arguments of that step}; private: arguments of `SitePlans` and of the
    private step, or None where sites train without noise.
    """

    kind: str
    unit: str
    rounds: int
    local: Mapping[str, Any]
    frozen: tuple[str, ...] = ()
    private: Mapping[str, Any] | None = None
    threads: int = 1
    adapters: int | None = None  # rank of LoRA adapters beside an encoder that rests; 0: its head alone learns

    def local_step(self) -> LocalStep:
        """The step of sites that train without noise."""
        arguments = dict(self.local)
        name = str(arguments.pop("step"))
        if name not in STEPS:
            raise BadInput("the server asks for a step that no site takes", possible=", ".join(STEPS))
        return STEPS[name](**arguments)


@dataclass(frozen=True)
class Begin:
    """The terms and the model, on their way."""

    terms: SiteTerms
    files: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, terms: SiteTerms, folder: Path) -> Begin:
        """With the files of a model folder, without its code."""
        names = [path for path in sorted(folder.iterdir()) if _FILE.fullmatch(path.name)]
        return cls(terms, {path.name: path.read_bytes() for path in names})

    def content(self) -> Any:
        """As Flower sends it."""
        from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

        files = {name: Array(np.frombuffer(raw, np.uint8)) for name, raw in self.files.items()}
        terms = ConfigRecord({"json": json.dumps(asdict(self.terms))})
        return RecordDict({"terms": terms, "model": ArrayRecord(files)})

    @classmethod
    def read(cls, content: Any) -> Begin:
        """From a message; what it names must be files of a model folder."""
        terms = _terms(json.loads(content["terms"]["json"]))
        files = {str(name): array.numpy().tobytes() for name, array in content["model"].items()}
        if not all(_FILE.fullmatch(name) for name in files):
            raise BadInput("the server sent a file that belongs to no model")
        return cls(terms, files)

    def keep(self, folder: Path) -> None:
        """Write them for the processes of this run."""
        (folder / MODEL).mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, raw in self.files.items():
            (folder / MODEL / name).write_bytes(raw)
        (folder / TERMS).write_text(json.dumps(asdict(self.terms)), encoding="utf-8")


def kept_terms(folder: Path) -> SiteTerms:
    """The terms that `keep` wrote."""
    return _terms(json.loads((folder / TERMS).read_text(encoding="utf-8")))


def _terms(fields: Mapping[str, Any]) -> SiteTerms:
    return SiteTerms(**{**fields, "frozen": tuple(fields["frozen"])})
