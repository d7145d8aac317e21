"""`textveil demo`: the main job on bundled data."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.options import AsJson
from textveil.cli.output import evidence_line, print_result, use_line
from textveil.cli.progress import bars
from textveil.core.utility import Utility


def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder to make; must not exist.")] = Path("demo"),
    as_json: AsJson = False,
) -> None:
    """Veil the bundled letters with two mechanisms, attack both, learn from both, and write their cards: under a minute.

    Example: textveil demo -o demo
    """
    from textveil.recipes.demo import run_demo

    began = time.perf_counter()
    result = run_demo(out, bar=bars(quiet=as_json), say=(lambda line: None) if as_json else typer.echo)
    took = f"done in {time.perf_counter() - began:.0f} s; look at:"
    lines = [*summary(result), "", took, *(f"  {path}" for path in result["look_at"])]
    print_result(result, lines, as_json=as_json)


def summary(result: dict[str, Any]) -> Iterator[str]:
    """Promise, attack and use of each release, on one screen."""
    for name, promise in result["promise"].items():
        attack, use = result["evidence"][name][0], Utility.from_json(result["utility"][name][0])
        yield from (
            "",
            name,
            f"  promise  {promise}",
            f"  attack   {evidence_line(attack)}",
            f"  use      {use_line(use)}",
        )
