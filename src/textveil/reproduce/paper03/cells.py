"""Paper 03 in cells: what privacy costs in accuracy, what a membership attack finds, geometry, sizes, time.

Target models learn from veiled reviews and read clear ones, as in the paper (privatised training data, a separate test set).
The membership adversary knows the mechanism: it veils its own texts before it trains the shadow, and asks about clear ones.
"""

from __future__ import annotations

import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from textveil.attacks.words.bayes import BayesAttack
from textveil.noise.bits import flip_probability
from textveil.noise.source import seeded
from textveil.recipes.words.channel import WordChannel
from textveil.reproduce import datasets
from textveil.reproduce.datasets import Labelled
from textveil.text import tokens
from textveil.text.codes import Codes, hamming
from textveil.text.vectors import Vectors
from textveil.words import BRR, Laplace
from textveil.words.geometry import distances, euclidean_diameter
from textveil.words.search import HammingSearch

NONE = "none"  # the baseline: texts as they are


# ---- geometry: the privacy ratio of Definition 5.1 ------------------------------------------------------------------


def geometry(data: Path | None, *, sample: int, seed: int) -> dict[str, Any]:
    """P_avg and P_max of both metrics on the bundled vectors, and the ratios that turn a Laplace epsilon into one of BRR."""
    vectors = datasets.bundled()
    codes = _codes(vectors)
    euclid, bits = _average_euclidean(vectors, sample, seed), _average_hamming(codes)
    farthest = codes.bits - int(HammingSearch(codes.words64, codes.bits).distances_min(_complement(codes)).min())
    longest = euclidean_diameter(vectors)
    return {
        "euclidean": {"avg": euclid, "max": longest},
        "hamming": {"avg": bits, "max": farthest, "bits": codes.bits},
        "ratio_avg": euclid / bits,
        "ratio_max": longest / farthest,
        "words": len(vectors),
    }


def brr_epsilon(epsilon: float) -> float:
    """The BRR epsilon of equal P_avg loss."""
    return epsilon * _ratio()


@lru_cache(maxsize=1)
def _ratio() -> float:
    vectors = datasets.bundled()
    return _average_euclidean(vectors, 4_000, 0) / _average_hamming(_codes(vectors))


def _average_euclidean(vectors: Vectors, sample: int, seed: int) -> float:
    """Over all pairs of a random sample of words (the paper's sum counts a word with itself too)."""
    rows = seeded(seed).permutation(len(vectors))[:sample]
    points = vectors.matrix[rows].astype(np.float64)
    return float(np.mean([distances(points[i : i + 500], points).mean() for i in range(0, len(points), 500)]))


def _average_hamming(codes: Codes) -> float:
    """Over all pairs, exactly: bit j differs with chance 2 p_j (1 - p_j)."""
    ones = codes.unpacked().mean(axis=0)
    return float((2 * ones * (1 - ones)).sum())


def _complement(codes: Codes) -> np.ndarray:
    """Codes with every bit turned: the farthest word of w is the nearest to the complement of w."""
    flipped = ~codes.words64
    if codes.bits % 64:
        flipped[:, -1] &= np.uint64((1 << (codes.bits % 64)) - 1)
    return flipped


def _codes(vectors: Vectors) -> Codes:
    assert vectors.codes is not None
    return vectors.codes


def certificate(data: Path | None, *, bits: int, words: int, epsilon: float, seed: int) -> dict[str, Any]:
    """Theorem 3 by enumeration: every code of a few bits, ties shared equally."""
    noise = seeded(seed)
    codes = noise.below(2**bits, (words, 1)).astype(np.uint64)
    noised = np.arange(2**bits, dtype=np.uint64)[:, None]
    distance = hamming(noised[:, None, :], codes[None])  # (noised, words)
    nearest = distance == distance.min(axis=1, keepdims=True)
    choice = nearest / nearest.sum(axis=1, keepdims=True)
    flip = float(flip_probability(epsilon))
    law = (flip**distance * (1 - flip) ** (bits - distance)).T @ choice
    excess = np.log(law)[:, None, :] - np.log(law)[None] - epsilon * hamming(codes[:, None], codes[None])[:, :, None]
    return {"worst": float(excess.max())}


# ---- targets: accuracy and membership -------------------------------------------------------------------------------


def target(
    data: Path,
    *,
    mechanism: str,
    epsilon: float,
    seed: int,
    documents: int,
    tested: int,
    own: int,
    most_words: int,
    epochs: int,
    pairs: int,
) -> dict[str, Any]:
    """One model trained on veiled reviews: its accuracy on clear ones, and the shadow attack on it.

    `epsilon` is Laplace's; BRR's follows by the ratio of average distances. Members and outsiders are drawn from the same
    file, so that nothing but membership sets them apart.
    """
    train = _cut(datasets.reviews(data, "train").sample(2 * documents, seed), most_words)
    members, outsiders = train.take(np.arange(documents)), train.take(np.arange(documents, len(train.texts)))
    dev = _cut(datasets.reviews(data, "dev").sample(max(tested, own), seed), most_words)
    model = _learner(mechanism, epsilon, seed, epochs, pairs)
    query = model(members.texts, members.labels)
    test = dev.take(np.arange(min(tested, len(dev.texts))))
    accuracy = float(np.mean((query(test.texts)[:, 1] > 0.5) == test.labels))
    found = _membership(query, model, dev.take(np.arange(min(own, len(dev.texts)))), members, outsiders, seed)
    return {"accuracy": accuracy, "auc": found.value, "tested": len(test.texts), "members": documents}


