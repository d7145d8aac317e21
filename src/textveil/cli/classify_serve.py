"""`textveil classify keys|serve|dealer|node`: those who wait for others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.choices import TrustName
from textveil.cli.options import AsJson, names_of, option
from textveil.cli.output import print_result, say

WHO, LIMITS = "Who computes", "Limits"

Keys = Annotated[Path, option("The folder of this role that `classify keys` made.", metavar="FOLDER")]
TrustOption = Annotated[
    TrustName,
    option(
        "Whom one trusts: a dealer of random numbers, two of three servers, or nobody (slow: minutes for a batch).",
        group=WHO,
    ),
]
DealerAddress = Annotated[str | None, option("trust dealer: where the dealer listens.", group=WHO, metavar="HOST:PORT")]
NodeAddresses = Annotated[
    str | None, option("trust three: where the three nodes listen, in their order.", group=WHO, metavar="A,B,C")
]
Direct = Annotated[
    str | None,
    option("Let engines connect to each other at this address. Without: through the client's connection.", group=WHO),
]


def keys(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to put the folders of all roles.")],
    client: Annotated[list[str] | None, option("A client's name; may be given twice. Without: client.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make certificates and tokens: one folder for each role, to be given to its owner.

    In FOLDER: server, dealer, node0 to node2, a folder for each client, and authority, which can make more of them.

    Example: textveil classify keys keys
    """
    from textveil.mpc.keys import make_keys

    new = make_keys(folder, tuple(client or ("client",)))
    lines = [f"made {', '.join(new)} in {folder}/", "give each folder to its owner alone; keep authority/ apart"]
    print_result({"folder": str(folder), "made": new}, lines, as_json=as_json)


def serve(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A folder that `classify train` made.")],
    keys: Keys,
    listen: Annotated[str, option("Where to listen.", metavar="HOST:PORT")] = "127.0.0.1:7300",
    trust: TrustOption = TrustName.DEALER,
    dealer: DealerAddress = None,
    nodes: NodeAddresses = None,
    direct: Direct = None,
    budget: Annotated[
        int, option("Texts that each client may ask for, ever; kept over restarts.", group=LIMITS)
    ] = 10_000,
    rate: Annotated[int, option("Texts that each client may ask for in a minute.", group=LIMITS)] = 1_000,
    state: Annotated[
        Path | None,
        option("Where the counts of texts are kept. Without: MODEL.queries beside the model.", group=LIMITS),
    ] = None,
    max_batch: Annotated[int, option("Texts that may be asked for at once.", group=LIMITS)] = 1_000,
    sessions: Annotated[int, option("Sessions at the same time.", group=LIMITS)] = 8,
    timeout: Annotated[float, option("Seconds after which a step that hangs is ended.", group=LIMITS)] = 120.0,
    score: Annotated[bool, option("Let clients ask for scores: they tell far more of the model.", "--score")] = False,
) -> None:
    """Answer clients until it is stopped. Nobody sees the model, and you see neither texts nor labels.

    Example: textveil classify serve model --keys keys/server --dealer localhost:7301
    """
    from textveil.accounting.journal import Journal
    from textveil.mpc.model_folder import load_classifier
    from textveil.mpc.quota import Quota
    from textveil.mpc.server import ClassifyServer, Limits
    from textveil.mpc.service import split_address

    host, port = split_address(listen)
    classifier = load_classifier(model)
    with Journal(state or model.absolute().with_name(f"{model.absolute().name}.queries")) as journal:
        server = ClassifyServer(
            keys, classifier, trust.value, host=host, port=port, dealer=dealer, nodes=names_of(nodes or ""), direct=direct,
            quota=Quota(journal, budget=budget, per_minute=rate), log=say,
            limits=Limits(most_rows=max_batch, most_sessions=sessions, seconds=timeout, score=score),
        )  # fmt: skip
        say(f"trust: {server.trust.model}; {server.trust.collusion}")
        _run(server, f"serving {model} on {host}:{server.service.port}")


def dealer(
    keys: Keys,
    listen: Annotated[str, option("Where to listen.", metavar="HOST:PORT")] = "127.0.0.1:7301",
) -> None:
    """Deal correlated random numbers to two parties until it is stopped. Run it where neither of them can look.

    Example: textveil classify dealer --keys keys/dealer
    """
    from textveil.mpc.dealer import Dealer
    from textveil.mpc.service import split_address

    host, port = split_address(listen)
    made = Dealer(keys, host, port, log=say)
    _run(made, f"dealing on {host}:{made.service.port}; collude with neither party")


def node(
    keys: Keys,
    rank: Annotated[int, option("Which of the three: 0, 1 or 2, as in keys/node0.", metavar="[0|1|2]")],
    listen: Annotated[str, option("Where to listen.", metavar="HOST:PORT")] = "127.0.0.1:0",
) -> None:
    """Compute on shares as one of three servers until it is stopped.

    Example: textveil classify node --keys keys/node0 --rank 0 --listen localhost:7310
    """
    from textveil.core import BadInput
    from textveil.mpc.node import Node
    from textveil.mpc.service import split_address

    if rank not in (0, 1, 2):
        raise BadInput("--rank is 0, 1 or 2")
    host, port = split_address(listen)
    made = Node(keys, rank, host, port, log=say)
    _run(made, f"node {rank} on {host}:{made.service.port}; collude with no other node")


def _run(server: Any, line: str) -> None:
    """Say that all is ready, and serve until somebody stops it."""
    say(line)
    try:
        server.service.run()
    finally:
        server.service.close()
