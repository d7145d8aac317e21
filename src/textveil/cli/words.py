"""`textveil words`: what a mechanism does to a word."""

from __future__ import annotations

from typing import Annotated

import typer

from textveil.cli.output import percent, print_json
from textveil.core.errors import BadInput

app = typer.Typer(help="Word mechanisms: info.", no_args_is_help=True)


@app.command()
def info(
    word: Annotated[str, typer.Argument(metavar="WORD")],
    mechanism: Annotated[str, typer.Option(help="words.brr, words.laplace, ...")] = "words.brr",
    epsilon: Annotated[float | None, typer.Option(help="Default: the mechanism's own.")] = None,
    vectors: Annotated[str, typer.Option(help="'default' or a vector file.")] = "default",
    draws: Annotated[int, typer.Option(help="How many draws to count.")] = 10_000,
    top: Annotated[int, typer.Option(help="How many substitutes to show.")] = 15,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON result.")] = False,
) -> None:
    """Show what a word may become: its substitutes with their odds, the chance that it stays, the entropy.

    Example: textveil words info doctor --mechanism words.brr --epsilon 0.5
    """
    from textveil.core import registry
    from textveil.recipes.words_info import word_info

    parameters = {"vectors": vectors} | ({} if epsilon is None else {"epsilon": epsilon})
    made = registry.make("mechanism", mechanism, **parameters)
    if draws < 1:
        raise BadInput(f"draws must be 1 or more, not {draws}")
    result = word_info(made, word, draws=draws)
    if as_json:
        print_json(result)
        return
    low, high = result["stay_interval"]
    typer.echo(f"{word}: stays itself with chance {percent(result['stay'])} [{percent(low)}, {percent(high)}], ")
    typer.echo(f"entropy {result['entropy']:.2f} bits, {result['distinct']:,} different words in {draws:,} draws")
    for substitute, odds in result["substitutes"][:top]:
        typer.echo(f"  {percent(odds):>7}  {substitute}")
