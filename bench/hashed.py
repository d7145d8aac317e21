"""Hashed features and training beside python-crfsuite's feature dictionaries: `python bench/hashed.py [--quick]`.

Each part runs in a process of its own, so that its largest memory is its own: imports, features, the trainer's copy
of them, training. The text is drawn from a Zipf law over invented words, the same for all parts. Both sides use the
same tokens and the same twelve features a token. `feature_speed_over_dicts` compares text -> features as the trainer
reads them (ours: arrays of slots; theirs: a list of dictionaries, appended to crfsuite's trainer, which copies them);
the dictionaries alone, before that copy, are `feature_speed_before_copy`. `feature_memory_over_dicts` compares the
whole processes after training. With the evaluation data (TEXTVEIL_DATA or ../shared/data), one clause type is trained
on all of CUAD.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from textveil.hashed.corpus import Corpus, label_tokens
from textveil.hashed.features import feature_keys, folded
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.segments import tokenize

WORDS_A_DOCUMENT, TERMS, BITS = 5_000, 100_000, 21
CLAUSE = "This paper is governed by the laws of the state of {} without regard to conflicts."
EPOCHS = 5


def documents(words: int) -> Iterator[tuple[str, list[tuple[int, int, int]]]]:
    """Documents of invented words in sentences and paragraphs, one marked clause in each."""
    rng = np.random.default_rng(1)
    names = np.array(["".join("bdfgklmnprst"[d] + "aeiou"[d % 5] for d in map(int, f"{n:05d}")) for n in range(TERMS)])
    odds = 1 / (np.arange(TERMS) + 2.7)
    odds = np.cumsum(odds / odds.sum())
    for _ in range(max(1, words // WORDS_A_DOCUMENT)):
        drawn = names[np.searchsorted(odds, rng.random(WORDS_A_DOCUMENT)).clip(0, TERMS - 1)]
        sentences = [" ".join(s).capitalize() + "." for s in np.split(drawn, range(25, WORDS_A_DOCUMENT, 25))]
        parts = ["  ".join(sentences[k : k + 4]) for k in range(0, len(sentences), 4)]
        clause = CLAUSE.format(names[rng.integers(1000)])
        parts.insert(int(rng.integers(len(parts))), clause)
        text = "\n\n".join(parts)
        yield text, [(text.index(clause), text.index(clause) + len(clause), 1)]


def gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def ours(words: int) -> dict[str, float]:
    """Text to slots, then training."""
    from textveil.hashed.extractor import Extractor

    plan = FeaturePlan(bits=BITS)
    for text, spans in documents(1):
        Corpus(FeaturePlan(bits=8)).add(text, spans)  # loads what was compiled before
    corpus, took = Corpus(plan), 0.0
    for text, spans in documents(words):
        began = time.process_time()
        corpus.add(text, spans)
        took += time.process_time() - began
    began = time.process_time()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Extractor(plan=plan, epochs=EPOCHS).fit_corpus(corpus, ("O", "LAW"))
    return {
        "words": corpus.tokens,
        "features": took,
        "training": time.process_time() - began,
        "gigabytes": gigabytes(),
    }


def dicts(words: int) -> dict[str, float]:
    """Text to dictionaries, crfsuite's copy of them, then training."""
    import pycrfsuite

    from textveil.hashed.clusters import cluster_of

    plan = FeaturePlan(bits=BITS)
    cluster_of(["load them"])
    trainer = pycrfsuite.Trainer(algorithm="pa", verbose=False)
    trainer.set_params({"max_iterations": EPOCHS})
    build = append = 0.0
    count = 0
    for text, spans in documents(words):
        began = time.process_time()
        tokens = tokenize(text)
        names = folded(tokens.words, plan)
        clusters = cluster_of(names).tolist()
        rows = []
        for begin, end in zip(tokens.sentences.tolist(), tokens.sentences[1:].tolist(), strict=False):
            rows += [dict.fromkeys(feature_keys(names, clusters, i, begin, end, plan), 1.0) for i in range(begin, end)]
        labels = ["OL"[y] for y in label_tokens(tokens, spans)]
        build += time.process_time() - began
        began = time.process_time()
        for first, last in zip(tokens.paragraphs.tolist(), tokens.paragraphs[1:].tolist(), strict=False):
            trainer.append(rows[first:last], labels[first:last])
        append += time.process_time() - began
        count += len(names)
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/model")
    took = time.process_time() - began
    return {"words": count, "features": build, "append": append, "training": took, "gigabytes": gigabytes()}


def use(words: int) -> dict[str, float]:
    """Sealing, opening and applying a model of 2^21 x 2."""
    import warnings

    from textveil.hashed import Extractor, load
    from textveil.hashed.seal import seal

    made = list(documents(words))
    texts = [text for text, _ in made]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Extractor(plan=FeaturePlan(bits=BITS), epochs=2).fit(
            texts, [[s[:2] for s in spans] for _, spans in made]
        )
    seal(model.table_)
    began = time.perf_counter()
    sealed = seal(model.table_)
    sealing = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as folder:
        model.with_table(sealed).save(f"{folder}/m")
        load(f"{folder}/m").predict(texts[:1])
        began = time.perf_counter()
        opened = load(f"{folder}/m")
        opening = time.perf_counter() - began
        began = time.process_time()
        sizes = [opened.extract_counted(text)[1] for text in texts]
        took = time.process_time() - began
    return {"seal": sealing, "open": opening, "words_per_second": sum(sizes) / took}


