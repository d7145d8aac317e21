"""One piece charges the ledger for every journey: the line is on disk before any noise is drawn.

A journey first asks for the `key` (data read under it gives the fingerprint that binds a ledger to its data), reads and
checks everything, and only then calls `charge`.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from textveil.accounting.ledger import Ledger
from textveil.core import BadInput, Event


def ledger_key(path: Path | None) -> bytes:
    """The key of an existing ledger; a fresh one where none exists yet."""
    return Ledger(path, must_exist=True).key if path is not None and path.exists() else secrets.token_bytes(32)


def charge(
    path: Path | None, key: bytes, event: Event, note: str, *, fingerprint: str, other_data: bool = False
) -> str | None:
    """The id of the new line, or None where no ledger is kept."""
    if path is None:
        return None
    ledger = Ledger(path, key=key)
    if ledger.key != key:
        raise BadInput("was made by another process since this command began", where=path, possible="run it again")
    return ledger.charge(event, note, fingerprint=fingerprint, other_data=other_data).id
