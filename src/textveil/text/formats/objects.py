"""Whole JSON objects, for files beside the texts: lists of tokens, spans. Records of texts are read by `jsonl`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from textveil.text.formats.lines import Lines


def objects(lines: Lines) -> Iterator[dict[str, Any]]:
    """One object a line; blank lines are skipped."""
    for line in lines:
        if line.isspace():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise lines.bad("is not valid JSON") from None
        if not isinstance(row, dict):
            raise lines.bad("is not an object")
        yield row
