"""The journey of a model trained under TextHide: read, charge, train by rounds, then attack what was made.

    publish -> read all clients -> [send, gradient of one hidden batch each, AdamW] for each round -> model/, card
    -> attacks on public sentences, into the folder; if asked for, what the server saw of one client, beside it

The card is labelled broken. Its evidence comes from invented or public sentences sent through the released model, so it holds
nothing of the clients' text. With `keep_view`, `audit OUT --truth IN` attacks what the server really saw.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from textveil.accounting.account import PartNoise, unrecorded
from textveil.core import BadInput, Unit
from textveil.core.facts import Facts, ModelScores
from textveil.core.files import write_whole
from textveil.core.params import needs
from textveil.federated.book import AccountBook
from textveil.federated.client import ClientSetup, make_client_app
from textveil.federated.messages import ServerView
from textveil.federated.plan import RoundPlan
from textveil.federated.rounds import Federation, run_rounds
from textveil.federated.texthide import WHY, HidingPlan, TextHide, broken_event, drawn_key
from textveil.federated.texthide_step import TextHideStep, WarmedAdamW, batch_rows, pool_sizes
from textveil.federated.weights import flat_of, layout_of, put_into
from textveil.noise import Source
from textveil.recipes.audit import AuditJob, audit_release
from textveil.recipes.progress import Bar
from textveil.recipes.publish import Publication, publish_job
from textveil.recipes.texthide.views import VIEW, ClientGradient
from textveil.text.examples import name_of
from textveil.text.readers import FileOptions, open_reader

STATE = "state.pt"
PASSES = (
    "the gradient of one batch of every client in every round, towards the server: it shows the tokens of the batch",
)


@dataclass(frozen=True)
class TextHideJob(FileOptions):
    """Files of clients, and the model that they train under TextHide."""

    sources: tuple[Path, ...]
    out: Path
    plan: HidingPlan = field(default_factory=HidingPlan)
    label_field: str = "label"
    pair_field: str | None = None  # of the second sentence
    is_regression: bool = False
    sites: int | None = None
    per_client: bool = False  # each client has m masks, instead of a share of them
    public_text: Path | None = None  # for the scheme inter
    encoder: str = "minilm"
    max_pieces: int = 64
    rounds: int = 30
    batch: int = 16
    rate: float = 5e-5
    test: Path | None = None
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False
    seed: int | None = None
    keep_view: bool = False  # keep what the server saw of the first client, beside the release, for its owner


@dataclass(frozen=True)
class ReadClients:
    """The examples of each client, and the row of the input that each came from."""

    examples: list[list[Any]]
    rows: list[list[int]]

    def __call__(self) -> list[list[Any]]:
        return self.examples


@dataclass(frozen=True)
class PublicTexts:
    """Public texts in memory, for the step."""

    texts: list[Any]

    def __call__(self) -> list[Any]:
        return self.texts


@dataclass(frozen=True)
class NotedStep:
    """The step, noting which rows made the batch of one call: the truth about what is tapped, for its owner."""

    step: TextHideStep
    part: int
    path: Path
    name: str = "texthide"

    def __call__(self, net: Any, examples: Sequence[Any], *, seed: int, part: int) -> Any:
        if part == self.part:
            self.path.write_text(json.dumps(batch_rows(len(examples), self.step.batch, seed)), encoding="utf-8")
        return self.step(net, examples, seed=seed, part=part)


class BrokenBook(AccountBook):
    """One unpriced line for the run: nothing is promised."""

    def begin(self, step: str, *, tree_rounds: int = 0) -> Source:
        self.paid = self.account.charge(broken_event(), data=self.data, binding=self.binding)
        return self.paid.noise()


def train_texthide(job: TextHideJob, *, bar: Bar, warn: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Train under TextHide into a release folder, attack it, and return what to print."""
    needs("federated", "flwr", "torch", "transformers")
    from textveil.federated.texthide_net import HiddenNet

    warn(WHY)
    with publish_job(job, f"federate simulate {job.sources[0].name}", seed=job.seed) as publication:
        clients, test = read_clients(job), read_rows(job, job.test) if job.test else []
        public = [text for text, _ in read_rows(job, job.public_text, labels=False)] if job.public_text else []
        _check(job, clients, public)
        classes = None if job.is_regression else sorted({str(y) for own in clients.examples for _, y in own})
        net = HiddenNet(job.encoder, classes, max_pieces=job.max_pieces)
        book = _book(job, publication, clients)
        state = _rounds(job, clients, public, net, book, publication, bar)
        put_into(net, state.weights)
        net.save(publication.file("model"))
        scores = test_scores(net, test, _asking_masks(job, net, clients, publication, len(test)))
        if job.keep_view:
            _keep_view(publication, clients)
        if book.paid is None:  # taken up after its last round: the journal knows that it is paid
            book.begin("release")
        assert book.paid is not None
        release = publication.finish(
            book.paid,
            TextHide.name,
            parameters_of(job, len(clients.examples)),
            "model",
            guarantee=TextHide().guarantee_,
            passes=PASSES,
            facts=_facts(job, publication, scores, len(clients.examples)),
        )
    evidence = audit_release(AuditJob(job.out)).rows
    return {**publication.result(release), "scores": scores, "evidence": evidence, "rounds": state.round}


