"""What was taken of a file's form is said: one line on the error stream for each file, with --json too."""

from __future__ import annotations

import logging
import os

from textveil.cli.output import say

LOG = "textveil.text"


class ReadAsLines(logging.Handler):
    """Prints what readers log, once each; a worker process that opens the file again says nothing."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._process, self._said = os.getpid(), set[str]()

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if os.getpid() == self._process and line not in self._said:
            self._said.add(line)
            say(line)


def say_read_as() -> None:
    """Print what readers log while this command runs."""
    log = logging.getLogger(LOG)
    for handler in [one for one in log.handlers if isinstance(one, ReadAsLines)]:
        log.removeHandler(handler)
    log.addHandler(ReadAsLines())
    log.setLevel(logging.INFO)
    log.propagate = False
