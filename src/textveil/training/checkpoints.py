"""Stopped runs go on where they were: weights, optimiser, step and what was charged; never the state of a generator.

Claim. A step that is done again draws fresh noise and a fresh sample, and is charged again: before each step it is counted
in a journal (that of the release on its way, or one beside the checkpoint), on disk before the noise is drawn. Steps that
the journal holds beyond the checkpoint were begun and lost; a resumed run counts them on top of its plan. Saving the
generator instead would keep the noise of future updates in a file. A checkpoint belongs to one plan and one data set: a
keyed fingerprint (the key lies in the file, which only its owner can read) tells other data, and a mismatch is refused.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import torch

from textveil.accounting.journal import Journal
from textveil.core import BadInput
from textveil.core.files import sync_folder
from textveil.core.fingerprint import KEY_BYTES, Fingerprint

from .plan import TrainingPlan

FORM = 1


class Checkpoint:
    """One file, in whatever folder the caller keeps for it (made, if it is missing, for its owner only), and its journal:
    the one given, else a journal of its own beside the file, held until `close`."""

    def __init__(self, path: Path, plan: TrainingPlan, examples: Sequence[Any], journal: Journal | None = None) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path, self.plan = Path(path), plan
        self.state: dict[str, Any] = self._read() if self.path.exists() else {}
        self.key: bytes = self.state.get("key") or secrets.token_bytes(KEY_BYTES)
        self.mark = fingerprint(examples, self.key)
        if self.state:
            self._check()
        self._own = Journal(Path(f"{path}.journal")) if journal is None else None
        self._journal: Journal = journal or self._own  # type: ignore[assignment]

    @property
    def step(self) -> int:
        """Steps that are done and saved."""
        return int(self.state.get("step", 0))

    def lost(self) -> list[int]:
        """Steps of each phase that were begun after the checkpoint and never saved."""
        begun = self.begun()
        saved = self.state.get("begun") or [0] * len(self.plan.phases)
        return [max(0, b - s) for b, s in zip(begun, saved, strict=True)]

    def begin(self, phase: int) -> None:
        """Note on disk, before anything is drawn, that a step of this phase begins."""
        self._journal.count(_begun(phase))

    def close(self) -> None:
        """Let go of a journal of its own."""
        if self._own is not None:
            self._own.close()

    def save(self, step: int, **state: Any) -> None:
        """Replace the file in one move; a crash leaves the old one or the new one."""
        kept = {"form": FORM, "key": self.key, "mark": self.mark, "plan": self.plan.to_json(), "begun": self.begun()}
        self.state = {**kept, "step": step, **state}
        part = self.path.with_name(f".{self.path.name}.part")
        with open(part, "wb", opener=_private) as file:
            torch.save(self.state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self.path)
        sync_folder(self.path.parent)

    def begun(self) -> list[int]:
        """Steps of each phase that were ever begun, by the journal."""
        return [self._journal.counted(_begun(phase)) for phase in range(len(self.plan.phases))]

    def _read(self) -> dict[str, Any]:
        try:
            state = torch.load(self.path, weights_only=True)
        except Exception as error:
            raise BadInput("is not a checkpoint of a training run", where=self.path) from error
        if not isinstance(state, dict) or state.get("form") != FORM:
            raise BadInput("is not a checkpoint of this version", where=self.path)
        return state

    def _check(self) -> None:
        if self.state["mark"] != self.mark:
            raise BadInput(
                "belongs to other data (the fingerprints differ)",
                where=self.path,
                possible="the data it was made with, or another checkpoint file",
            )
        if self.state["plan"] != self.plan.to_json():
            raise BadInput(
                "belongs to another plan (noise, batch, steps, clip, sampling or unit differ)",
                where=self.path,
                possible="the same settings, or another checkpoint file",
            )


def fingerprint(examples: Sequence[Any], key: bytes) -> str:
    """A keyed fingerprint of any nested values: texts, numbers, arrays, tensors, lists, mappings, data classes."""
    mark = Fingerprint(key)
    for example in examples:
        _feed(mark, example)
    return mark.hexdigest()


def _feed(mark: Fingerprint, value: Any) -> None:
    if isinstance(value, str):
        mark.update(value)
    elif isinstance(value, torch.Tensor):
        _feed(mark, value.detach().cpu().numpy())
    elif hasattr(value, "dtype") and hasattr(value, "tobytes"):
        mark.update_bytes(f"{value.dtype} {getattr(value, 'shape', ())}".encode())
        mark.update_bytes(value.tobytes())
    elif isinstance(value, dict):
        mark.update_bytes(b"{%d" % len(value))
        for k in sorted(value, key=repr):
            _feed(mark, k)
            _feed(mark, value[k])
    elif isinstance(value, (list, tuple)):
        mark.update_bytes(b"[%d" % len(value))
        for item in value:
            _feed(mark, item)
    elif is_dataclass(value) and not isinstance(value, type):
        _feed(mark, asdict(value))
    elif value is None or isinstance(value, (bool, int, float, bytes)):
        mark.update_bytes(repr(value).encode())
    else:
        raise BadInput(
            f"an example of kind {type(value).__name__} has no fingerprint", possible="texts, numbers, arrays, lists"
        )


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _begun(phase: int) -> str:
    """The counter of a phase's steps."""
    return f"steps begun in phase {phase}"
