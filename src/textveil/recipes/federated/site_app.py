"""The ClientApp of a site: opens its own data on the server's terms, trains, pays its own ledger, and says numbers only.

    "query.begin"   the terms and the model: the site reads its data, and answers how many units it has
    "train"         a round: the sum over its units (textveil.federated.client)

The same app runs in `federate join` (one process for all messages) and in a SuperNode of Flower's (one for each message):
what it is told of its data comes in the node's settings, and what "query.begin" brought is kept in a folder for the run.

Who pays. A site that trains under DP-SGD charges its own ledger with its own event before each round's noise is drawn; a
round that the server does again is charged again. A site whose updates leave without noise charges one unpriced line, when
the run begins.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textveil.accounting.account import Account
from textveil.core import Adjacency, BadInput, Event, NoPromise, Refused, Unit
from textveil.core.events import Unpriced
from textveil.core.files import private_folder
from textveil.federated.client import ClientSetup, trained_sum
from textveil.federated.messages import Code, read_order, refusal_content
from textveil.federated.weights import WrongShape
from textveil.recipes.federated.local_dp import PrivateLocalTraining, SitePlans
from textveil.recipes.federated.tasks import labels_of_start, make_task
from textveil.recipes.federated.terms import MODEL, TERMS, Begin, SiteTerms, kept_terms
from textveil.recipes.federated.units import UnitData, UnitSource, pairs_of, read_file
from textveil.text.readers import FileOptions

if TYPE_CHECKING:
    from flwr.app import Context, Message
    from flwr.clientapp import ClientApp

UNSEEN = "the updates of this site leave it without noise: the server sees them"


@dataclass(frozen=True)
class SiteData(FileOptions):
    """The data of a site, which never leaves it, and the ledger that answers for it."""

    data: Path
    user_field: str | None = None
    label_field: str | None = None
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False
    cache: Path | None = None  # where the model of a run is kept

    def node_config(self) -> dict[str, Any]:
        """As Flower hands it to an app: the same that `--node-config` of a SuperNode takes."""
        named = {f.name.replace("_", "-"): getattr(self, f.name) for f in fields(self)}
        return {name: str(v) if isinstance(v, Path) else v for name, v in named.items() if v is not None}

    @classmethod
    def read(cls, node_config: Mapping[str, Any]) -> SiteData:
        """From the settings of a node."""
        if "data" not in node_config:
            raise BadInput("this node has no data", possible="--node-config 'data=\"notes.jsonl\"'")
        known = {f.name for f in fields(cls)}
        values = {name.replace("-", "_"): value for name, value in node_config.items()}
        own: dict[str, Any] = {name: value for name, value in values.items() if name in known}
        for name in ("data", "ledger", "cache"):
            if name in own:
                own[name] = Path(str(own[name])).absolute()
        return cls(**own)


def make_site_app(tell: Callable[[Exception], None] = lambda error: None) -> ClientApp:
    """The ClientApp of a site; `tell` hears at the site what went wrong, of which the server gets a code."""
    from flwr.clientapp import ClientApp

    app, held = ClientApp(), _Held()

    @app.query("begin")
    def begin(message: Message, context: Context) -> Message:
        return _answer(message, lambda: held.begin(message.content, context), tell)

    @app.train()
    def train(message: Message, context: Context) -> Message:
        return _answer(message, lambda: held.of(context).train(message.content), tell)

    return app


def _answer(message: Message, make: Callable[[], Any], tell: Callable[[Exception], None]) -> Message:
    from flwr.app import Message as Answer

    try:
        return Answer(make(), reply_to=message)
    except NoTerms:
        from textveil.federated.deployment.terms_grid import without_terms

        return without_terms(message)
    except Exception as error:
        tell(error)
        code = Code.NOT_ALLOWED if isinstance(error, Refused) else Code.FAILED
        return Answer(refusal_content(Code.WRONG_SHAPE if isinstance(error, WrongShape) else code), reply_to=message)


class NoTerms(Exception):
    """A round came before the terms of its run: this site was started again."""


class _Held:
    """The run that this process is part of."""

    def __init__(self) -> None:
        self._run: tuple[int, SiteRun] | None = None

    def begin(self, content: Any, context: Context) -> Any:
        """Keep the terms of a run, open it, and say how many units there are."""
        from flwr.app import ConfigRecord, RecordDict

        Begin.read(content).keep(_folder(context))
        self._run = None
        run = self.of(context)
        run.charge_unpriced()
        return RecordDict({"tally": ConfigRecord({"units": len(run.units)})})

    def of(self, context: Context) -> SiteRun:
        """The run of a message, opened when this process first needs it."""
        if self._run is None or self._run[0] != context.run_id:
            folder = _folder(context)
            if not (folder / TERMS).is_file():
                raise NoTerms
            self._run = (
                context.run_id,
                SiteRun(SiteData.read(context.node_config), kept_terms(folder), folder / MODEL),
            )
        return self._run[1]


def _folder(context: Context) -> Path:
    """Where a run's terms and model are kept, for the owner of the site only."""
    named = context.node_config.get("cache")
    home = Path(os.environ.get("FLWR_HOME") or Path.home() / ".flwr") / "textveil"
    return private_folder((Path(str(named)) if named else home) / f"{context.run_id:x}")


