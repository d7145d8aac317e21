"""`textveil demo`: the main job on bundled data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.output import evidence_line, print_json
from textveil.cli.progress import bar


def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder to make.")] = Path("demo"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON result.")] = False,
) -> None:
    """Veil the bundled letters with two mechanisms, attack both, and write their cards: under a minute.

    Example: textveil demo -o demo
    """
    from textveil.recipes.demo import run_demo

    began = time.perf_counter()
    result = run_demo(
        out,
        bar=lambda title, total, unit: bar(title, total, unit=unit, quiet=as_json),
        say=(lambda line: None) if as_json else typer.echo,
        evidence_line=evidence_line,
    )
    if as_json:
        print_json(result)
        return
    typer.echo(f"\ndone in {time.perf_counter() - began:.0f} s; look at:")
    for path in result["look_at"]:
        typer.echo(f"  {path}")
