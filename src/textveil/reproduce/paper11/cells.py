"""Paper 11: stars and accuracy of the plain network; labels, time and memory of the secure one; copies by its labels."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.mpc.client import ClassifyClient
from textveil.mpc.networks import labels, scores
from textveil.mpc.oracle import oracle_scores
from textveil.mpc.waiting import cpu_seconds
from textveil.recipes.mpc.local import local_parties
from textveil.recipes.mpc.train import score_of

from .data import answers, encode_part, encoded, read_reviews, trained

BATCH = 100


def stars(data: Path) -> dict[str, Any]:
    """Table 1 of the data at hand."""
    found = read_reviews(data).stars
    return {str(star): int((found == star).sum()) for star in range(1, 6)} | {"reviews": len(found)}


def encoding(data: Path, *, inputs: str, part: int) -> dict[str, Any]:
    """Encode one part of the texts, as their owner does before anything is secure (bench/mpc.py has its time)."""
    return {"texts": len(encode_part(data, inputs, part))}


def plain(data: Path, *, network: str, inputs: str, seed: int) -> dict[str, Any]:
    """Accuracy in the clear on the fifth that was kept back, and in fixed point."""
    classifier, test = trained(data, network, inputs, seed)
    x, y = encoded(data, inputs)[test], read_reviews(data).positive[test]
    said = labels(scores(classifier.shape, classifier.arrays, x))
    fixed = labels(oracle_scores(classifier.shape, classifier.arrays, x))
    hits = {"hits": int((said == y).sum()), "majority_hits": int(max(y.sum(), len(y) - y.sum()))}
    return {**score_of(said, y), **hits, "fixed_agrees": int((fixed == said).sum())}


def secure(data: Path, *, trust: str, mode: str, texts: int, answer: str, network: str, run: int) -> dict[str, Any]:
    """Table 2: seconds, CPU seconds and memory of secure classification; encoding and the first query excluded."""
    classifier, test = trained(data, network, "sentence", 0)
    x = encoded(data, "sentence")[test][:texts]
    size = 1 if mode == "sequential" else texts
    with local_parties(classifier, trust) as parties, parties.connect([size], answer) as client:
        client.ask_batch(x[:size])
        cpu, dealt = _cpu(client), parties.dealt()
        said, seconds = _timed(client, x, size)
        cpu, dealt = _cpu(client) - cpu, (parties.dealt()[0] - dealt[0], parties.dealt()[1] - dealt[1])
        peak = client.engine.ask("used", seconds=60.0).said["peak"]
    lengths = np.array([len(text) for text, kept in zip(read_reviews(data).texts, test, strict=True) if kept][:texts])
    return {
        "seconds": float(seconds.sum()),
        "a_text": float(seconds.sum()) / texts,
        **(_by_length(seconds, lengths) if size == 1 else {}),
        "client_engine_cpu_a_text": cpu / texts,
        "peak_gib": peak / 2**30,
        "dealer_calls": dealt[0],
        "dealer_bytes_a_text": dealt[1] / texts,
        **_compared(data, network, said),
    }


def _timed(client: ClassifyClient, x: NDArray[Any], size: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Labels, and the seconds of each batch."""
    said, seconds = list[int](), list[float]()
    for start in range(0, len(x), size):
        began = time.perf_counter()
        said += [answer.label for answer in client.ask_batch(x[start : start + size])]
        seconds.append(time.perf_counter() - began)
    return np.array(said), np.array(seconds)


def _by_length(seconds: NDArray[np.float64], lengths: NDArray[np.int64]) -> dict[str, Any]:
    """The median seconds of the longer half of the texts over those of the shorter half."""
    order = np.argsort(lengths, kind="stable")
    short, long = np.median(seconds[order[: len(order) // 2]]), np.median(seconds[order[len(order) // 2 :]])
    return {"long_over_short": float(long / short), "median_letters": float(np.median(lengths))}


def _compared(data: Path, network: str, said: NDArray[np.int64]) -> dict[str, int]:
    """Secure labels beside the plain ones, those in fixed point, and the truth."""
    classifier, test = trained(data, network, "sentence", 0)
    x, truth = encoded(data, "sentence")[test][: len(said)], read_reviews(data).positive[test][: len(said)]
    clear = labels(scores(classifier.shape, classifier.arrays, x))
    oracle = labels(oracle_scores(classifier.shape, classifier.arrays, x))
    return {
        "agree": int((said == clear).sum()),
        "agree_oracle": int((said == oracle).sum()),
        "correct": int((said == truth).sum()),
        "correct_plain": int((clear == truth).sum()),
        "tries": len(said),
    }


def _cpu(client: ClassifyClient) -> float:
    return cpu_seconds(client.engine.process.pid)


def agreement(data: Path, *, trust: str, answer: str, texts: int, network: str) -> dict[str, Any]:
    """Do secure labels of so many reviews agree with plain ones? In batches, as a file is asked for."""
    classifier, test = trained(data, network, "sentence", 0)
    x = encoded(data, "sentence")[test][:texts]
    with local_parties(classifier, trust) as parties, parties.connect([BATCH], answer) as client:
        said, seconds = _timed(client, x, BATCH)
    return {**_compared(data, network, said), "a_text": float(seconds.sum()) / texts}


def extraction(data: Path, *, queries: int, network: str, draw: int) -> dict[str, Any]:
    """How often a copy agrees that was trained on the labels of so many reviews."""
    from textveil.attacks.mpc.extraction import ExtractionAttack
    from textveil.attacks.mpc.seen import LabelsSeen
    from textveil.noise import seeded

    asked = LabelsSeen(encoded(data, "sentence"), answers(data, network))
    found = ExtractionAttack(queries).run(asked, rng=seeded(draw))
    return {"agreement": found.value, "hits": found.hits, "tries": found.tries, "majority": found.chance}


__all__ = ["agreement", "encoding", "extraction", "plain", "secure", "stars"]
