"""The ground floor: `python bench/core.py [--quick]`. Import time, random numbers (beside numpy's own), ledger lines."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from textveil.accounting.ledger import Ledger
from textveil.core import Adjacency, Event, MetricNoise, Unit
from textveil.noise import secure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = 3 if parser.parse_args().quick else 9
    ratios = {**import_times(rounds), **random_rates(rounds), **ledger_rate(200 if rounds == 3 else 1000)}
    for name, value in ratios.items():
        print(f"{name:40} {value:12,.3f}")
    print(json.dumps({"room": "core", "ratios": {name: round(value, 4) for name, value in ratios.items()}}))


def import_times(rounds: int) -> dict[str, float]:
    """A fresh process that imports Textveil, and one that imports numpy, in turns; the bare interpreter taken off."""
    code = {
        "bare": "pass",
        "numpy": "import numpy",
        "textveil": "import textveil",
        "words": "import textveil.words.brr",
    }
    times: dict[str, list[float]] = {name: [] for name in code}
    for _ in range(rounds):
        for name, line in code.items():
            times[name].append(seconds(lambda line=line: subprocess.run([sys.executable, "-c", line], check=True)))
    middle = {name: statistics.median(values) for name, values in times.items()}
    return {
        "import_seconds": middle["textveil"] - middle["bare"],
        "import_words_over_numpy": (middle["words"] - middle["bare"]) / (middle["numpy"] - middle["bare"]),
    }


def random_rates(rounds: int) -> dict[str, float]:
    """Secure uniforms a second, and how they compare with numpy's generator, which is not secure."""
    noise, generator, count = secure(), np.random.default_rng(), 1 << 20
    ours, numpys = [], []
    for _ in range(rounds):
        ours.append(seconds(lambda: noise.uniforms(count)))
        numpys.append(seconds(lambda: generator.random(count)))
    rate = count / statistics.median(ours)
    return {
        "uniforms_per_second_millions": rate / 1e6,
        "secure_uniforms_over_numpy": rate / (count / statistics.median(numpys)),
    }


def ledger_rate(charges: int) -> dict[str, float]:
    """Charges a second, each of them on disk before the next."""
    noise = MetricNoise(0.5, "hamming", "0" * 32, 256.0)
    event = Event(noise, Unit.WORD, Adjacency.METRIC, 1, (), "bench", "words.brr")
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "bench.ledger")
        took = seconds(lambda: [ledger.charge(event, "bench") for _ in range(charges)])
        verified = seconds(ledger.verify)
    return {"ledger_charges_per_second": charges / took, "ledger_lines_verified_per_second": charges / verified}


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
