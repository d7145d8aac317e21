"""`textveil veil`: replace the words of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli import words
from textveil.cli.output import print_json
from textveil.cli.progress import bar


def veil(
    source: Annotated[Path, typer.Argument(metavar="IN", help="txt, csv, tsv, jsonl, parquet, conll; plain or .gz")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="The release folder to make.")],
    mechanism: Annotated[str, typer.Option(help="words.brr, words.laplace, ...")] = "words.brr",
    epsilon: Annotated[
        float | None, typer.Option(help="Loss per unit of distance; its scale depends on the metric.")
    ] = None,
    stay: Annotated[
        float | None, typer.Option(help="Instead of epsilon: average chance that a word stays, e.g. 0.3.")
    ] = None,
    attack_success: Annotated[
        float | None, typer.Option(help="Instead of epsilon: success of the best word attack.")
    ] = None,
    text_field: Annotated[str | None, typer.Option(help="The field or column that holds the text.")] = None,
    ledger: Annotated[Path | None, typer.Option(help="Charge this ledger (made if it is missing).")] = None,
    vectors: Annotated[str, typer.Option(help="'default' or a vector file.")] = "default",
    seed: Annotated[int | None, typer.Option(help="Draw with a seed: makes a draft without any promise.")] = None,
    bits: Annotated[int | None, typer.Option(help="Code length of words.brr, 64 to 512.")] = None,
    t: words.T = None,
    k: words.K = None,
    lam: words.Lam = None,
    paper_mode: words.PaperMode = False,
    distance: words.Distance = None,
    gamma: words.Gamma = None,
    oov: Annotated[str, typer.Option(help="Words outside the vocabulary: draw | token.")] = "draw",
    keep: Annotated[
        Path | None, typer.Option(help="File of words that pass unchanged (not protected), one a line.")
    ] = None,
    case: Annotated[str, typer.Option(help="Capitals: keep | drop.")] = "keep",
    max_words: Annotated[
        int | None, typer.Option(help="Declared cap of words per document, for the document line.")
    ] = None,
    format: Annotated[str | None, typer.Option(help="Input format, when the extension does not tell.")] = None,
    max_line_mb: Annotated[int, typer.Option(help="Longest line allowed, in MiB.")] = 16,
    other_data: Annotated[bool, typer.Option(help="Charge a ledger that belongs to another data set.")] = False,
    engine: Annotated[str, typer.Option(help="Who draws: local | ray.")] = "local",
    workers: Annotated[int, typer.Option(help="Processes that draw side by side.")] = 1,
    address: Annotated[
        str | None, typer.Option(help="Ray cluster to use; without it Ray runs on this machine.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON result.")] = False,
) -> None:
    """Replace each word of a text file by a word drawn near it.

    Example: textveil veil reviews.jsonl -o out --mechanism words.brr --epsilon 0.5 --text-field text --ledger r.ledger
    """
    from textveil.recipes.veil import Job, read_keep_list, veil_file
    from textveil.recipes.words_tune import with_epsilon

    parameters: dict[str, Any] = {"epsilon": epsilon, "vectors": vectors, "oov": oov, "case": case, "seed": seed}
    parameters |= {"t": t, "k": k, "lam": lam, "distance": distance, "gamma": gamma, "bits": bits}
    parameters |= {"paper_mode": paper_mode or None, "keep": read_keep_list(keep) if keep is not None else None}
    made, told = with_epsilon(words.make(mechanism, **parameters), epsilon, stay, attack_success)
    job = Job(
        source=source,
        out=out,
        mechanism=made,
        text_field=text_field,
        format=format,
        ledger=ledger,
        other_data=other_data,
        max_words=max_words,
        max_line_bytes=max_line_mb * 2**20,
        engine=engine,
        workers=workers,
        address=address,
    )
    result = veil_file(job, bar=lambda title, total, unit: bar(title, total, unit=unit, quiet=as_json))
    result["epsilon"] = made.epsilon
    if as_json:
        print_json(result)
        return
    if told:
        typer.echo(told)
    typer.echo(f"{result['records']:,} records, {result['words']:,} words veiled: {out}/")
    typer.echo(f"promise: {result['promise']}")
    typer.echo(f"ledger:  {result['entry'] or 'not recorded (no --ledger)'}")
    typer.echo(f"read {out}/card.html, then: textveil audit {out} --truth {source}")
