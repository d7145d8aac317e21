"""Largest memory of `pii mask` for a file and one ten times as large: `python bench/pii_memory.py [--megabytes N] [--keep]`.

Invented letters about 3,000 people, masked with pseudonyms, a map and a key, each file in a process of its own. Memory may
grow with people and values, which are the same in both, and not with the file. Ends with one JSON line, which --keep puts
into docs/results/pii-memory.json.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import child_memory
import numpy as np

PEOPLE = 3000
KEPT = Path(__file__).resolve().parents[1] / "docs" / "results" / "pii-memory.json"
WORDS = "the bank letter was sent because our account has been closed since monday and nobody answers".split()


def write_letters(path: Path, megabytes: float) -> None:
    """A jsonl file of about this size."""
    rng, number, size = np.random.default_rng(1), 0, 0
    bodies = [" ".join(rng.choice(WORDS, 120)) for _ in range(997)]
    with open(path, "w", encoding="utf-8") as file:
        while size < megabytes * 2**20:
            who, plain = number % PEOPLE, bodies[number % 997]
            text = f"Dear Anna Meyer{who}, {plain}. Mail a{who}@example.org or call +49 30 {1_000_000 + who}."
            size += file.write(json.dumps({"id": str(number), "text": text}) + "\n")
            number += 1


def peak_megabytes(source: Path) -> float:
    """The largest memory of a masking, in a process of its own."""
    stem = str(source.with_suffix(""))
    files = ("--map", f"{stem}.map", "--key-file", f"{stem}.key", "--json")
    return child_memory.peak_megabytes(
        "pii", "mask", str(source), "-o", f"{stem}.out", "--how", "pseudonym", "--text-field", "text", *files
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=100.0, help="size of the larger file")
    parser.add_argument("--keep", action="store_true", help="keep the figures in docs/results")
    options = parser.parse_args()
    peaks, seconds = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for size in (options.megabytes / 10, options.megabytes):
            source = Path(folder, f"letters{size:g}.jsonl")
            write_letters(source, size)
            began = time.perf_counter()
            peaks[f"{size:g}"] = peak_megabytes(source)
            seconds[f"{size:g}"] = time.perf_counter() - began
            print(f"{size:g} MB: {peaks[f'{size:g}']:.1f} MB of memory, {seconds[f'{size:g}']:.0f} s", flush=True)
    shown = {"peaks": peaks, "seconds": {size: round(value, 1) for size, value in seconds.items()}}
    if options.keep:
        command = f"python bench/pii_memory.py --megabytes {options.megabytes:g} --keep"
        KEPT.write_text(json.dumps({"command": command, **shown}, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(shown))


if __name__ == "__main__":
    main()
