"""The words room beside its peers: `python bench/words.py [--quick] [--recall]`.

Search: BRR against faiss IndexBinaryFlat, Laplace against IndexFlatL2, Vickrey (k = 2) against our own Laplace; the worst
ratio over the noise levels counts. TEM against BRR: the words of reviews, a fresh mechanism each time, since TEM prepares
each distinct word once. End to end: the command `textveil veil` on reviews (start-up, reading, checking, cutting
and writing included) against the bare rate of `mechanism.draw` on the same words; and two workers against one. Runs take
turns in one process tree, so that a busy machine slows both sides; times are medians. The full run also shows what HNSW and
Annoy find at these noise levels (words_recall.py).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np
import words_recall as recall
import words_search as search

from textveil.noise import secure
from textveil.text import tokens
from textveil.text.codes import Codes
from textveil.text.vectors import Vectors, from_arrays, load
from textveil.words import BRR, TEM, Laplace
from textveil.words.mechanism import WordMechanism

EPSILON, LAPLACE_EPSILON, TEM_EPSILON = 0.5, 10.0, 3.0
WORDS = 50_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="fewer rounds, one vocabulary, no recall: under two minutes"
    )
    parser.add_argument("--recall", action="store_true", help="with --quick: what approximate indexes find, on GloVe")
    options = parser.parse_args()
    rng = np.random.default_rng()
    rounds = 3 if options.quick else 11
    ratios = search_ratios(rounds, 2000, rng)  # faiss's flat index is far slower on batches of 1,000
    vectors = glove(rng)
    ratios["brr_over_laplace"] = brr_over_laplace(vectors, 4000 if options.quick else 16_000, rounds)
    ratios["tem_time_over_brr"] = tem_over_brr(2_000 if options.quick else 10_000, 1 if options.quick else 3)
    sizes(vectors)
    ratios |= command_ratios([load("default")] if options.quick else [load("default"), vectors], options.quick)
    found = []
    if options.recall or not options.quick:
        for which in (search.GLOVE,) if options.quick else (search.GLOVE, search.WORD2VEC):
            found += recall.recalls(which, 500 if options.quick else 1000, rng)
        recall.show(found)
    print(json.dumps({"room": "words", "ratios": {name: round(value, 3) for name, value in ratios.items()}}))


def search_ratios(rounds: int, batch: int, rng: np.random.Generator) -> dict[str, float]:
    """The searches alone, as in words_search.py."""
    ratios: dict[str, float] = {}
    for threads in (1, 2):
        rows = search.hamming_rows(2 * batch, rounds, threads, rng)
        search.show(rows)
        ratios[f"brr_over_faiss_binary_{threads}t"] = search.least(rows)
    seconds: list[float] = []
    for name, which in (("laplace100", search.GLOVE), ("laplace300", search.WORD2VEC)):
        rows, second = search.euclid_rows(which, batch, rounds, 1, rng)
        search.show(rows)
        ratios[f"{name}_over_faiss_flat"] = search.least(rows)
        seconds += second
    return ratios | {"vickrey_time_over_laplace": max(seconds)}


def glove(rng: np.random.Generator) -> Vectors:
    """50,000 GloVe words with codes, or as many made-up ones."""
    path = data_folder() / search.GLOVE[0]
    if path.exists():
        packed = np.load(path)
        words, matrix = bytes(packed["words"]).decode().split("\n")[:WORDS], packed["vectors"][:WORDS]
    else:
        words, matrix = made_up_words(WORDS), rng.standard_normal((WORDS, 100), dtype=np.float32)
    vectors = from_arrays(words, matrix, name="GloVe" if path.exists() else "random")
    return vectors.with_codes(Codes.from_packed(vectors.words, search.codes_of(vectors.matrix, 256, rng), 256))


def made_up_words(count: int) -> list[str]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [
        f"{letters[i % 26]}{letters[i // 26 % 26]}{letters[i // 676 % 26]}{letters[i // 17576]}" for i in range(count)
    ]


def brr_over_laplace(vectors: Vectors, count: int, rounds: int) -> float:
    """Words drawn a second, noise included, on the same vocabulary; both keep about a third of the words or more."""
    rows = np.random.default_rng().integers(0, len(vectors), count)
    noise = secure()
    made = {"BRR": BRR(EPSILON).fit(vectors), "Laplace": Laplace(LAPLACE_EPSILON).fit(vectors)}
    took = search.in_turns({name: lambda m=m: m.draw(rows, noise) for name, m in made.items()}, rounds)
    for name, mechanism in made.items():
        print(
            f"{mechanism!r} draws {count / took[name]:12,.0f} words/s ({vectors.name}, {len(vectors):,} words)",
            flush=True,
        )
    return took["Laplace"] / took["BRR"]


def tem_over_brr(texts: int, rounds: int) -> float:
    """Seconds for the words of so many reviews, on the bundled vectors at about equal attack success."""
    public = load("default")
    with tempfile.TemporaryDirectory() as folder:
        rows = rows_of(BRR().fit(public), write_reviews(Path(folder) / "reviews.jsonl", texts))
    kinds = {"BRR": lambda: BRR(EPSILON), "TEM": lambda: TEM(TEM_EPSILON)}
    took = {name: list[float]() for name in kinds}
    for _ in range(rounds):
        for name, make in kinds.items():
            took[name].append(draw_seconds(make().fit(public), rows))
    seconds = {name: statistics.median(times) for name, times in took.items()}
    for name in kinds:
        print(f"{name} draws {len(rows):,} words of reviews in {seconds[name]:.1f} s", flush=True)
    return seconds["TEM"] / seconds["BRR"]


def sizes(vectors: Vectors) -> None:
    """What a device must hold."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "codes.tvc"
        vectors.codes.save(path)
        print(f"codes and words {path.stat().st_size / 1e6:.2f} MB, float index {vectors.matrix.nbytes / 1e6:.2f} MB")


