"""`-` on the command line: as IN it is what is piped in; as OUT it is refused, for a release is a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput

DASH = Path("-")
NO_FORMAT_OPTION = "jsonl"  # of the verbs that read nothing else


def with_streams(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a verb, with a file in the place of `-`."""
    if options.get("out") == DASH:
        what = "the output is a folder or a file, which standard output cannot be"
        raise BadInput(what, where="-o -", possible="-o OUT")
    if options.get("source") != DASH:
        return options
    from textveil.text.spool import spool

    format = options.get("format", NO_FORMAT_OPTION)
    return {**options, "source": spool(sys.stdin.buffer, format)}
