"""The journey of Bob's texts: read and check them all, learn what the server computes, encode, charge, ask, write labels.

    check    every text has words and is not too long: bad input costs nothing, and nobody hears of it
    facts    the server's public facts: shapes, classes, encoder; this side encodes with its own copy of the encoder
    charge   an unpriced line, cryptographic, before a share of any text leaves
    ask      in batches of one size (and one smaller), in a drawn order, so that the time of a batch says nothing about a
             place in the file

The release holds ids and labels; no text and no vector is written anywhere. Without OUT the labels are only returned.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.core import BadInput, Shape
from textveil.core.facts import Facts
from textveil.mpc.client import Answer, ClassifyClient
from textveil.mpc.inputs import has_words, inputs_like
from textveil.mpc.mechanism import PrivateClassifier
from textveil.mpc.service import call
from textveil.mpc.trust import ENGINE, trust_of
from textveil.recipes.progress import Bar
from textveil.recipes.publish import publish
from textveil.text.readers import FileOptions, open_reader

MOST_BYTES = 1 << 20
MOST_TEXTS = 1_000_000
DATA = "data.jsonl"
Say = Callable[[str], None]


@dataclass(frozen=True)
class AskJob(FileOptions):
    """Texts to be classified by somebody else's model."""

    source: Path
    keys: Path
    server: str
    trust: str = "dealer"
    out: Path | None = None
    dealer: str | None = None
    nodes: tuple[str, ...] = ()
    direct: str | None = None
    encoder: str | None = None
    score: bool = False
    batch: int = 100
    max_bytes: int = MOST_BYTES
    seconds: float = 120.0
    id_field: str | None = None
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False


@dataclass(frozen=True)
class AskedTexts:
    """What was read of the input."""

    ids: list[Any]
    texts: list[str]


def ask_file(job: AskJob, *, bar: Bar, say: Say) -> dict[str, Any]:
    """Ask for the labels of a file and release them."""
    assert job.out is not None
    mechanism = PrivateClassifier(None, job.trust, job.score)
    mechanism.fit()
    with publish(
        job.out,
        f"classify ask {job.source.name}",
        ledger=job.ledger,
        other_data=job.other_data,
        unpriced=job.unpriced,
    ) as publication:
        fingerprint = publication.account.fingerprint()
        asked = read_texts(job, fingerprint.update)
        facts, x = _encoded(job, asked, bar)
        bound = publication.bound(server=job.server, trust=job.trust, model=facts["version"], texts=len(asked.texts))
        paid = publication.account.charge(mechanism.event(Shape()), data=fingerprint.hexdigest(), binding=bound)
        order = paid.noise().permutation(len(x))
        answers = dict(zip(order.tolist(), _answers(job, facts, x[order], bar, say), strict=True))
        with open(publication.file(DATA), "w", encoding="utf-8") as file:
            for number, identifier in enumerate(asked.ids):
                line = {"id": identifier, **_line(facts["labels"], answers[number])}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        release = publication.finish(
            paid,
            mechanism.name,
            {
                **mechanism.public_params(),
                "model": facts["version"],
                "engine": ENGINE,
                "inputs": facts["inputs"].get("kind"),
                "encoder": facts["inputs"].get("encoder"),
            },
            DATA,
            passes=(*mechanism.passes(), *(() if job.id_field is None else (f"the field '{job.id_field}'",))),
            facts=_facts(job, mechanism, publication.data_facts(job.source, records=len(x)), facts),
        )
    return {**publication.result(release), "texts": len(x), "labels": _counts(facts["labels"], answers.values())}


def ask_texts(job: AskJob, *, bar: Bar, say: Say) -> dict[str, Any]:
    """Ask for the labels of a file and only return them."""
    asked = read_texts(job, lambda text: None)
    facts, x = _encoded(job, asked, bar)
    answers = list(_answers(job, facts, x, bar, say))
    return {"trust": job.trust, "labels": [_line(facts["labels"], answer) for answer in answers]}


