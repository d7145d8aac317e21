"""Paper 11: stars and accuracy of the plain network; labels, time and memory of the secure one."""

from __future__ import annotations

import gzip
import hashlib
import json
import resource
import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.mpc.inputs import Inputs
from textveil.mpc.model_folder import Classifier
from textveil.mpc.networks import labels, scores
from textveil.mpc.oracle import oracle_scores
from textveil.mpc.train import shape_of, train_network
from textveil.recipes.mpc.local import local_parties
from textveil.recipes.mpc.train import held_back, score_of

REVIEWS, FILE, POSITIVE = "amazon_reviews", "train.jsonl.gz", 4


@lru_cache(maxsize=1)
def read_reviews(data: Path) -> tuple[list[str], NDArray[np.int64]]:
    """Texts and stars."""
    with gzip.open(data / REVIEWS / FILE, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [row["text"] or "" for row in rows], np.array([int(row["rating"]) for row in rows])


@lru_cache(maxsize=2)
def encoded(data: Path, kind: str) -> tuple[NDArray[np.float32], dict[str, Any]]:
    """The texts as a network reads them; kept in the folder of temporary files, since encoding takes minutes."""
    inputs = Inputs(kind)
    digest = hashlib.sha256((data / REVIEWS / FILE).read_bytes() + inputs.facts.fingerprint.encode()).hexdigest()[:16]
    kept = Path(tempfile.gettempdir()) / f"textveil-encoded-{kind}-{digest}.npy"
    if not kept.exists():
        np.save(kept, inputs.rows(read_reviews(data)[0]))
    return np.load(kept, allow_pickle=False), inputs.facts.to_json()


def stars(data: Path) -> dict[str, Any]:
    """Table 1 of the data at hand."""
    found = read_reviews(data)[1]
    return {str(star): int((found == star).sum()) for star in range(1, 6)} | {"reviews": len(found)}


@lru_cache(maxsize=8)
def _trained(data: Path, network: str, inputs: str, seed: int) -> tuple[Classifier, NDArray[np.bool_]]:
    x, facts = encoded(data, inputs)
    rating = read_reviews(data)[1]
    test = held_back(rating, 0.2, seed)
    y = (rating >= POSITIVE).astype(int)
    shape = shape_of(network, facts["length"], facts["width"])
    arrays = train_network(shape, x[~test], y[~test].tolist(), epochs=15 if network == "linear" else 8, seed=seed)
    return Classifier(shape, arrays, ("negative", "positive"), facts), test


def plain(data: Path, *, network: str, inputs: str, seed: int) -> dict[str, Any]:
    """Accuracy in the clear on the fifth that was kept back, and in fixed point."""
    classifier, test = _trained(data, network, inputs, seed)
    x, y = encoded(data, inputs)[0][test], (read_reviews(data)[1][test] >= POSITIVE).astype(int)
    said = labels(scores(classifier.shape, classifier.arrays, x))
    fixed = labels(oracle_scores(classifier.shape, classifier.arrays, x))
    return {**score_of(said, y), "hits": int((said == y).sum()), "fixed_agrees": int((fixed == said).sum())}


def secure(data: Path, *, trust: str, mode: str, texts: int, answer: str, network: str, run: int) -> dict[str, Any]:
    """Labels, seconds, CPU seconds and memory of secure classification, encoding excluded."""
    classifier, test = _trained(data, network, "sentence", 0)
    x = encoded(data, "sentence")[0][test][:texts]
    truth = (read_reviews(data)[1][test][:texts] >= POSITIVE).astype(int)
    size = 1 if mode == "sequential" else texts
    with local_parties(classifier, trust) as parties, parties.connect([size], answer) as client:
        client.ask_batch(x[:size])  # the first one also fills caches
        cpu, began, dealt = _cpu(), time.perf_counter(), parties.dealt()
        said = np.array([found.label for found in client.ask(x)])
        seconds, dealt_now = time.perf_counter() - began, parties.dealt()
        used = client.engine.ask("used", seconds=30.0).said
    clear = labels(scores(classifier.shape, classifier.arrays, x))
    oracle = labels(oracle_scores(classifier.shape, classifier.arrays, x))
    return {
        "seconds": seconds,
        "a_text": seconds / texts,
        "own_cpu_a_text": (_cpu() - cpu) / texts,
        "client_engine_cpu": used["cpu"],
        "peak_gib": used["peak"] / 2**30,
        "dealer_calls": dealt_now[0] - dealt[0],
        "dealer_bytes_a_text": (dealt_now[1] - dealt[1]) / texts,
        "agree": int((said == clear).sum()),
        "agree_oracle": int((said == oracle).sum()),
        "correct": int((said == truth).sum()),
        "correct_plain": int((clear == truth).sum()),
        "tries": texts,
    }


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def extraction(data: Path, *, queries: int, network: str) -> dict[str, Any]:
    """How often a copy agrees that was trained on the labels of so many reviews."""
    from textveil.attacks.mpc.extraction import ExtractionAttack
    from textveil.attacks.mpc.seen import LabelsSeen
    from textveil.noise import seeded

    classifier, _ = _trained(data, network, "sentence", 0)
    x = encoded(data, "sentence")[0]
    said = labels(oracle_scores(classifier.shape, classifier.arrays, x))
    found = ExtractionAttack(queries).run(LabelsSeen(x, said), rng=seeded(1))
    return {"agreement": found.value, "hits": found.hits, "tries": found.tries, "majority": found.chance}


__all__ = ["REVIEWS", "extraction", "plain", "secure", "stars"]
