"""What a run has done so far, so that it can be stopped and taken up again: one file, one owner, every line on disk.

    format and key     the first line; the key serves fingerprints of runs that keep no ledger
    charge             a step that was paid for: what exactly (event, data, binding), and the ledger line
    begun, done        a step whose output others may see before it is stored here (a federated round)
    count              a counter that goes on over restarts (queries that were answered)

The folder of a journal belongs to one process at a time (a lock on the folder itself, which ends with the process, so
kill -9 frees it). A line is appended whole and synced before `note` returns; a last line that a kill cut off was never
reported to anyone and is dropped. The folder can be read by its owner only: a journal holds paths and sizes, no text.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from textveil.core.errors import BadInput
from textveil.core.files import lock_folder, sync_folder
from textveil.core.fingerprint import KEY_BYTES

FILE = "journal.jsonl"
FORMAT = 1


class Journal:
    """Opens the journal of a folder, made if it is missing, and holds the folder until `close`.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "run"
    >>> with Journal(folder) as journal:
    ...     journal.count("queries", 2), journal.count("queries")
    (2, 3)
    >>> with Journal(folder) as journal:
    ...     journal.counted("queries")
    3
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._lock = lock_folder(folder)
        self._lines: list[dict[str, Any]] = []
        self._counters: dict[str, int] = {}
        try:
            for line in self._read():
                self._take(line)
            if not self._lines:
                self.reset()
        except BaseException:
            self.close()
            raise

    @property
    def path(self) -> Path:
        return self.folder / FILE

    @property
    def key(self) -> bytes:
        """Secret of this run, for fingerprints where no ledger is kept."""
        return bytes.fromhex(self._lines[0]["key"])

    def reset(self) -> None:
        """Forget everything; a new key."""
        self.path.unlink(missing_ok=True)
        self._lines, self._counters = [], {}
        self._append({"format": FORMAT, "key": secrets.token_hex(KEY_BYTES)})
        sync_folder(self.folder)

    # ---- steps -------------------------------------------------------------------------------------------------

    def charges(self, step: str | None = None) -> list[dict[str, Any]]:
        """What was paid for, oldest first: all steps, or one."""
        return [line["charge"] for line in self._lines if "charge" in line and step in (None, line["charge"]["step"])]

    def note_charge(
        self, step: str, bound: Mapping[str, Any], entry: str | None, head: str | None, *, draft: bool = False
    ) -> None:
        line = {"step": step, "bound": dict(bound), "entry": entry, "head": head, "draft": draft}
        self._append({"charge": line})

    def is_of_a_draft(self) -> bool:
        """Whether a seeded run left this journal: it cannot be taken up, since its seed is nowhere on disk."""
        return any(charge["draft"] for charge in self.charges())

    def note_begun(self, step: str) -> None:
        self._append({"begun": step})

    def note_done(self, step: str) -> None:
        self._append({"done": step})

    def is_open(self, step: str) -> bool:
        """Whether a step was begun and not done: somebody may have seen its output."""
        state = [name for line in self._lines for name in ("charge", "begun", "done") if _is_about(line, name, step)]
        return bool(state) and state[-1] == "begun"

    def is_done(self, step: str) -> bool:
        return any(_is_about(line, "done", step) for line in self._lines)

    # ---- counters ----------------------------------------------------------------------------------------------

    def count(self, name: str, by: int = 1) -> int:
        """Raise a counter, on disk when this returns, and give its new value."""
        value = self.counted(name) + by
        self._append({"count": {"name": name, "value": value}})
        return value

    def counted(self, name: str) -> int:
        return self._counters.get(name, 0)

    # ---- the file ----------------------------------------------------------------------------------------------

    def _append(self, line: dict[str, Any]) -> None:
        raw = json.dumps(line, allow_nan=False).encode() + b"\n"
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, raw)
            os.fsync(handle)
        finally:
            os.close(handle)
        self._take(json.loads(raw))

    def _take(self, line: dict[str, Any]) -> None:
        if "count" in line:
            self._counters[line["count"]["name"]] = int(line["count"]["value"])
        else:
            self._lines.append(line)

    def _read(self) -> list[dict[str, Any]]:
        try:
            raw = self.path.read_bytes()
        except FileNotFoundError:
            return []
        whole, _, cut_off = raw.rpartition(b"\n")
        if cut_off:
            os.truncate(self.path, len(raw) - len(cut_off))
        try:
            lines = [json.loads(line) for line in whole.splitlines()]
            is_newer = bool(lines) and lines[0]["format"] > FORMAT
        except (ValueError, KeyError, TypeError):
            raise BadInput(
                "is damaged, so nothing can be taken up from it", where=self.path, possible="remove its folder"
            ) from None
        if is_newer:
            raise BadInput("was written by a newer version", where=self.path)
        return lines

    def close(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _is_about(line: dict[str, Any], kind: str, step: str) -> bool:
    value = line.get(kind)
    return (value["step"] if isinstance(value, dict) else value) == step


__all__ = ["Journal"]
