"""Recognisers beside stock Presidio: `python bench/pii.py [--quick]`.

Presidio runs its predefined pattern recognisers on a blank spaCy pipeline (no model), in this process, on the same texts.
Speed: words a second of the processor of both, each the best of a few rounds, over the texts of pii_presidio where the
evaluation data is there (TEXTVEIL_DATA or ../shared/data), else over invented letters. Quality, with that data: F1 of exact
spans by entity, of Presidio at its default threshold and at 0.5, whichever is better for it, and the 95 % interval of the
difference (bootstrap over documents). The hashed chain is trained on CoNLL-2003 where it is there, else on invented letters.
Names: PERSON on the same sentences, of the hashed chain with the patterns, of capitalised words, and, where `make names-peer`
has made its environment, of an old spaCy model (bench/pii_names_peer.py), which was trained on far more text.
Noisy labels: a fifth of the training spans has another label, with a score that says how doubtful each is;
the chain with and without these confidences.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from textveil.pii.bio import read_bio
from textveil.pii.capitals import CapitalNames
from textveil.pii.patterns import PatternRecogniser
from textveil.pii.presidio import PresidioFinder, blank_engine
from textveil.pii.tagger.tagger import Tagger
from textveil.text.spans import Span, without_overlaps

DATA = Path(os.environ.get("TEXTVEIL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
ENTITIES = (
    "CREDIT_CARD", "EMAIL_ADDRESS", "IBAN_CODE", "IP_ADDRESS", "PHONE_NUMBER", "US_SSN", "URL", "DATE_TIME",
    "US_DRIVER_LICENSE",
)  # fmt: skip
SAME = {"DOMAIN_NAME": "URL"}
RESAMPLED, NOISY = 1000, 0.2
HERE = Path(__file__).resolve().parent
NAMES_PYTHON = Path(os.environ.get("TEXTVEIL_NAMES_PYTHON", HERE.parent / ".venv-names" / "bin" / "python"))


def invented(count: int) -> list[str]:
    """Letters of nobody."""
    rng = np.random.default_rng(3)
    words = "the bank letter was sent because our account has been closed since monday and nobody answers".split()
    lines = []
    for n in range(count):
        plain = " ".join(rng.choice(words, 30))
        lines.append(f"Dear Anna Meyer{n}, {plain}. Mail a{n}@example.org or call +49 30 {rng.integers(10**6, 10**7)}.")
    return lines


def marked_rows() -> list[tuple[str, list[Span]]]:
    """The texts of pii_presidio with their spans; empty without the data."""
    rows = []
    for name in ("synth_v2", "generated_large"):
        path = DATA / "pii_presidio" / f"{name}.jsonl.gz"
        if path.exists():
            with gzip.open(path, "rt", encoding="utf-8") as file:
                for line in file:
                    row = json.loads(line)
                    spans = [Span(s["start"], s["end"], SAME.get(s["type"], s["type"])) for s in row["spans"]]
                    rows.append((row["text"], spans))
    return rows


def words_a_second(find: Callable[[Sequence[str]], Any], texts: Sequence[str], rounds: int) -> float:
    """The best of some rounds, by processor time: both run in one thread, and a busy machine slows neither more."""
    words, best = sum(len(text.split()) for text in texts), float("inf")
    for _ in range(rounds):
        start = time.process_time()
        find(texts)
        best = min(best, time.process_time() - start)
    return words / best


def counts_of(found: Sequence[Sequence[Span]], truth: Sequence[Sequence[Span]], label: str) -> np.ndarray:
    """Right, found and marked spans of a label, by document."""
    rows = []
    for mine, theirs in zip(found, truth, strict=True):
        a = {(s.start, s.end) for s in mine if s.label == label}
        b = {(s.start, s.end) for s in theirs if s.label == label}
        rows.append((len(a & b), len(a), len(b)))
    return np.array(rows)


def f1(counts: np.ndarray) -> float:
    right, found, marked = counts.sum(axis=0)
    return 2 * right / (found + marked) if found + marked else 0.0


def difference(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of our F1 less theirs, over documents drawn again."""
    rng, gaps = np.random.default_rng(7), []
    for _ in range(RESAMPLED):
        chosen = rng.integers(len(ours), size=len(ours))
        gaps.append(f1(ours[chosen]) - f1(theirs[chosen]))
    low, high = np.quantile(gaps, (0.025, 0.975))
    return float(low), float(high)


