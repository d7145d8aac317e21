"""`textveil vectors`: build, describe and list word vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.choices import VectorType
from textveil.cli.options import AsJson, option
from textveil.cli.output import print_result
from textveil.cli.verbs import Verbs

app = Verbs("Word vectors: build, info, list.")


@app.command()
def info(
    source: Annotated[str, typer.Argument(metavar="VECTORS", help="'default' or a vector file.")] = "default",
    as_json: AsJson = False,
) -> None:
    """Describe vectors: words, dimensions, codes, fingerprint.

    Example: textveil vectors info default
    """
    from textveil.text.vectors import load

    vectors = load(source)
    result: dict[str, Any] = {
        "name": vectors.name,
        "language": vectors.language or None,
        "words": len(vectors),
        "dimensions": vectors.dimensions,
        "fingerprint": vectors.fingerprint,
        "bits": vectors.codes.bits if vectors.codes else None,
        "code_fingerprint": vectors.codes.fingerprint if vectors.codes else None,
    }
    lines = [f"{name.replace('_', ' ')}: {value if value is not None else 'none'}" for name, value in result.items()]
    print_result(result, lines, as_json=as_json)


@app.command()
def build(
    source: Annotated[Path, typer.Argument(metavar="VECTORS", help="GloVe, word2vec or fastText text, or .npz.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The .tvv file to write; .tvc for the codes alone.")],
    limit: Annotated[int | None, option("Only the first N words.", metavar="N")] = None,
    bits: Annotated[int, option("Length of the binary codes, for words.brr; 0 for none.")] = 256,
    language: Annotated[
        str | None, option("Language of the words, e.g. german or de: `veil` names it beside what lies outside it.")
    ] = None,
    dtype: Annotated[
        VectorType, option("How the vectors are stored; shorter ones are less exact.")
    ] = VectorType.FLOAT32,
    as_json: AsJson = False,
) -> None:
    """Turn a vector file into a compact store that opens at once, with binary codes.

    Example: textveil vectors build glove.6B.100d.txt -o glove.tvv --limit 50000
    """
    from textveil.core.errors import BadInput
    from textveil.core.release import check_free
    from textveil.text.binarise import binarise
    from textveil.text.vectors import load

    check_free(out)
    vectors = load(source, limit=limit)
    if language is not None:
        vectors = vectors.in_language(language)
    if bits:
        vectors = vectors.with_codes(binarise(vectors, bits=bits))
    if out.suffix == ".tvc":
        if vectors.codes is None:
            raise BadInput("holds codes, so their length cannot be 0", where=out, possible="--bits 256")
        vectors.codes.save(out)
        line = f"{len(vectors):,} words, {vectors.codes.bits} bits, {out.stat().st_size:,} bytes: {out}"
    else:
        vectors.save(out, dtype=dtype.value)
        line = f"{len(vectors):,} words, {vectors.dimensions} dimensions, {bits} bits: {out}"
    result = {"out": str(out), "words": len(vectors), "dimensions": vectors.dimensions, "bits": bits}
    print_result(result, [line], as_json=as_json)


@app.command("list")
def list_vectors(as_json: AsJson = False) -> None:
    """List the vectors that come with Textveil.

    Example: textveil vectors list
    """
    from textveil.text.vectors import load

    vectors = load("default")
    rows = [
        {
            "name": "default",
            "language": vectors.language,
            "words": len(vectors),
            "dimensions": vectors.dimensions,
            "fingerprint": vectors.fingerprint,
        }
    ]
    lines = [
        f"{row['name']}: {row['words']:,} English words, {row['dimensions']} dimensions ({row['fingerprint']})"
        for row in rows
    ]
    print_result({"vectors": rows}, lines, as_json=as_json)
