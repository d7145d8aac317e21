"""The ground floor: `python bench/core.py [--quick]`. Import time, random numbers (beside numpy's own), ledger lines, and
what a charge against a budget takes after many others (`charge_ms`: wall time, with its writes to disk)."""

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
from textveil.core import Adjacency, Event, GaussianNoise, MetricNoise, PoissonSampled, Unit
from textveil.noise import secure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = 3 if parser.parse_args().quick else 9
    ratios = {
        **import_times(rounds),
        **random_rates(rounds),
        **ledger_rate(200 if rounds == 3 else 1000),
        **charge_times(),
    }
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


def charge_times(charges: int = 1000, last: int = 100) -> dict[str, float]:
    """The last of many charges of Poisson-sampled Gaussian noise on one ledger with a budget, in milliseconds."""
    event = Event(PoissonSampled(0.01, GaussianNoise(1.0)), Unit.USER, Adjacency.ADD_REMOVE, mechanism="bench")
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.new(Path(folder) / "bench.ledger", unit="user", epsilon=8.0, delta=1e-6)
        for _ in range(charges - last):
            ledger.charge(event, "bench")
        busy = time.process_time()
        took = [1000 * seconds(lambda: ledger.charge(event, "bench")) for _ in range(last)]
        busy = 1000 * (time.process_time() - busy) / last
    return {"charge_ms": max(took), "charge_ms_mean": statistics.mean(took), "charge_ms_processor": busy}


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