def cuad(_: int) -> dict[str, float]:
    """One clause type, trained on all contracts there are."""
    from textveil.hashed import Extractor

    folder = data_folder()
    assert folder is not None
    began = time.perf_counter()
    spans: dict[str, list[tuple[int, int, int]]] = {}
    with gzip.open(folder / "annotations.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["clause"] == "Governing Law":
                spans.setdefault(row["id"], []).append((row["start"], row["end"], 1))
    corpus = Corpus(FeaturePlan(bits=BITS))
    with gzip.open(folder / "contracts.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            corpus.add(row["text"], spans.get(row["id"], []))
    Extractor(plan=corpus.plan).fit_corpus(corpus, ("O", "LAW"))
    return {"words": corpus.tokens, "seconds": time.perf_counter() - began, "gigabytes": gigabytes()}


def costs(words: int) -> dict[str, float]:
    """Costs of all terms of a corpus."""
    import warnings

    from textveil.hashed import Extractor
    from textveil.hashed.seal import SealPlan, prepare
    from textveil.hashed.term_counts import term_costs, term_features

    made = list(documents(words))
    plan = FeaturePlan(bits=BITS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Extractor(plan=plan, epochs=1).fit([t for t, _ in made], [[s[:2] for s in spans] for _, spans in made])
    began = time.perf_counter()
    ready = prepare(model.table_, SealPlan())
    found = term_features((t for t, _ in made), plan)
    shown = term_costs(ready, found)
    return {"terms": len(shown.terms), "seconds": time.perf_counter() - began, "gigabytes": gigabytes()}


PARTS = {"ours": ours, "dicts": dicts, "use": use, "cuad": cuad, "costs": costs}


def data_folder() -> Path | None:
    named = os.environ.get("TEXTVEIL_DATA")
    folder = (Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data") / "cuad"
    return folder if folder.is_dir() else None


def run(part: str, words: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--part", part, "--words", str(words)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="a million words, no corpus of 20 million, no costs of all terms"
    )
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--words", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        print(json.dumps(PARTS[options.part](options.words)))
        return
    words = 1_000_000 if options.quick else 2_000_000
    print(
        f"{words:,} words, 12 features a token, 2^{BITS} slots, {EPOCHS} passes; seconds of processor time", flush=True
    )
    run("ours", WORDS_A_DOCUMENT)  # compiles once, so that nobody's figures hold it
    mine, theirs = run("ours", words), run("dicts", words)
    print(
        f"ours      features {mine['features']:7.1f} s   training {mine['training']:7.1f} s   {mine['gigabytes']:.2f} GB"
    )
    print(
        f"crfsuite  features {theirs['features']:7.1f} s   training {theirs['training']:7.1f} s"
        f"   {theirs['gigabytes']:.2f} GB   its own copy of the features {theirs['append']:.1f} s"
    )
    before_copy = theirs["features"] / mine["features"]
    ready = (theirs["features"] + theirs["append"]) / mine["features"]
    print(f"features {ready:.1f}x as fast ({before_copy:.1f}x before crfsuite copies its own)", flush=True)
    used = run("use", 300_000)
    print(f"sealing 2^{BITS} x 2: {used['seal']:.2f} s; opening a model: {used['open'] * 1000:.0f} ms", flush=True)
    print(f"extraction: {used['words_per_second']:,.0f} words a second on one core", flush=True)
    ratios = {
        "feature_speed_over_dicts": ready,
        "feature_speed_before_copy": before_copy,
        "feature_memory_over_dicts": mine["gigabytes"] / theirs["gigabytes"],
        "seal_seconds": used["seal"],
        "words_per_second": used["words_per_second"],
        "open_seconds": used["open"],
    }
    if data_folder() is not None:
        real = run("cuad", 0)
        print(
            f"CUAD, Governing Law: {real['words']:,} words in {real['seconds']:.0f} s, {real['gigabytes']:.2f} GB",
            flush=True,
        )
        ratios |= {"cuad_seconds": real["seconds"], "cuad_gigabytes": real["gigabytes"]}
    if not options.quick:
        large = run("ours", 20_000_000)
        took = large["features"] + large["training"]
        print(f"{large['words']:,} words: {took:.0f} s, {large['gigabytes']:.2f} GB", flush=True)
        every = run("costs", 4_000_000)
        print(
            f"costs of all {every['terms']:,} terms of 4 million words: {every['seconds']:.0f} s, {every['gigabytes']:.2f} GB"
        )
        ratios |= {"large_gigabytes": large["gigabytes"], "cost_seconds": every["seconds"]}
    print(json.dumps({"room": "hashed", "ratios": {name: round(value, 4) for name, value in ratios.items()}}))


if __name__ == "__main__":
    main()
