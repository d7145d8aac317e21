"""`textveil federate keys|serve|join|app`: sites on machines of their own train together over TLS."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.choices import KeyKind, ModelKind, ServedUnit, Strategy
from textveil.cli.federate_options import net_asked, strategy_asked
from textveil.cli.federate_simulate import FederatedModel, FederatedPromise, LocalOptions, RoundOptions
from textveil.cli.options import (
    INPUT,
    AsJson,
    LedgerPath,
    OtherData,
    Out,
    Reading,
    Unpriced,
    names_of,
    option,
    plain,
    value_of,
)
from textveil.cli.output import command_line, print_release, print_result, say
from textveil.cli.progress import bars

SERVER, SITES, WAITING = "The server", "The sites", "Waiting"
LogFile = Annotated[Path | None, option("Write what Flower logs to this file.", group=WAITING)]


@dataclass(frozen=True)
class Paying:
    """What is charged where. There is no seed: a draft has no use in a federation."""

    ledger: LedgerPath = None
    other_data: OtherData = False
    unpriced: Unpriced = False


@dataclass(frozen=True)
class Served:
    """What a round is about."""

    unit: Annotated[
        ServedUnit, option("Who is protected, and trained for: a site as a whole, or each of its users.", group=SITES)
    ] = ServedUnit.SITE
    timeout: Annotated[
        float, option("Seconds that a round waits for its sites; who is late is left out.", group=WAITING)
    ] = 600.0
    label_field: Annotated[str | None, option("classifier: the field of the label in --test.", group=INPUT)] = None


def keys(
    kind: Annotated[KeyKind, typer.Argument(help="server: a certificate for a server. site: a key pair for a site.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FOLDER", help="Where the files go.")],
    host: Annotated[
        list[str] | None, option("server: a name or address by which sites reach it. May be given twice.")
    ] = None,
    days: Annotated[int, option("server: how long the certificate is valid.")] = 365,
    name: Annotated[str | None, option("site: its name, e.g. hospital-a.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make the certificate of a server, or the key pair of a site. Nothing is written over.

    Example: textveil federate keys server -o server --host training.example.org
    """
    from textveil.core import BadInput
    from textveil.federated.deployment.certificates import make_server_certificate
    from textveil.federated.deployment.keys import make_site_key

    if kind is KeyKind.SERVER:
        paths = {path.name: str(path) for path in make_server_certificate(out, host or [], days).values()}
        lines = [
            f"{out}: ca.pem goes to every site; server.pem and server.key stay at the server, ca.key in a safe place"
        ]
    else:
        if name is None:
            raise BadInput("a site has a name", possible="--name hospital-a")
        private, public = make_site_key(out, name)
        paths = {"private": str(private), "public": str(public)}
        lines = [f"{private} stays at the site", f"{public} goes to the server, into its folder of sites"]
    print_result(paths, lines, as_json=as_json)


def serve(
    out: Out,
    sites: Annotated[Path, option("A folder with the public key NAME.pub of each site that may join.", group=SITES)],
    certificate: Annotated[Path, option("The server's certificate: server.pem.", group=SERVER)],
    key: Annotated[Path, option("The private key of the certificate: server.key.", group=SERVER)],
    listen: Annotated[
        str, option("Where sites come in. 0.0.0.0:9443: from other machines too. Port 0: a free one.", group=SERVER)
    ] = "127.0.0.1:9443",
    task: Annotated[ModelKind, option("What is learnt.", "--task")] = ModelKind.LM,
    strategy: Annotated[Strategy, option("How it is learnt together.", "--strategy")] = Strategy.FEDAVG,
    *,
    promise: FederatedPromise,
    run: RoundOptions,
    local_work: LocalOptions,
    model: FederatedModel,
    served: Served,
    count: Annotated[
        int | None, option("Begin when so many sites are there. Without: all that are registered.", group=WAITING)
    ] = None,
    wait: Annotated[float, option("Seconds to wait for them.", group=WAITING)] = 600.0,
    log: LogFile = None,
    reading: Reading,
    paying: Paying,
    as_json: AsJson = False,
) -> None:
    """Train one model with sites that join over TLS; only sites whose keys are registered get in.

    A server that was stopped or killed goes on with the same command; its sites come back by themselves.

    Example: textveil federate serve -o model --sites sites --certificate server.pem --key server.key --start public
    """
    from textveil.recipes.federated.serve import ServeJob
    from textveil.recipes.federated.serve import serve as run_server
    from textveil.recipes.training.scores import score_lines

    grid = _grid_job(out, task, strategy, promise, run, local_work, model, served, reading, paying)
    job = ServeJob(grid, listen, certificate, key, sites, count, wait, log)

    def ready(address: str, names: list[str]) -> None:
        say(f"sites may join at {address}: {', '.join(names)}")

    result = run_server(job, bar=bars(quiet=as_json), ready=ready, say=say)
    lines = [f"{result['task']}: {out}/model ({result['rounds']:,} rounds, {result['strategy']})"]
    more = [f"scores:  {line}" for line in score_lines(result["task"], result["scores"])]
    more += [f"refused: {name} ({times})" for name, times in sorted(result["refused"].items())]
    print_release(result, out, lines, as_json=as_json, more=more, next=command_line("train", "apply", out, "TEXTS"))


