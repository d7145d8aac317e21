"""How results are printed: one JSON object with `--json`, else lines for people."""

from __future__ import annotations

import json
from typing import Any

import typer


def print_json(result: Any) -> None:
    """One machine-readable result."""
    typer.echo(json.dumps(result, ensure_ascii=False, allow_nan=False))


def percent(share: float) -> str:
    """
    >>> percent(0.3127)
    '31.3 %'
    """
    return f"{100 * share:.1f} %"


def evidence_line(shown: dict[str, Any]) -> str:
    """One attack in one line: what was reached, how sure that is, and what a blind guess would reach."""
    low, high = shown["interval"]
    tries = f"{shown['hits']:,} of {shown['tries']:,}"
    return (
        f"{shown['attack']}: {shown['metric']} {percent(shown['value'])} "
        f"[{percent(low)}, {percent(high)}] ({tries}), by chance {percent(shown['chance'])}"
    )