class SiteRun:
    """One run at one site: its data on the server's terms."""

    def __init__(self, site: SiteData, terms: SiteTerms, model: Path):
        self.site, self.terms, self.model = site, terms, model
        if terms.private is not None and terms.unit != "client":
            raise BadInput("DP-SGD at a site protects its examples; a site with users is for rounds with noise")

    @cached_property
    def file(self) -> UnitData:
        """The site's file, read and checked: labels that the model does not know are refused by line."""
        labels = labels_of_start(self.terms.kind, self.model)
        source = UnitSource(
            sources=(self.site.data,),
            task=self.terms.kind,
            user_field=self.site.user_field if self.terms.unit == "user" else None,
            label_field=self.site.label_field,
            labels=labels or None,
            **self.site.reading(),
        )
        return _of_users(source) if self.terms.unit == "user" else _as_one(source)

    @property
    def units(self) -> list[list[Any]]:
        return self.file.examples

    @cached_property
    def setup(self) -> ClientSetup:
        task = make_task(self.terms.kind, {"adapters": self.terms.adapters}, start=self.model, frozen=self.terms.frozen)
        return ClientSetup(task, lambda: self.units, self._plain(), threads=self.terms.threads)

    def _plain(self) -> Any:
        return self.terms.local_step() if self.terms.private is None else None

    def train(self, content: Any) -> Any:
        """The sum of a round."""
        if self.terms.private is None:
            return trained_sum(self.setup, content)
        return trained_sum(replace(self.setup, local=self._private_step(read_order(content).round)), content)

    # ---- the site's own account ----------------------------------------------------------------------------------

    @cached_property
    def account(self) -> Account:
        note = f"federate join {self.site.data.name}"
        return Account(self.site.ledger, note=note, other_data=self.site.other_data, unpriced=self.site.unpriced)

    @cached_property
    def _fingerprint(self) -> str:
        return self.account.fingerprint().update_all(self.file.texts).hexdigest()

    @cached_property
    def plans(self) -> SitePlans:
        """DP-SGD over the whole run, for as many examples as this site has."""
        asked = dict(self.terms.private or {})
        names = ("batch", "epochs", "clip", "delta", "noise", "target")
        return SitePlans((len(self.units[0]),), self.terms.rounds, **{name: asked[name] for name in names})

    def _private_step(self, round: int) -> PrivateLocalTraining:
        """The private step of a round, after its charge is on disk."""
        asked = dict(self.terms.private or {})
        event = self.plans.site_event(len(self.units[0]), 1)
        note = f"{self.account.note}: round {round}"
        paid = self.account.charge(event, data=self._fingerprint, step=f"round {round}", seen=True, note=note)
        return PrivateLocalTraining(self.plans.by_size, paid.parts(), rate=asked["rate"])

    def charge_unpriced(self) -> None:
        """One line in the ledger of a site that trains without noise."""
        if self.terms.private is not None or self.site.ledger is None:
            return
        event = Event(
            Unpriced(NoPromise(UNSEEN, "heuristic")), Unit.DOCUMENT, Adjacency.REPLACE, mechanism="federated.fedavg"
        )
        self.account.charge(event, data=self._fingerprint)


def _as_one(source: UnitSource) -> UnitData:
    """All of a file as one unit."""
    from textveil.text.examples import check_labels

    (path,) = source.sources
    file = read_file(source, path, users=False)
    if source.labels is not None:
        check_labels(file, source.labels, path, declared=True)
    return UnitData([pairs_of(source.task, file)], Unit.CLIENT, texts=list(file.texts()))


def _of_users(source: UnitSource) -> UnitData:
    """A unit for each user of a file."""
    from textveil.recipes.federated.units import read_units

    if source.user_field is None:
        raise BadInput("the server trains for users, and no field names them", possible="--user-field FIELD")
    return read_units(source)
