"""`textveil vectors`: build, describe and list word vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.output import print_json

app = typer.Typer(help="Word vectors: build | info | list.", no_args_is_help=True)


@app.command()
def info(
    source: Annotated[str, typer.Argument(metavar="VECTORS", help="'default' or a vector file.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON result.")] = False,
) -> None:
    """Describe vectors: words, dimensions, codes, fingerprint.

    Example: textveil vectors info default
    """
    from textveil.text.vectors import load

    found = load(source)
    result: dict[str, Any] = {
        "name": found.name,
        "words": len(found),
        "dimensions": found.dimensions,
        "fingerprint": found.fingerprint,
        "bits": found.codes.bits if found.codes else None,
        "code_fingerprint": found.codes.fingerprint if found.codes else None,
    }
    if as_json:
        print_json(result)
        return
    for name, value in result.items():
        typer.echo(f"{name.replace('_', ' ')}: {value if value is not None else 'none'}")


@app.command()
def build(
    source: Annotated[Path, typer.Argument(metavar="VECTORS", help="GloVe, word2vec or fastText text, or .npz.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The .tvv file to write; .tvc for the codes alone.")],
    limit: Annotated[int | None, typer.Option(help="Only the first N words.")] = None,
    bits: Annotated[int, typer.Option(help="Length of the binary codes; 0 for none.")] = 256,
    dtype: Annotated[str, typer.Option(help="float32 | float16 | int8: how the vectors are stored.")] = "float32",
) -> None:
    """Turn a vector file into a compact store that opens at once, with binary codes.

    Example: textveil vectors build glove.6B.100d.txt -o glove.tvv --limit 50000
    """
    from textveil.core.errors import BadInput
    from textveil.core.release import check_free
    from textveil.text.binarise import binarise
    from textveil.text.vectors import load

    check_free(out)
    found = load(source, limit=limit)
    if bits:
        found = found.with_codes(binarise(found, bits=bits))
    if out.suffix == ".tvc":
        if found.codes is None:
            raise BadInput("holds codes, so their length cannot be 0", where=out, possible="--bits 256")
        found.codes.save(out)
        typer.echo(f"{len(found):,} words, {found.codes.bits} bits, {out.stat().st_size:,} bytes: {out}")
        return
    found.save(out, dtype=dtype)
    typer.echo(f"{len(found):,} words, {found.dimensions} dimensions, {bits} bits: {out}")


@app.command("list")
def list_vectors(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON result.")] = False,
) -> None:
    """List the vectors that come with Textveil.

    Example: textveil vectors list
    """
    from textveil.text.vectors import load

    found = load("default")
    rows = [{"name": "default", "words": len(found), "dimensions": found.dimensions, "fingerprint": found.fingerprint}]
    if as_json:
        print_json({"vectors": rows})
        return
    for row in rows:
        typer.echo(
            f"{row['name']}: {row['words']:,} English words, {row['dimensions']} dimensions ({row['fingerprint']})"
        )