# ---- the command -------------------------------------------------------------------------------------------------


def command_ratios(vocabularies: list[Vectors], quick: bool) -> dict[str, float]:
    """`textveil veil` against the bare mechanism, and two workers against one; the worst vocabulary counts."""
    shares, speedups = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = write_reviews(folder / "reviews.jsonl", 10_000)
        for vectors in vocabularies:
            vectors.save(folder / "vectors.tvv")
            draw, one, two = command_seconds(folder, BRR(EPSILON).fit(vectors), texts, rounds=1 if quick else 3)
            shares.append(draw / one)
            speedups.append(one / two)
    return {"end_to_end_share": min(shares), "two_workers_speedup": min(speedups)}


def command_seconds(folder: Path, mechanism: BRR, texts: list[str], rounds: int) -> tuple[float, float, float]:
    """Median seconds of drawing alone, of the command, and of the command with two workers, measured in turns."""
    rows = rows_of(mechanism, texts)
    veil(folder, 1, warm=True)
    times = [(draw_seconds(mechanism, rows), veil(folder, 1), veil(folder, 2)) for _ in range(rounds)]
    draw, one, two = (statistics.median(column) for column in zip(*times, strict=True))
    print(
        f"{mechanism.vectors_.name}, {len(mechanism.vectors_):,} words: {len(rows):,} words drawn in {draw:.1f} s "
        f"({len(rows) / draw:,.0f}/s), command {one:.1f} s, two workers {two:.1f} s",
        flush=True,
    )
    return draw, one, two


def write_reviews(path: Path, count: int) -> list[str]:
    """IMDb reviews where the data is there, else texts made up of frequent words."""
    source = data_folder() / "imdb" / "train.jsonl.gz"
    if source.exists():
        with gzip.open(source, "rt", encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in islice(lines, count)]
    else:
        print("no evaluation data: made-up reviews", flush=True)
        public = load("default")
        drawn = np.random.default_rng().choice(len(public), (count, 230), p=public.prior)
        texts = [" ".join(public.words[int(i)] for i in row) + "." for row in drawn]
    path.write_text("".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts), encoding="utf-8")
    return texts


def rows_of(mechanism: WordMechanism, texts: list[str]) -> np.ndarray:
    find, unknown = mechanism.rows_.get, len(mechanism.vectors_)
    return np.array([find(tokens.fold(word), unknown) for text in texts for word in tokens.words(text)])


def draw_seconds(mechanism: WordMechanism, rows: np.ndarray) -> float:
    noise = secure()
    mechanism.draw(rows[:1000], noise)
    start = time.perf_counter()
    mechanism.draw(rows, noise)
    return time.perf_counter() - start


def veil(folder: Path, workers: int, warm: bool = False) -> float:
    """Seconds of the whole command, from the start of its process to its end."""
    source, out = folder / "reviews.jsonl", folder / "out"
    if warm:  # compiles the search for this machine, once
        source = folder / "warm.jsonl"
        source.write_text('{"text": "tea"}\n')
    command = [sys.executable, "-m", "textveil", "veil", str(source), "-o", str(out), "--epsilon", str(EPSILON)]
    start = time.perf_counter()
    options = ["--vectors", str(folder / "vectors.tvv"), "--workers", str(workers), "--json"]
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
    took = time.perf_counter() - start
    shutil.rmtree(out)
    return took


def data_folder() -> Path:
    return Path(os.environ.get("TEXTVEIL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


if __name__ == "__main__":
    main()
