"""Largest memory of `fragments make` for a text and one ten times as large: `python bench/fragments_memory.py [--pairs N]`.

Invented sentence pairs of 5 to 30 words from 20,000 words a side, where every word has one translation and neighbours
sometimes change places; the words are the same in both files. Memory may grow until the lexicon has its largest size (400
MB), not with the text. Each file is read in a process of its own. Ends with one JSON line, which --keep puts into
docs/results/fragments-memory.json.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np
from child_memory import peak_megabytes

WORDS = 20_000
KEPT = Path(__file__).resolve().parents[1] / "docs" / "results" / "fragments-memory.json"


def write_pairs(path: Path, count: int) -> None:
    """A jsonl file of so many sentence pairs."""
    rng = np.random.default_rng(1)
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(count):
            source = (rng.zipf(1.2, rng.integers(5, 31)) - 1) % WORDS
            target = source.copy()
            place = int(rng.integers(len(source) - 1))
            target[place : place + 2] = target[place : place + 2][::-1]
            de, en = (" ".join(f"{side}{word}" for word in row) for side, row in (("d", source), ("e", target)))
            file.write(json.dumps({"de": de, "en": en}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1_000_000, help="sentence pairs of the larger text")
    parser.add_argument("--keep", action="store_true", help="keep the figures in docs/results")
    options = parser.parse_args()
    peaks, seconds = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for count in (options.pairs // 10, options.pairs):
            path = Path(folder, f"pairs{count}.jsonl")
            write_pairs(path, count)
            began = time.perf_counter()
            fields = ("--source-field", "de", "--target-field", "en")
            peaks[f"{count}"] = peak_megabytes("fragments", "make", str(path), "-o", f"{path}.out", *fields, "--json")
            seconds[f"{count}"] = round(time.perf_counter() - began, 1)
            print(f"{count:,} pairs: {peaks[f'{count}']:.1f} MB of memory, {seconds[f'{count}']:.0f} s", flush=True)
    shown = {"peaks": peaks, "seconds": seconds}
    if options.keep:
        command = f"python bench/fragments_memory.py --pairs {options.pairs} --keep"
        KEPT.write_text(json.dumps({"command": command, **shown}, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(shown))


if __name__ == "__main__":
    main()