def _asking_masks(job: TextHideJob, net: Any, clients: ReadClients, publication: Publication, count: int) -> Any:
    """A mask for each text of the test file, as the first client asks: of its pool, or a new one (ones without masks)."""
    pool = _step(job, publication, len(clients.examples)).client_pool(net, clients.examples[0])
    return drawn_key(HidingPlan(job.plan.masks, 1), pool, count, noise=unrecorded(job.seed)).signs


def _keep_view(publication: Publication, clients: ReadClients) -> None:
    """Put what the server saw of the first client beside the release, with the rows of the input that it came from."""
    gradient, rows = ClientGradient.load(publication.work(VIEW))
    view = publication.private(VIEW)
    view.touch(0o600)
    gradient.save(view, [clients.rows[0][row] for row in rows])


def _check(job: TextHideJob, clients: ReadClients, public: list[Any]) -> None:
    if job.plan.mixed > job.plan.private and not public:
        raise BadInput("the scheme inter mixes in public text", possible="--public-text FILE")
    if not all(clients.examples):
        raise BadInput("a client has no examples", possible="fewer --sites")
    if job.is_regression:
        for own in clients.examples:
            for _, target in own:
                _number(target, job)


def _number(target: Any, job: TextHideJob) -> float:
    try:
        return float(target)
    except ValueError:
        raise BadInput("a target is no number", where=job.sources[0], field=job.label_field) from None


def read_clients(job: TextHideJob) -> ReadClients:
    """One client a file, or one file cut into `sites`."""
    files = [read_rows(job, path) for path in job.sources]
    if job.sites is None:
        if len(files) == 1:
            raise BadInput(
                "nobody can tell whose text this is", where=job.sources[0], possible="one file per site, or --sites N"
            )
        return ReadClients(files, [list(range(len(file))) for file in files])
    pooled = [example for file in files for example in file]
    if job.sites > len(pooled):
        raise BadInput(f"{len(pooled)} examples cannot be cut into {job.sites} sites", possible="fewer --sites")
    rows = [part.tolist() for part in np.array_split(np.random.default_rng(0).permutation(len(pooled)), job.sites)]
    return ReadClients([[pooled[r] for r in own] for own in rows], rows)


def read_rows(job: TextHideJob, path: Path, *, labels: bool = True) -> list[Any]:
    """Texts or pairs with their targets."""
    fields = [name for name in (job.label_field if labels else None, job.pair_field if labels else None) if name]
    reader = open_reader(path, fields=fields, columns=(), **job.reading())
    rows = []
    for record in reader:
        text: Any = record.text
        if labels and job.pair_field:
            text = (text, name_of(record.fields[job.pair_field], path, reader.record_line, job.pair_field))
        target = _target(record.fields[job.label_field], path, reader.record_line, job) if labels else None
        rows.append((text, target))
    return rows


def _target(value: Any, path: Path, line: int, job: TextHideJob) -> str:
    if job.is_regression and isinstance(value, float):
        return str(value)
    return name_of(value, path, line, job.label_field)


def _book(job: TextHideJob, publication: Publication, clients: ReadClients) -> BrokenBook:
    texts = (
        part for own in clients.examples for text, _ in own for part in ([text] if isinstance(text, str) else text)
    )
    fingerprint = publication.account.fingerprint().update_all(texts)
    plan = round_plan(len(clients.examples), job.rounds)
    binding = publication.bound(
        sources=[path.name for path in job.sources], parameters=parameters_of(job, len(clients.examples))
    )
    return BrokenBook(publication.account, plan, publication.work(STATE), data=fingerprint.hexdigest(), binding=binding)


def round_plan(clients: int, rounds: int) -> RoundPlan:
    """Every client in every round, equal weights, no clip, no noise: Algorithm 2."""
    return RoundPlan(
        users=clients,
        per_round=clients,
        rounds=rounds,
        sampling="fixed",
        weighting="equal",
        unit=Unit.CLIENT,
        mechanism=TextHide.name,
    )