def join(
    server: Annotated[str, typer.Argument(metavar="HOST:PORT", help="Where the server is.")],
    data: Annotated[Path, option("This site's own texts or examples. They never leave.", group=INPUT)],
    ca: Annotated[Path, option("The file ca.pem of the server: who has it can tell the server from others.")],
    key: Annotated[Path, option("This site's private key: NAME.key.")],
    *,
    user_field: Annotated[
        str | None, option("The field that says who wrote a text, if the server trains for users.", group=INPUT)
    ] = None,
    label_field: Annotated[str | None, option("classifier: the field that holds the label.", group=INPUT)] = None,
    reading: Reading,
    paying: Paying,
    patience: Annotated[
        float, option("Seconds that the server may be away before this site gives up.", group=WAITING)
    ] = 600.0,
    log: LogFile = None,
    as_json: AsJson = False,
) -> None:
    """Take part with this site's own data, until the server says that it is over.

    No port is opened, and no code that the server sends is run. With --ledger, this site's own ledger is charged: round by
    round if the server asks for DP-SGD at the sites, else with one line that has no price.

    Example: textveil federate join training.example.org:9443 --data notes.jsonl --ca ca.pem --key hospital-a.key
    """
    from textveil.recipes.federated.join import JoinJob
    from textveil.recipes.federated.join import join as run_site
    from textveil.recipes.federated.site_app import SiteData

    site = SiteData(data=data, user_field=user_field, label_field=label_field, **plain(paying), **plain(reading))
    result = run_site(JoinJob(server, ca, key, site, patience, log), ready=lambda: say(f"joined {server}"), say=say)
    lines = [f"the server says that it is over; answered {result['answered']:,} messages, {result['failed']:,} failed"]
    print_result(result, lines, as_json=as_json)


def app(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The app folder to make; must not exist.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="The release folder that a run will make.")],
    task: Annotated[ModelKind, option("What is learnt.", "--task")] = ModelKind.LM,
    strategy: Annotated[Strategy, option("How it is learnt together.", "--strategy")] = Strategy.FEDAVG,
    *,
    promise: FederatedPromise,
    run: RoundOptions,
    local_work: LocalOptions,
    model: FederatedModel,
    served: Served,
    count: Annotated[int, option("Begin when so many sites are there.", group=WAITING)] = 2,
    wait: Annotated[float, option("Seconds to wait for them.", group=WAITING)] = 600.0,
    reading: Reading,
    paying: Paying,
    as_json: AsJson = False,
) -> None:
    """Write the same as a Flower app folder, for a Flower deployment of your own: `flwr run FOLDER`.

    Example: textveil federate app federation -o model --start public --rounds 10
    """
    from textveil.recipes.federated.app_folder import app_config, write_app_folder

    job = _grid_job(out, task, strategy, promise, run, local_work, model, served, reading, paying)
    write_app_folder(folder, app_config(job, count, wait))
    print_result({"folder": str(folder)}, [f"{folder}: flwr run {folder}"], as_json=as_json)


def _grid_job(
    out: Path,
    task: ModelKind,
    strategy: Strategy,
    promise: FederatedPromise,
    run: RoundOptions,
    local_work: LocalOptions,
    model: FederatedModel,
    served: Served,
    reading: Reading,
    paying: Paying,
) -> Any:
    from textveil.recipes.federated.on_grid import GridJob

    return GridJob(
        out=out,
        task=value_of(task),
        asked=strategy_asked(strategy, promise, run, local_work),
        start=model.start,
        model=net_asked(model),
        labels=None if model.labels is None else names_of(model.labels),
        frozen=() if model.frozen is None else names_of(model.frozen),
        test=local_work.test,
        label_field=served.label_field,
        unit=value_of(served.unit),
        timeout=served.timeout,
        allow_large_delta=promise.allow_large_delta,
        **plain(paying),
        **plain(reading),
    )
