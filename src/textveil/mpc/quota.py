"""How much each client may ask: a rate, and a budget that goes on over restarts.

Labels tell about the model: who may ask without end can train a copy. So every row is counted for its client, on disk, before
the engine runs, whether or not an answer comes of it. A program has a fixed number of rows, so all of them are counted.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from textveil.accounting.journal import Journal
from textveil.core.errors import Refused


class Quota:
    """The counters of one server. None: no limit."""

    def __init__(
        self,
        journal: Journal | None,
        *,
        budget: int | None,
        per_minute: int | None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._journal, self._budget, self._rate, self._clock = journal, budget, per_minute, clock
        self._counted: dict[str, int] = {}
        self._recent: dict[str, deque[tuple[float, int]]] = {}
        self._lock = threading.Lock()

    def left(self, client: str) -> int | None:
        """Rows that a client may still ask for."""
        return None if self._budget is None else max(0, self._budget - self._spent(client))

    def check(self, client: str, rows: int) -> None:
        """Refuse a session that could not be finished."""
        left = self.left(client)
        if left is not None and rows > left:
            raise Refused(f"{client} has {left:,} texts left with this model; this asks for {rows:,}")

    def take(self, client: str, rows: int) -> None:
        """Count rows for a client, on disk when this returns; a refusal counts nothing."""
        with self._lock:
            self.check(client, rows)
            self._check_rate(client, rows)
            if self._journal is None:
                self._counted[client] = self._spent(client) + rows
            else:
                self._journal.count(f"queries of {client}", rows)

    def _spent(self, client: str) -> int:
        if self._journal is None:
            return self._counted.get(client, 0)
        return self._journal.counted(f"queries of {client}")

    def _check_rate(self, client: str, rows: int) -> None:
        if self._rate is None:
            return
        now, recent = self._clock(), self._recent.setdefault(client, deque())
        while recent and recent[0][0] <= now - 60:
            recent.popleft()
        if sum(count for _, count in recent) + rows > self._rate:
            raise Refused(f"at most {self._rate:,} texts a minute; try again in a minute")
        recent.append((now, rows))


__all__ = ["Quota"]
