"""`textveil classify ask`: the labels of texts that nobody else sees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.choices import TrustName
from textveil.cli.classify_serve import DealerAddress, Direct, Keys, NodeAddresses, TrustOption
from textveil.cli.options import (
    RUNNING,
    AsJson,
    IdField,
    LedgerPath,
    OtherData,
    Reading,
    Unpriced,
    given,
    names_of,
    option,
    plain,
)
from textveil.cli.output import print_release, print_result, say
from textveil.cli.progress import bars


def ask(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Texts: txt (one a line), csv, tsv, jsonl, parquet ...; or - and --format."
        ),
    ],
    keys: Keys,
    server: Annotated[str, option("Where the server listens.", metavar="HOST:PORT")] = "127.0.0.1:7300",
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="OUT", help="Make a release folder of labels. Without: only print them."),
    ] = None,
    trust: TrustOption = TrustName.DEALER,
    dealer: DealerAddress = None,
    nodes: NodeAddresses = None,
    direct: Direct = None,
    encoder: Annotated[
        str | None, option("The encoder that the server names, where it is not the one that ships: its folder.")
    ] = None,
    score: Annotated[bool, option("Get the score too, where the server allows it.", "--score")] = False,
    batch: Annotated[int, option("Texts at once: larger is quicker, and needs more memory.", group=RUNNING)] = 100,
    max_bytes: Annotated[int, option("The longest text.", group=RUNNING)] = 1 << 20,
    timeout: Annotated[float, option("Seconds after which a step that hangs is ended.", group=RUNNING)] = 120.0,
    *,
    reading: Reading,
    id_field: IdField = None,
    ledger: LedgerPath = None,
    other_data: OtherData = False,
    unpriced: Unpriced = False,
    as_json: AsJson = False,
) -> None:
    """Classify texts by a model that stays with its owner. Texts never leave this machine in the clear.

    Example: textveil classify ask message.txt --keys keys/client --server localhost:7300 --dealer localhost:7301
    """
    from textveil.recipes.mpc.ask import AskJob, ask_file, ask_texts

    job = AskJob(
        source=source, keys=keys, server=server, trust=trust.value, dealer=dealer, nodes=names_of(nodes or ""),
        direct=direct, encoder=encoder, score=score, batch=batch, max_bytes=max_bytes, seconds=timeout, id_field=id_field,
        **plain(reading), **given(out=out, ledger=ledger), other_data=other_data, unpriced=unpriced,
    )  # fmt: skip
    if out is None:
        answers = ask_texts(job, bar=bars(quiet=as_json), say=say)
        lines = ["\t".join(str(value) for value in line.values()) for line in answers["labels"]]
        print_result(answers, lines, as_json=as_json)
        return
    result = ask_file(job, bar=bars(quiet=as_json), say=say)
    counts = ", ".join(f"{count:,} {name}" for name, count in result["labels"].items())
    print_release(result, out, [f"{result['texts']:,} texts: {counts}: {out}/"], as_json=as_json)