def quality(rows: list[tuple[str, list[Span]]], engine: Any) -> dict[str, dict[str, Any]]:
    """F1 by entity, ours and Presidio's, with the interval of the difference."""
    texts, truth = [t for t, _ in rows], [s for _, s in rows]
    ours = PatternRecogniser().find(texts)
    presidio = [PresidioFinder(engine, least).find(texts) for least in (0.0, 0.5)]
    shown = {}
    print(f"{'entity':<20}{'marked':>8}{'ours':>8}{'presidio':>10}   difference [95 %]")
    for label in ENTITIES:
        mine = counts_of(ours, truth, label)
        theirs = max((counts_of(found, truth, label) for found in presidio), key=f1)
        low, high = difference(mine, theirs)
        marked = int(mine[:, 2].sum())
        shown[label] = {"marked": marked, "ours": f1(mine), "presidio": f1(theirs), "interval": [low, high]}
        gap = f"{f1(mine) - f1(theirs):+.3f} [{low:+.3f}, {high:+.3f}]"
        print(f"{label:<20}{marked:>8}{f1(mine):>8.3f}{f1(theirs):>10.3f}   {gap}")
    return shown


def conll(name: str, most: int) -> tuple[list[str], list[list[Span]]]:
    """Sentences of CoNLL-2003, or invented letters."""
    path = DATA / "conll2003" / name
    if not path.exists():
        texts = invented(min(most, 400))
        return texts, [[Span(5, t.index(","), "PERSON")] for t in texts]
    documents = [d for _, d in zip(range(most), read_bio(path), strict=False)]
    return [d.text for d in documents], [d.spans(repair=True) for d in documents]


def names(rows: list[tuple[str, list[Span]]], tagger: Tagger) -> dict[str, float]:
    """F1 of PERSON by several recognisers; the difference to the old model, with its interval, where that is there."""
    texts, truth = [t for t, _ in rows], [s for _, s in rows]
    chain_found = [[_as_person(s) for s in spans if s.label in ("PER", "PERSON")] for spans in tagger.find(texts)]
    patterns = [[s for s in spans if s.label == "PERSON"] for spans in PatternRecogniser().find(texts)]
    both = [without_overlaps([*a, *b]) for a, b in zip(patterns, chain_found, strict=True)]
    found = {"chain": both, "capitals": CapitalNames().find(texts)}
    scores = {name: counts_of(spans, truth, "PERSON") for name, spans in found.items()}
    shown = {f"names_f1_{name}": f1(counts) for name, counts in scores.items()}
    peer = old_model(texts)
    if peer is not None:
        theirs = counts_of(peer[0], truth, "PERSON")
        low, high = difference(scores["chain"], theirs)
        shown |= {"names_f1_spacy_sm_225": f1(theirs), "names_over_spacy_low": low, "names_over_spacy_high": high}
        words = sum(len(text.split()) for text in texts)
        shown["names_words_over_spacy"] = words_a_second(tagger.find, texts, 2) / (words / peer[1])
    print("names (PERSON):", ", ".join(f"{name} {value:.3f}" for name, value in shown.items()))
    return shown


def _as_person(span: Span) -> Span:
    return Span(span.start, span.end, "PERSON", span.score)