def read_texts(job: AskJob, note: Callable[[str], object]) -> AskedTexts:
    """All texts, each checked; a bad one is named by its number."""
    fields = () if job.id_field is None else (job.id_field,)
    ids, texts = list[Any](), list[str]()
    limit = {} if job.max_bytes >= MOST_BYTES else {"max_line_bytes": max(4096, 2 * job.max_bytes)}
    for number, record in enumerate(open_reader(job.source, columns=(), fields=fields, **job.reading(), **limit), 1):
        if len(record.text.encode()) > job.max_bytes:
            raise BadInput(
                f"text {number} is longer than {job.max_bytes:,} bytes", where=job.source, possible="--max-bytes N"
            )
        if not has_words(record.text):
            raise BadInput(f"text {number} has no words", where=job.source)
        if number > MOST_TEXTS:
            raise BadInput(f"has more than {MOST_TEXTS:,} texts", where=job.source)
        note(record.text)
        ids.append(number if job.id_field is None else record.fields.get(job.id_field))
        texts.append(record.text)
    if not texts:
        raise BadInput("has no texts", where=job.source)
    return AskedTexts(ids, texts)


def _encoded(job: AskJob, asked: AskedTexts, bar: Bar) -> tuple[dict[str, Any], NDArray[np.float32]]:
    """The server's public facts, and the texts as its network reads them."""
    trust_of(job.trust)
    facts = server_facts(job)
    inputs = inputs_like(facts["inputs"], job.encoder)
    with bar("encoding", len(asked.texts), "texts") as advance:
        return facts, inputs.rows(asked.texts, progress=advance)


def server_facts(job: AskJob) -> dict[str, Any]:
    """What the server tells anybody with a token."""
    wire = call(job.keys, job.server, "server", {"do": "facts"})
    try:
        facts = wire.receive(seconds=job.seconds).said
    finally:
        wire.close()
    if not all(name in facts for name in ("version", "labels", "inputs", "shape")):
        raise BadInput("the server's facts cannot be read")
    return facts


def batch_sizes(count: int, batch: int) -> list[int]:
    """The sizes of programs that `count` rows need.

    >>> batch_sizes(137, 100), batch_sizes(3, 100)
    ([100, 37], [3])
    """
    if batch < 1:
        raise BadInput("a batch has at least one text")
    whole, rest = divmod(count, batch)
    return ([batch] if whole else []) + ([rest] if rest else [])


def _answers(job: AskJob, facts: dict[str, Any], x: NDArray[np.float32], bar: Bar, say: Say) -> Iterator[Answer]:
    """The answers, row by row, after it was said in words whom one trusts."""
    trust = trust_of(job.trust)
    say(f"trust: {trust.model}; {trust.collusion}")
    client = ClassifyClient(
        job.keys, job.server, job.trust, rows=batch_sizes(len(x), job.batch), dealer=job.dealer, nodes=job.nodes,
        direct=job.direct, answer="score" if job.score else "label", seconds=job.seconds,
    )  # fmt: skip
    with client, bar("asking", len(x), "texts") as advance:
        if client.offer.get("version") != facts["version"]:
            raise BadInput("the server changed its model meanwhile", possible="run it again")
        for answer in client.ask(x):
            yield answer
            advance(1)


def _line(names: list[Any], answer: Answer) -> dict[str, Any]:
    line = {"label": names[answer.label]}
    return line if answer.score is None else {**line, "score": round(answer.score, 4)}


def _counts(names: list[Any], answers: Any) -> dict[str, int]:
    found = [names[answer.label] for answer in answers]
    return {str(name): found.count(name) for name in names if name in found}


def _facts(job: AskJob, mechanism: PrivateClassifier, data: Any, facts: dict[str, Any]) -> Facts:
    trust = trust_of(job.trust)
    making = (
        f"trust '{trust.name}': {trust.model}",
        f"who must not collude: {trust.collusion}",
        f"computed by {ENGINE} ({trust.protocol}, 64-bit ring, 16 bits of fraction), links encrypted by TLS",
        f"network: {facts['shape'].get('kernels') or 'no'} kernels, {len(facts['labels'])} classes; model version "
        f"{str(facts['version'])[:12]}",
        f"texts were encoded on their owner's machine ({facts['inputs'].get('kind')}, {facts['inputs'].get('encoder')})",
    )
    return Facts(data=data, making=making, not_protected=mechanism.leaks())


__all__ = ["AskJob", "ask_file", "ask_texts", "batch_sizes"]
