"""Largest memory of `fragments make`, and with ten times the text: `python bench/fragments_memory.py [--pairs N] [--keep]`.

Invented sentence pairs over 20,000 words, each text in a process of its own. Memory may grow with the vocabulary, which
is the same in both, and with the lexicon up to its fixed size, and not with the number of sentence pairs. Ends with one
JSON line, which --keep puts into docs/results/fragments-memory.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

KEPT = Path(__file__).resolve().parents[1] / "docs" / "results" / "fragments-memory.json"
VOCABULARY = 20_000
BATCH = 10_000


def write_pairs(path: Path, count: int) -> None:
    """A table of sentence pairs without a header: words of a steep frequency, some of them dropped on the other side."""
    rng = np.random.default_rng(1)
    with open(path, "w", encoding="utf-8") as file:
        for first in range(0, count, BATCH):
            sizes = rng.integers(4, 24, min(BATCH, count - first))
            words = (rng.zipf(1.3, int(sizes.sum())) % VOCABULARY).tolist()
            kept, place = rng.random(len(words)) < 0.95, 0
            for size in sizes.tolist():
                own = range(place, place + size)
                place += size
                source = " ".join(f"s{words[i]}" for i in own)
                target = " ".join(f"t{words[i]}" for i in own if kept[i]) or "t0"
                file.write(f"{source}\t{target}\n")


def peak_megabytes(source: Path) -> float:
    """The largest memory of a cutting, in a process of its own."""
    command = [sys.executable, "-m", "textveil", "fragments", "make", str(source), "-o", f"{source}.out", "--json"]
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit("the cutting failed")
    return used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1_000_000, help="sentence pairs of the longer text")
    parser.add_argument("--keep", action="store_true", help="keep the figures in docs/results")
    options = parser.parse_args()
    peaks, seconds = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for count in (options.pairs // 10, options.pairs):
            source = Path(folder, f"text{count}.parallel.tsv")
            write_pairs(source, count)
            began = time.perf_counter()
            peaks[str(count)] = peak_megabytes(source)
            seconds[str(count)] = round(time.perf_counter() - began, 1)
            print(f"{count:,} pairs: {peaks[str(count)]:.0f} MB of memory, {seconds[str(count)]:.0f} s", flush=True)
    shown = {"peaks": peaks, "seconds": seconds}
    if options.keep:
        command = f"python bench/fragments_memory.py --pairs {options.pairs} --keep"
        KEPT.write_text(json.dumps({"command": command, **shown}, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(shown))


if __name__ == "__main__":
    main()
