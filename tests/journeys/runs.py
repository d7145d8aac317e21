"""A run of `textveil veil` in a process of its own that is held once its first part is done, so that it can be disturbed.

However slow or fast the machine is, the run is neither over nor without a part by then: just before its second part would
take its name, it waits for the file `go-on`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from waiting import GENEROUS, wait_until

_HELD = """
import os, sys, time
from textveil.cli import main

parts = []

def hold(event, arguments):
    if event == "os.rename" and os.path.basename(os.fsdecode(arguments[1])).startswith("part-"):
        parts.append(arguments[1])
        while len(parts) == 2 and not os.path.exists("go-on"):
            time.sleep(0.01)

sys.addaudithook(hold)
main()
"""


def done_parts() -> list[Path]:
    """The parts of the run to `out` that have their names."""
    return sorted(Path(".out.unfinished").rglob("part-*"))


class HeldRun:
    """The run, in a process group of its own: its number is that of the group and of the session."""

    def __init__(self, *arguments: str):
        with open("said", "w") as said:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _HELD, *arguments],
                stdout=said,
                stderr=said,
                start_new_session=True,
                preexec_fn=_heed_interrupts,
            )
        self.group = self._process.pid
        wait_until(lambda: done_parts() or self._process.poll() is not None)
        assert self._process.poll() is None, self.said
        assert done_parts(), self.said

    @property
    def said(self) -> str:
        return Path("said").read_text()

    def let_go(self) -> None:
        """Let it go on to its end."""
        Path("go-on").touch()

    def end(self) -> int:
        """Its exit status, once it has ended."""
        return self._process.wait(timeout=GENEROUS)

    def kill(self) -> None:
        os.kill(self.group, signal.SIGKILL)
        self.end()

    def interrupt(self) -> None:
        """Ctrl-C, as a terminal sends it: to the whole group."""
        os.killpg(self.group, signal.SIGINT)


def _heed_interrupts() -> None:
    """Whoever runs the tests in the background has Ctrl-C switched off for their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