def old_model(texts: Sequence[str]) -> tuple[list[list[Span]], float] | None:
    """What the old spaCy model finds, and its seconds; nothing where its environment is not there."""
    if not NAMES_PYTHON.exists():
        print("names: no old spaCy model here (make names-peer)")
        return None
    alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"OMP_NUM_THREADS": "1"}
    command = [str(NAMES_PYTHON), str(HERE / "pii_names_peer.py")]
    said = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True, env=alone)
    answer = json.loads(said.stdout)
    return [[Span(a, b, "PERSON") for a, b in spans] for spans in answer["spans"]], answer["seconds"]


def chain(quick: bool, rows: list[tuple[str, list[Span]]]) -> dict[str, Any]:
    """The hashed chain: speed on one core, F1, names, and what confidences of noisy labels are worth."""
    texts, spans = conll("eng.train.gz", 3_000 if quick else 15_000)
    fresh, truth = conll("eng.testa.gz", 3_500)
    epochs = 3 if quick else 8
    tagger = Tagger(epochs=epochs, seed=1).fit(texts, spans)
    tagger.find(fresh[:10])
    speed = words_a_second(tagger.find, fresh, 3)
    scores: dict[str, Any] = {"clean": _score(tagger, fresh, truth)}
    noisy = _spoilt(spans)
    for noise in ("ignore", "channel"):
        scores[noise] = _score(Tagger(epochs=epochs, seed=1, noise=noise).fit(texts, noisy), fresh, truth)
    print(f"hashed chain: {speed:,.0f} words a second; F1 {scores['clean']:.3f}, of a fifth noisy labels: "
          f"{scores['ignore']:.3f} taken for right, {scores['channel']:.3f} with their confidences")  # fmt: skip
    return {"speed": speed, **scores, "names": names(rows, tagger) if rows else {}}


def _score(tagger: Tagger, texts: list[str], truth: list[list[Span]]) -> float:
    found = tagger.find(texts)
    return f1(sum(counts_of(found, truth, label) for label in tagger.labels))  # type: ignore[arg-type]


def _spoilt(spans: list[list[Span]]) -> list[list[Span]]:
    """A fifth of the spans has a wrong label; scores are drawn so that they say which, but not surely."""
    rng = np.random.default_rng(11)
    labels = [*sorted(Counter(s.label for own in spans for s in own)), "PERSON"]
    spoilt = []
    for own in spans:
        row = []
        for s in own:
            wrong = rng.random() < NOISY
            label = str(rng.choice([x for x in labels if x != s.label])) if wrong else s.label
            row.append(Span(s.start, s.end, label, float(rng.uniform(0.2, 0.7) if wrong else rng.uniform(0.5, 1.0))))
        spoilt.append(row)
    return spoilt


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds and sentences")
    options = parser.parse_args()
    rows, engine, rounds = marked_rows(), blank_engine(), 2 if options.quick else 4
    texts = [text for text, _ in rows] or invented(1000)
    theirs_on = texts[: 600 if options.quick else 1500]
    ours = words_a_second(PatternRecogniser().find, texts, 2 * rounds)
    ours_there = words_a_second(PatternRecogniser().find, theirs_on, 2 * rounds)
    theirs = words_a_second(PresidioFinder(engine, 0.0).find, theirs_on, rounds)
    print(
        f"patterns: {ours:,.0f} words a second (all texts); {ours_there:,.0f} beside Presidio's {theirs:,.0f} on the same"
    )
    entities = quality(rows, engine) if rows else {}
    if not rows:
        print("F1 by entity: not measured, the evaluation data is not here")
    learnt = chain(options.quick, rows)
    ratios = {
        "words_over_presidio": ours_there / theirs,
        "patterns_words_per_second": ours,
        "crf_words_per_second": learnt["speed"],
        "crf_f1": learnt["clean"],
        "noisy_f1_ignored": learnt["ignore"],
        "noisy_f1_channel": learnt["channel"],
        **learnt["names"],
        **{f"f1_over_presidio_low_{label.lower()}": entry["interval"][0] for label, entry in entities.items()},
    }
    print(json.dumps({"room": "pii", "ratios": {k: round(v, 4) for k, v in ratios.items()}, "entities": entities}))


if __name__ == "__main__":
    main()