def _cut(texts: Labelled, most_words: int) -> Labelled:
    return Labelled([datasets.first_words(text, most_words) for text in texts.texts], texts.labels)


def _learner(mechanism: str, epsilon: float, seed: int, epochs: int, pairs: int) -> Any:
    """texts, labels -> a model to query; it veils what it learns from. Fresh noise at every call."""
    sources = iter(seeded(seed).spawn(64))

    def learn(texts: list[str], labels: Any) -> Any:
        from textveil.nets.fasttext import FastText

        if mechanism != NONE:
            texts = mechanism_of(mechanism, epsilon).apply(texts, noise=next(sources))
        return FastText(epochs=epochs, pairs=pairs, seed=seed).fit(list(texts), np.asarray(labels)).predict_proba

    return learn


@lru_cache(maxsize=4)
def mechanism_of(name: str, epsilon: float) -> Any:
    """A mechanism on the bundled vectors, at a Laplace epsilon."""
    if name == "laplace":
        return Laplace(epsilon).fit(datasets.bundled())
    return BRR(brr_epsilon(epsilon)).fit(datasets.bundled())


def _membership(query: Any, learn: Any, own: Labelled, members: Labelled, outsiders: Labelled, seed: int) -> Any:
    from textveil.attacks import exposure
    from textveil.attacks.words.shadow import ShadowAttack

    count = min(len(members.texts), len(outsiders.texts))
    texts = members.texts[:count] + outsiders.texts[:count]
    labels = [*members.labels[:count].tolist(), *outsiders.labels[:count].tolist()]
    seen = exposure.AnswersSeen(
        query=query,
        retrain=learn,
        own=exposure.Labelled(own.texts, own.labels.tolist()),
        candidates=exposure.Labelled(texts, labels),
        truth=exposure.Members.first(count, count),
    )
    return ShadowAttack().run(seen, rng=seeded(seed + 1_000_003))


# ---- the honest axis: what the best adversary guesses ---------------------------------------------------------------


def attack(data: Path, *, mechanism: str, epsilon: float, seed: int, draws: int) -> dict[str, Any]:
    """Success of the optimal adversary on single words of IMDb, who knows their frequencies."""
    vectors = datasets.bundled()
    prior = _frequencies(data, vectors)
    from textveil.attacks.words.seen import WordsSeen

    channel = WordChannel(mechanism_of(mechanism, epsilon), prior)
    seen = WordsSeen(list(vectors.words), prior, channel)
    found = BayesAttack(draws=draws, bound_draws=0).run(seen, rng=seeded(seed))
    low, high = found.interval()
    return {"success": found.value, "low": low, "high": high, "chance": found.chance, "tries": found.tries}


@lru_cache(maxsize=1)
def _frequencies(data: Path, vectors: Vectors) -> np.ndarray:
    counts = np.zeros(len(vectors))
    for text in datasets.reviews(data, "train").texts[:4_000]:
        for word in tokens.words(text):
            row = vectors.index(tokens.fold(word))
            if row is not None:
                counts[row] += 1
    return counts / counts.sum()


# ---- size and time --------------------------------------------------------------------------------------------------


def sizes(data: Path, *, bits: int) -> dict[str, Any]:
    """Bytes of what each mechanism must hold, for the bundled vectors (100-d) and for word2vec (300-d)."""
    bundled = datasets.bundled()
    wide = datasets.embedding(data, "word2vec")
    found = {}
    for name, vectors in (("100", bundled), ("300", wide)):
        # a file of codes has the same size whatever the bits are, so they need not be learnt here
        random = seeded(0).words(len(vectors) * bits // 64).reshape(len(vectors), bits // 64)
        codes = Codes.from_packed(vectors.words, random, bits)
        found[name] = {
            "words": len(vectors),
            "index_codes": codes.words64.nbytes,
            "index_floats": vectors.matrix.nbytes,
            **_file_sizes(codes, vectors),
        }
    return found


def _file_sizes(codes: Codes, vectors: Vectors) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        codes.save(Path(folder) / "codes.tvc")
        plain = Vectors(vectors.words, vectors.matrix, vectors.fallback, vectors.prior)
        plain.save(Path(folder) / "floats.tvv")
        return {
            "file_codes": (Path(folder) / "codes.tvc").stat().st_size,
            "file_floats": (Path(folder) / "floats.tvv").stat().st_size,
        }


def speed(data: Path, *, dimensions: int, epsilon: float, words: int, repeats: int) -> dict[str, Any]:
    """Seconds a word of both mechanisms on one thread, taken in turns, over vocabularies of equal size.

    The noise scale of the 300-d vectors is set by the same epsilon times their diameter's ratio, but it hardly matters: the
    search is a scan of the whole vocabulary.
    """
    wide = datasets.embedding(data, "word2vec")
    vectors = wide if dimensions == 300 else datasets.bundled().head(len(wide))
    laplace = Laplace(epsilon).fit(vectors)
    brr = BRR(brr_epsilon(epsilon)).fit(datasets.bundled().head(len(wide)))
    noise = seeded(0)
    rows = noise.below(len(vectors), words)
    for mechanism in (laplace, brr):
        mechanism.draw(rows[:256], noise)  # compile and build
    seconds: dict[str, list[float]] = {"laplace": [], "brr": []}
    for _ in range(repeats):
        for name, mechanism in (("laplace", laplace), ("brr", brr)):
            start = time.perf_counter()
            mechanism.draw(rows, noise)
            seconds[name].append((time.perf_counter() - start) / words)
    return {"seconds_a_word": seconds, "vocabulary": len(vectors)}
