"""`textveil counts`: release word counts per document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.output import print_json
from textveil.cli.progress import bar
from textveil.core.errors import BadInput


def counts(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Texts (as for veil), or counts: .npz, .mtx")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="The release folder to make.")],
    epsilon: Annotated[float | None, typer.Option(help="Total loss between documents N counts apart.")] = None,
    precision: Annotated[int, typer.Option(help="N: how many counts two documents may differ by.")] = 10,
    compress: Annotated[int | None, typer.Option(help="K: sum the words into K groups before the noise.")] = None,
    method: Annotated[str, typer.Option(help="Groups: random | frequency | cluster | disperse.")] = "frequency",
    budget: Annotated[
        str, typer.Option(help="total, or paper (its rule, read literally; prints the true total).")
    ] = "total",
    prior: Annotated[str, typer.Option(help="Word weights: noisy (charged) | uniform | vectors (public).")] = "noisy",
    prior_share: Annotated[float, typer.Option(help="Share of epsilon for noisy corpus counts.")] = 0.1,
    vocabulary: Annotated[str | None, typer.Option(help="Public words: 'default' or a file, one a line.")] = None,
    vocabulary_size: Annotated[int | None, typer.Option(help="Only the first of these words.")] = None,
    choose: Annotated[
        int | None, typer.Option(help="Keep the M words with the largest noisy counts (charged).")
    ] = None,
    clamp: Annotated[bool, typer.Option(help="Turn negative counts into 0.")] = True,
    decompress: Annotated[bool, typer.Option(help="Deal the counts of a group out to its words.")] = True,
    empty: Annotated[str, typer.Option(help="Documents without any known word: refuse | keep.")] = "refuse",
    vectors: Annotated[str, typer.Option(help="'default' or a vector file, for cluster and disperse.")] = "default",
    text_field: Annotated[str | None, typer.Option(help="The field or column that holds the text.")] = None,
    format: Annotated[str | None, typer.Option(help="Input format, when the extension does not tell.")] = None,
    ledger: Annotated[Path | None, typer.Option(help="Charge this ledger (made if it is missing).")] = None,
    seed: Annotated[int | None, typer.Option(help="Draw with a seed: makes a draft without any promise.")] = None,
    other_data: Annotated[bool, typer.Option(help="Charge a ledger that belongs to another data set.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON result.")] = False,
) -> None:
    """Release noisy word counts per document, for topics and classifiers.

    Example: textveil counts letters.jsonl -o out --epsilon 1 --precision 10 --compress 100 --ledger letters.ledger
    """
    from textveil.recipes.counts import CountsJob, count_file

    if epsilon is None:
        raise BadInput(
            "epsilon is missing", possible="--epsilon E (0.5 to 5, for documents --precision N counts apart)"
        )
    parameters: dict[str, Any] = {
        "epsilon": epsilon,
        "precision": precision,
        "compress": compress,
        "method": method,
        "budget": budget,
        "prior": prior,
        "prior_share": prior_share,
        "columns": choose,
        "clamp": clamp,
        "decompress": decompress,
        "empty": empty,
        "seed": seed,
    }
    job = CountsJob(
        source, out, parameters, vocabulary, vocabulary_size, vectors, text_field, format, ledger, other_data
    )
    result = count_file(job, bar=lambda title, total, unit: bar(title, total, unit=unit, quiet=as_json))
    if as_json:
        print_json(result)
        return
    form = "sparse" if result["sparse"] else "dense"
    typer.echo(f"{result['documents']:,} documents x {result['columns']:,} columns ({form}): {out}/data.npz")
    typer.echo(f"promise: {result['promise']}")
    spent = result["spending"]
    typer.echo(
        f"spent:   {spent['counts']:.4g} on counts, {spent['corpus_counts']:.4g} on corpus counts; delta 0 (exact draws)"
    )
    if result["true_epsilon"] > result["asked_epsilon"]:
        typer.echo(f"beware:  asked for {result['asked_epsilon']:g}, the true total is {result['true_epsilon']:.4g}")
    typer.echo(f"ledger:  {result['entry'] or 'not recorded (no --ledger)'}")
    typer.echo(f"read {out}/card.html")
