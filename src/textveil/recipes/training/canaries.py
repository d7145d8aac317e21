"""Put canaries into training data: data.jsonl is IN with them, canaries.json names them. Both stay private."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.attacks.training.canaries import FORMS, Canaries, make_canaries
from textveil.core import BadInput
from textveil.core.params import choice, positive_integer
from textveil.core.release import check_free, check_writable, new_folder
from textveil.noise import secure, seeded
from textveil.text.examples import Examples, read_tagged, read_texts
from textveil.text.readers import FileOptions

DATA, CANARIES = "data.jsonl", "canaries.json"
KINDS = ("lm", "classifier", "tagger")


@dataclass(frozen=True)
class CanaryJob(FileOptions):
    """One file of training data and the canaries that go into it."""

    source: Path
    out: Path
    kind: str = "lm"
    forms: tuple[str, ...] = FORMS
    copies: tuple[int, ...] = (1, 10)
    each: int = 1
    candidates: int = 4096
    coin: bool = False
    label_field: str = "label"
    user_field: str | None = None
    seed: int | None = None


def plant(job: CanaryJob) -> dict[str, Any]:
    """Write the folder and return what to print."""
    choice("kind", job.kind, KINDS)
    check_free(job.out)
    check_writable(job.out)
    data, source = _read(job), secure() if job.seed is None else seeded(job.seed)
    classes = sorted(set(data.targets)) if job.kind == "classifier" else []
    tags = sorted({t for own in data.targets for t in own}) if job.kind == "tagger" else []
    made = make_canaries(
        public_secrets(job.candidates),
        source,
        forms=job.forms,
        copies=job.copies,
        each=job.each,
        coin=job.coin,
        classes=classes,
        tags=tags,
    )
    rows = [_row(job, data, i) for i in range(len(data.inputs))]
    rows += [_canary_row(job, example, i) for i, example in enumerate(made.examples())]
    with new_folder(job.out) as hidden:
        with open(hidden / DATA, "w", encoding="utf-8") as file:
            for i in source.permutation(len(rows)).tolist():
                file.write(json.dumps(rows[i], ensure_ascii=False) + "\n")
        made.save(hidden / CANARIES)
    return _result(job, made, len(rows))


def public_secrets(count: int) -> list[str]:
    """The most frequent public words that consist of letters.

    >>> public_secrets(3)
    ['the', 'of', 'to']
    """
    from textveil.text.vectors import load

    positive_integer("candidates", count)
    words = [word for word in load("default").words if word.isalpha() and word.isascii()]
    if count > len(words):
        raise BadInput(f"candidates must be at most {len(words)}, not {count}")
    return words[:count]


def _read(job: CanaryJob) -> Examples:
    if job.kind == "tagger":
        return read_tagged(job.source, format=job.format, user_field=job.user_field, encoding=job.encoding)
    label = job.label_field if job.kind == "classifier" else None
    return read_texts(job.source, label_field=label, user_field=job.user_field, **job.reading())


def _row(job: CanaryJob, data: Examples, i: int) -> dict[str, Any]:
    target = data.targets[i] if data.targets else None
    return _shaped(job, data.inputs[i], target, data.users[i] if data.users else None)


def _canary_row(job: CanaryJob, example: Any, number: int) -> dict[str, Any]:
    """Each copy belongs to a user of its own, so that k copies are k units for either unit."""
    read, target = example if isinstance(example, tuple) else (example, None)
    return _shaped(job, read, target, f"canary-{number}" if job.user_field else None)


def _shaped(job: CanaryJob, read: Any, target: Any, user: str | None) -> dict[str, Any]:
    row: dict[str, Any] = {"tokens": read, "tags": target} if job.kind == "tagger" else {"text": read}
    if job.kind == "classifier":
        row[job.label_field] = target
    if job.user_field:
        row[job.user_field] = user
    return row


def _result(job: CanaryJob, made: Canaries, rows: int) -> dict[str, Any]:
    return {
        "out": str(job.out),
        "data": str(job.out / DATA),
        "canaries": str(job.out / CANARIES),
        "planted": sum(c.inserted for c in made.canaries),
        "made": len(made.canaries),
        "examples": rows,
        "candidates": len(made.secrets),
    }
