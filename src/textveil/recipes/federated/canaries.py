"""Put shared canaries and canary users into data by user: data.jsonl to train on, canaries.json to audit. Both private."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.attacks.federated.sharers import SHARERS, SHARES, Texts, make_shared, plant
from textveil.core import BadInput
from textveil.core.release import check_free, check_writable, new_folder
from textveil.noise import secure, seeded
from textveil.recipes.training.canaries import CANARIES, DATA, public_secrets
from textveil.text.examples import read_texts
from textveil.text.readers import FileOptions


@dataclass(frozen=True)
class SharedCanaryJob(FileOptions):
    """One file of sentences by user and the canaries that go into it."""

    source: Path
    out: Path
    user_field: str = "user"
    sharers: tuple[int, ...] = SHARERS
    shares: tuple[float, ...] = SHARES
    each: int = 10
    canary_users: int = 0
    candidates: int = 2000
    words: Path | None = None  # words.txt of the model that will be trained
    seed: int | None = None


def plant_shared(job: SharedCanaryJob) -> dict[str, Any]:
    """Write the folder and return what to print."""
    check_free(job.out)
    check_writable(job.out)
    rng = secure() if job.seed is None else seeded(job.seed)
    texts = _by_user(job)
    made = make_shared(
        _secrets(job), rng, sharers=job.sharers, shares=job.shares, each=job.each, users=job.canary_users
    )
    planted, canaries = plant(texts, made, rng)
    names = list(planted)
    with new_folder(job.out) as hidden:
        with open(hidden / DATA, "w", encoding="utf-8") as file:
            for i in rng.permutation(len(names)).tolist():
                for text in planted[names[i]]:
                    file.write(json.dumps({"text": text, job.user_field: names[i]}, ensure_ascii=False) + "\n")
        canaries.save(hidden / CANARIES)
    return {
        "out": str(job.out),
        "data": str(job.out / DATA),
        "canaries": str(job.out / CANARIES),
        "planted": len(canaries.canaries),
        "occurrences": sum(c.occurrences for c in canaries.canaries),
        "sharers": sum(c.sharers for c in canaries.canaries),
        "canary_users": [sum(c.inserted for c in canaries.users), len(canaries.users)],
        "users": len(planted),
    }


def _by_user(job: SharedCanaryJob) -> Texts:
    data = read_texts(job.source, user_field=job.user_field, **job.reading())
    found: Texts = {}
    for text, user in zip(data.inputs, data.users or (), strict=True):
        found.setdefault(str(user), []).append(text)
    return found


def _secrets(job: SharedCanaryJob) -> list[str]:
    """Words that canaries are drawn from: those of the model, so that it can tell them apart, or frequent public ones."""
    if job.words is None:
        return public_secrets(job.candidates)
    try:
        lines = job.words.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        raise BadInput("cannot be read as a list of words", where=job.words, possible="model/words.txt") from None
    plain = [word for word in lines if word.isascii() and word.isalpha() and len(word) > 1][: job.candidates]
    if len(plain) < 2:
        raise BadInput("has fewer than two words of letters", where=job.words, possible="model/words.txt")
    return plain
