"""The largest memory of a command, in a process of its own.

The system counts what this process held when it started the other one as well, so a figure is an upper limit.
"""

from __future__ import annotations

import os
import sys


def peak_megabytes(*arguments: str) -> float:
    """Run `textveil` with these arguments and without its output."""
    command = [sys.executable, "-m", "textveil", *arguments]
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"textveil {arguments[0]} {arguments[1]} failed")
    return used.ru_maxrss / 1024
