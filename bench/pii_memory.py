"""Largest memory of `pii mask` for a file and one ten times as large: `python bench/pii_memory.py [--megabytes 100]`.

Invented letters about 3,000 people, masked with pseudonyms, a map and a key, each file in a process of its own. Memory may
grow with people and values, which are the same in both, and not with the file. Ends with one JSON line.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

PEOPLE = 3000
WORDS = "the bank letter was sent because our account has been closed since monday and nobody answers".split()


def write_letters(path: Path, megabytes: float) -> None:
    """A jsonl file of about this size."""
    rng, number, size = np.random.default_rng(1), 0, 0
    with open(path, "w", encoding="utf-8") as file:
        while size < megabytes * 2**20:
            who, plain = number % PEOPLE, " ".join(rng.choice(WORDS, 120))
            text = f"Dear Anna Meyer{who}, {plain}. Mail a{who}@example.org or call +49 30 {1_000_000 + who}."
            size += file.write(json.dumps({"id": str(number), "text": text}) + "\n")
            number += 1


def peak_megabytes(source: Path) -> float:
    """The largest memory of a masking, in a process of its own."""
    stem = str(source.with_suffix(""))
    command = [sys.executable, "-m", "textveil", "pii", "mask", str(source), "-o", f"{stem}.out", "--how", "pseudonym"]
    command += ["--text-field", "text", "--map", f"{stem}.map", "--key-file", f"{stem}.key", "--json"]
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit("the masking failed")
    return used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=100.0, help="size of the larger file")
    options = parser.parse_args()
    peaks = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in (options.megabytes / 10, options.megabytes):
            source = Path(folder, f"letters{size:g}.jsonl")
            write_letters(source, size)
            peaks[f"{size:g}"] = peak_megabytes(source)
            print(f"{size:g} MB: {peaks[f'{size:g}']:.1f} MB of memory", flush=True)
    print(json.dumps({"peaks": peaks}))


if __name__ == "__main__":
    main()