def _rounds(
    job: TextHideJob,
    clients: ReadClients,
    public: list[Any],
    net: Any,
    book: BrokenBook,
    publication: Publication,
    bar: Bar,
) -> Any:
    from textveil.federated.in_process import InProcessGrid

    count = len(clients.examples)
    batch_path, view_path = publication.work("batch.json"), publication.work(VIEW)
    step = _step(job, publication, count, PublicTexts(public) if public else None)
    local = NotedStep(step, count, batch_path)  # the first call of the first round
    setup = ClientSetup(HeldTask(net), clients, local)
    federation = Federation(
        round_plan(count, job.rounds),
        layout_of(net),
        flat_of(net),
        WarmedAdamW(rate=job.rate, rounds=job.rounds),
        apart=True,
    )

    def tap(view: ServerView) -> None:
        if view.round == 1:
            reply = next(r for r in view.replies if r.users == (0,))
            if reply.total is None:
                raise BadInput(f"the first client could not train ({reply.error or reply.refused})")
            rows = json.loads(batch_path.read_text(encoding="utf-8"))
            ClientGradient.of(view.layout.arrays(-reply.total)).save(view_path, rows)

    with bar("training", job.rounds, "rounds") as advance:
        return run_rounds(
            InProcessGrid(make_client_app(setup)), federation, book, tap=tap, progress=lambda facts: advance(1)
        )


def _step(job: TextHideJob, publication: Publication, clients: int, public: PublicTexts | None = None) -> TextHideStep:
    secret = _secret(job, publication.work("pools.key"))
    own = pool_sizes(job.plan.masks, clients, per_client=job.per_client)
    return TextHideStep(job.plan, PartNoise(job.seed), secret, job.batch, own, public)


def _secret(job: TextHideJob, path: Path) -> bytes:
    """What the pools are made from: kept with the unfinished work, so that a run taken up again has the same masks."""
    if job.seed is not None:
        return job.seed.to_bytes(32, "big")
    if not path.is_file():
        write_whole(path, secrets.token_hex(32), mode=0o600)
    return bytes.fromhex(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class HeldTask:
    """A net that is there already: all clients of this process train it in turn."""

    net: Any
    kind: str = "texthide"

    def build(self) -> Any:
        return self.net

    def evaluate(self, net: Any, examples: Sequence[Any]) -> dict[str, float]:
        return test_scores(net, list(examples))


def test_scores(net: Any, test: list[Any], signs: Any = None) -> dict[str, float]:
    """Accuracy and the largest class, or Pearson's correlation; `signs`: the mask behind which each text is asked."""
    if not test:
        return {}
    said, truth = net.predict([text for text, _ in test], signs), [target for _, target in test]
    if net.classes is None:
        return {"pearson": float(np.corrcoef(np.asarray(said, float), np.asarray(truth, float))[0, 1])}
    largest = max(truth.count(name) for name in set(truth)) / len(truth)
    right = sum(a == str(b) for a, b in zip(said, truth, strict=True))
    return {"accuracy": right / len(truth), "largest_class": largest}


def parameters_of(job: TextHideJob, clients: int) -> dict[str, Any]:
    """The parameters as a release shows them."""
    return {
        "scheme": job.plan.scheme,
        "masks": "new for each item" if job.plan.masks is None else job.plan.masks,
        "mixed": job.plan.mixed,
        "masks_per_client": job.per_client,
        "clients": clients,
        "encoder": Path(job.encoder).name,
        "batch": job.batch,
        "rounds": job.rounds,
        "rate": job.rate,
        "max_pieces": job.max_pieces,
        "label_field": job.label_field,
        "pair_field": job.pair_field or "",
        "regression": job.is_regression,
    }


def _facts(job: TextHideJob, publication: Publication, scores: dict[str, float], clients: int) -> Facts:
    lines = tuple(f"test {name.replace('_', ' ')} {value:.3f}" for name, value in scores.items())
    shown = ModelScores(lines, scores, job.test.name) if job.test and scores else None
    making = (
        f"{clients} clients sent the gradient of one hidden batch of {job.batch} in each of {job.rounds} rounds; AdamW on "
        "the server",
        "a text is asked behind a mask of the first client, without mixing, as in training",
        "the attacks on this card were run on public sentences that were sent through the released model",
    )
    return Facts(
        data=publication.data_facts(job.sources[0], text_field=job.text_field),
        scores=shown,
        making=making,
        not_protected=("the text of the clients: the server can read the tokens of every batch off its gradient",),
        beware=(f"{WHY}; the replacement is DP-SGD on a frozen encoder or on small adapters",),
    )


__all__ = ["TextHideJob", "parameters_of", "read_clients", "read_rows", "round_plan", "train_texthide"]
