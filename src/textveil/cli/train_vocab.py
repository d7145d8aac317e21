"""`textveil train vocab`: a private WordPiece vocabulary."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.output import percent, print_json
from textveil.cli.progress import bar


def vocab(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Texts, as for veil.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="The release folder to make.")],
    epsilon: Annotated[float, typer.Option(help="The loss of one unit.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Shared by the noise and the threshold.")] = 1e-6,
    unit: Annotated[str, typer.Option(help="Whom it protects: example | user.")] = "example",
    user_field: Annotated[str | None, typer.Option(help="The jsonl field that names the user.")] = None,
    size: Annotated[int, typer.Option(help="Pieces of the vocabulary.")] = 8000,
    method: Annotated[
        str, typer.Option(help="gaussian | laplace | policy (best) | paper (one word only).")
    ] = "gaussian",
    distinct: Annotated[int | None, typer.Option(help="D0: different words counted a unit (16; user: 512).")] = None,
    public_words: Annotated[str, typer.Option(help="Fill free pieces: default | none | FILE.")] = "default",
    text_field: Annotated[str | None, typer.Option(help="The field or column that holds the text.")] = None,
    format: Annotated[str | None, typer.Option(help="Input format, when the extension does not tell.")] = None,
    ledger: Annotated[Path | None, typer.Option(help="Charge this ledger (made if it is missing).")] = None,
    seed: Annotated[int | None, typer.Option(help="Draw with a seed: makes a draft without any promise.")] = None,
    other_data: Annotated[bool, typer.Option(help="Charge a ledger that belongs to another data set.")] = False,
    compare: Annotated[bool, typer.Option(help="Print the fit on the private texts (never released).")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON result.")] = False,
) -> None:
    """Make a WordPiece vocabulary of private texts that shows no unit's own words.

    Example: textveil train vocab letters.jsonl -o vocab --epsilon 1 --delta 1e-6 --method policy --ledger
    letters.ledger
    """
    from textveil.recipes.train_vocab import VocabJob, make_vocabulary
    from textveil.training.vocabulary import Vocabulary

    wanted = Vocabulary(epsilon, delta, unit, method, distinct)
    job = VocabJob(
        source, out, wanted, size, public_words, text_field, user_field, format, ledger, other_data, seed, compare
    )
    result = make_vocabulary(job, bar=lambda title, total, unit: bar(title, total, unit=unit, quiet=as_json))
    if as_json:
        print_json(result)
        return
    noise = result["noise"]
    typer.echo(f"{result['words']:,} words, {result['pieces']:,} pieces: {out}/model")
    typer.echo(f"promise: {result['promise']}")
    typer.echo(f"protects: {result['protects']}")
    typer.echo(f"threshold: {noise['threshold']:.4g} (delta {noise['threshold_delta']:.3g})")
    typer.echo(f"ledger:  {result['entry'] or 'not recorded (no --ledger)'}")
    if "private_report" in result:
        fit = result["private_report"]
        typer.echo("private report (computed from the texts, not released, not charged: keep it with them)")
        typer.echo(
            f"  tokens a word {fit['tokens_per_word']:.4f}, without privacy {fit['tokens_per_word_without_privacy']:.4f} "
            f"({fit['ratio']:.3f} times)"
        )
        typer.echo(
            f"  [UNK] {percent(fit['unknown'])}; words that are one piece {percent(fit['coverage'])}, "
            f"without privacy {percent(fit['coverage_without_privacy'])}"
        )
    typer.echo(f"read {out}/card.html")
