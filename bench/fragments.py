"""Alignment and extraction beside eflomal and NLTK: `python bench/fragments.py [--quick]`.

Both aligners see the same sentence pairs, in this process tree, both directions; CPU seconds of the process and its
children are counted (eflomal, GPLv3, is run as a command of its own, where it is installed). Links are compared after
symmetrisation: F1 of ours against eflomal's; there are no gold links here. Both models of ours are measured;
`align_over_eflomal` and `link_f1` (union) are those of the HMM, whose links come close to eflomal's. Extraction: the
phrases of the same links as strings, ours and NLTK's `phrase_extraction`, and the share of phrases that both have.
Sentence pairs are those of general-de-en and nmt-confidential-de-en where the evaluation data is there (TEXTVEIL_DATA
or ../shared/data), else invented ones.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from textveil.fragments.aligner import MODELS, SYMMETRY, Aligner, Directions, Links, corpus_of, symmetrise
from textveil.fragments.eflomal import eflomal_directions
from textveil.fragments.phrases import extract, texts_of
from textveil.fragments.sentences import Side, WordNumbers, side_of

DATA = Path(os.environ.get("TEXTVEIL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
FILES = (
    *(f"nmt-confidential-de-en/{domain}/train.jsonl.gz" for domain in ("EMEA", "GNOME", "JRC")),
    "general-de-en/wmt_demo.jsonl.gz", "general-de-en/multi30k.train.jsonl.gz", "general-de-en/tatoeba.train.jsonl.gz",
    "general-de-en/debian_l10n.train.jsonl.gz",
)  # fmt: skip
LONGEST = 7
CLOSEST = "hmm"  # of our models: the one that is set beside eflomal


def sentence_pairs(count: int) -> list[tuple[str, str]]:
    """The first pairs of at most 100 words a side; every file gives its share."""
    paths = [DATA / name for name in FILES if (DATA / name).exists()]
    if not paths:
        rng = np.random.default_rng(1)
        words = [rng.zipf(1.3, rng.integers(5, 30)) % 20_000 for _ in range(count)]
        return [(" ".join(f"s{w}" for w in row), " ".join(f"t{w}" for w in row)) for row in words]
    pairs = []
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for _, line in zip(range(count), lines, strict=False)]
        pairs += [(r["de"], r["en"]) for r in rows if max(len(r["de"].split()), len(r["en"].split())) <= 100]
    step = max(1, len(pairs) // count)
    return pairs[::step][:count]


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """The result, wall seconds, and CPU seconds of this process and the children that ended."""

    def cpu() -> float:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(u.ru_utime + u.ru_stime for u in used)

    wall, before = time.perf_counter(), cpu()
    result = work()
    return result, time.perf_counter() - wall, cpu() - before


def our_directions(source: Side, target: Side, model: str) -> Directions:
    words = WordNumbers(), WordNumbers()
    corpus = corpus_of(source, target, words)
    aligner = Aligner(model=model).fit(corpus, words)
    return aligner.directions(corpus.source, corpus.source_starts, corpus.target, corpus.target_starts)


def ours(source: Side, target: Side, model: str) -> Links:
    return symmetrise(*our_directions(source, target, model), source.starts, target.starts, "union")


def words_of(side: Side) -> list[list[str]]:
    return [side.words[a:b] for a, b in pairwise(side.starts.tolist())]


def link_f1s(ours: Directions, theirs: Directions, source: Side, target: Side) -> dict[str, float]:
    """F1 of the links after each symmetrisation."""
    joined = {
        method: [symmetrise(*each, source.starts, target.starts, method) for each in (ours, theirs)]
        for method in SYMMETRY
    }
    return {method: link_f1(*links) for method, links in joined.items()}


def link_f1(first: Links, second: Links) -> float:
    """Links that both have, of all."""
    sets = []
    for links in (first, second):
        pair = np.repeat(np.arange(len(links.starts) - 1), np.diff(links.starts))
        sets.append((pair.astype(np.int64) << 32) + (links.source.astype(np.int64) << 16) + links.target)
    return 2 * len(np.intersect1d(*sets)) / max(len(sets[0]) + len(sets[1]), 1)


Phrase = tuple[int, int, int, int, int, str, str]  # sentence, from and to on both sides, and the texts


def nltk_phrases(source: Side, target: Side, links: Links) -> set[Phrase]:
    from nltk.translate.phrase_based import phrase_extraction

    phrases = set()
    for place, (s, t) in enumerate(zip(words_of(source), words_of(target), strict=True)):
        for first, second, a, b in phrase_extraction(" ".join(s), " ".join(t), links_of(links, place), LONGEST):
            phrases.add((place, *first, *second, a, b))
    return phrases


def our_phrases(source: Side, target: Side, links: Links) -> set[Phrase]:
    spans = extract(source.starts, target.starts, links, LONGEST)
    return {*zip(*spans.T.tolist(), *texts_of(spans, source, target), strict=True)}


def links_of(links: Links, place: int) -> list[tuple[int, int]]:
    own = slice(links.starts[place], links.starts[place + 1])
    return [*zip(links.source[own].tolist(), links.target[own].tolist(), strict=True)]


def nltk_faults(phrases: set[Phrase], links: Links) -> tuple[set[Phrase], set[Phrase]]:
    """Phrases that break the rules: with more target words than the longest, and with a link that leads outside.

    NLTK cuts a target side that is too long at the longest length, where the phrase pair ought to be left out, and does
    not count the words without a link that it joins at the edges.
    """
    long = {phrase for phrase in phrases if phrase[4] - phrase[3] > LONGEST}
    torn = set()
    for phrase in phrases - long:
        place, s1, s2, t1, t2 = phrase[:5]
        if any((s1 <= i < s2) != (t1 <= j < t2) for i, j in links_of(links, place)):
            torn.add(phrase)
    return long, torn


def aligning(pairs: list[tuple[str, str]]) -> dict[str, float]:
    """Seconds and links of eflomal and of both models of ours."""
    warm = side_of([p[0] for p in pairs[:50]]), side_of([p[1] for p in pairs[:50]])
    for model in MODELS:
        our_phrases(*warm, ours(*warm, model))  # compiled before it is timed
    (source, target), reading, _ = timed(lambda: (side_of([p[0] for p in pairs]), side_of([p[1] for p in pairs])))
    print(f"{len(pairs):,} pairs, {len(source.words):,} words: read {reading:.1f} s")
    directions, shown = dict[str, Directions](), dict[str, float]()
    for model in MODELS:
        directions[model], seconds = our_run(source, target, model)
        seconds["wall_align_and_extract"] += reading
        shown |= {f"{name}_{model}": value for name, value in seconds.items()}
    if find_spec("eflomal") is None:
        print("eflomal is not installed: no comparison")
        return shown
    both = words_of(source), words_of(target)
    with tempfile.TemporaryDirectory() as folder:
        theirs, wall, cpu_theirs = timed(lambda: eflomal_directions(*both, Path(folder) / "eflomal"))
    _, phrases = extracted(theirs, source, target)
    print(f"eflomal: aligned {wall:.1f} s ({cpu_theirs:.1f} CPU), {phrases}")
    for model in MODELS:
        f1, times = link_f1s(directions[model], theirs, source, target), cpu_theirs / shown[f"cpu_align_{model}"]
        print(f"{model}: eflomal takes {times:.1f} times as long; link F1: "
              + ", ".join(f"{method} {value:.3f}" for method, value in f1.items()))  # fmt: skip
        shown |= {f"link_f1_{method}_{model}": value for method, value in f1.items()}
        if model == CLOSEST:
            shown |= {"align_over_eflomal": times, "link_f1": f1["union"]}
    return shown


def our_run(source: Side, target: Side, model: str) -> tuple[Directions, dict[str, float]]:
    """Directions of one model, and the seconds of aligning and of extracting."""
    directions, wall, cpu = timed(lambda: our_directions(source, target, model))
    (more, more_cpu), phrases = extracted(directions, source, target)
    print(f"{model}: aligned {wall:.1f} s ({cpu:.1f} CPU), {phrases}")
    return directions, {"wall_align_and_extract": wall + more, "cpu_align": cpu, "cpu_extract": more_cpu}


def extracted(directions: Directions, source: Side, target: Side) -> tuple[tuple[float, float], str]:
    """Wall and CPU seconds of extracting from the union of two directions, and what to say of it."""
    links = symmetrise(*directions, source.starts, target.starts, "union")
    phrases, wall, cpu = timed(lambda: texts_of(extract(source.starts, target.starts, links, LONGEST), source, target))
    alone = [f"{np.mean(direction < 0):.0%}" for direction in reversed(directions)]
    return (wall, cpu), (
        f"{len(phrases[0]):,} phrases of {LONGEST} in {wall:.1f} s ({cpu:.1f} CPU); without a maker: "
        f"{alone[0]} of the source words, {alone[1]} of the target words"
    )


def extracting(pairs: list[tuple[str, str]], count: int) -> dict[str, float]:
    """Phrases as strings, ours and NLTK's, from the same links."""
    source, target = side_of([p[0] for p in pairs]), side_of([p[1] for p in pairs])
    every = ours(source, target, MODELS[0])
    some = side_of([p[0] for p in pairs[:count]]), side_of([p[1] for p in pairs[:count]])
    last = every.starts[count]
    links = Links(every.source[:last], every.target[:last], every.starts[: count + 1])
    mine, _, cpu = min((timed(lambda: our_phrases(*some, links)) for _ in range(3)), key=lambda run: run[2])
    theirs, _, cpu_theirs = timed(lambda: nltk_phrases(*some, links))
    long, torn = nltk_faults(theirs - mine, links)
    same, right = len(mine & theirs) / len(mine | theirs), theirs - long - torn
    print(f"extraction, {count:,} sentences: ours {cpu:.3f} s, NLTK {cpu_theirs:.2f} s ({cpu_theirs / cpu:.0f} times); "
          f"{same:.2%} of the phrases are the same")  # fmt: skip
    print(f"NLTK has {len(long):,} phrases of more than {LONGEST} target words, and {len(torn):,} with a link that leads "
          f"outside; without them {len(mine & right) / len(mine | right):.2%} are the same")  # fmt: skip
    return {
        "extract_over_nltk": cpu_theirs / cpu,
        "same_phrases": same,
        "same_phrases_by_the_rules": len(mine & right) / len(mine | right),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10,000 pairs instead of 100,000")
    options = parser.parse_args()
    pairs = sentence_pairs(10_000 if options.quick else 100_000)
    shown = {**aligning(pairs), **extracting(pairs[:20_000], 2_000)}
    kept = ("align_over_eflomal", "link_f1", "extract_over_nltk")
    print(
        json.dumps(
            {"room": "fragments", "ratios": {name: shown[name] for name in kept if name in shown}, "more": shown}
        )
    )


if __name__ == "__main__":
    main()
