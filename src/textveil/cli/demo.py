"""`textveil demo`: the main job on bundled data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.options import AsJson
from textveil.cli.output import evidence_line, print_result
from textveil.cli.progress import bars


def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder to make; must not exist.")] = Path("demo"),
    as_json: AsJson = False,
) -> None:
    """Veil the bundled letters with two mechanisms, attack both, and write their cards: under a minute.

    Example: textveil demo -o demo
    """
    from textveil.recipes.demo import run_demo

    began = time.perf_counter()
    result = run_demo(
        out,
        bar=bars(quiet=as_json),
        say=(lambda line: None) if as_json else typer.echo,
        evidence_line=evidence_line,
    )
    lines = [f"\ndone in {time.perf_counter() - began:.0f} s; look at:", *(f"  {path}" for path in result["look_at"])]
    print_result(result, lines, as_json=as_json)
