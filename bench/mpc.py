"""Private classification beside CrypTen: `python bench/mpc.py [--quick] [--save]`.

All parties on loopback of this machine, TLS on for ours, engines directly linked, weights cached once a session; encoding is
excluded and has a row of its own. The network is the paper's (384 inputs, three branches of 8 channels, pools of 2, dense 16,
one score) with random weights; the label is opened to the client only. Trust `dealer` and `three`; `two` with few texts.
CrypTen with its own max-pool and with a tournament (bench/mpc_peer.py). Then once more with 20 ms between network namespaces
(bench/mpc_net.py), where these may be made.

    sequential, batched   seconds a text, one by one and in one batch of 100, after a first one of each
    ..._cpu               CPU seconds a text, of all parties together
    ..._rounds            messages that one party sends to the other one after another, a query
    ..._mb                megabytes a text over all links, both directions: engines, dealer, control; before TLS
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import mpc_delayed
import mpc_peer
import numpy as np

from textveil.mpc.model_folder import Classifier
from textveil.mpc.networks import labels
from textveil.mpc.oracle import oracle_scores
from textveil.mpc.train import shape_of
from textveil.mpc.waiting import cpu_seconds
from textveil.mpc.worker import PROFILE
from textveil.recipes.mpc.local import LocalParties, local_parties

HERE = Path(__file__).resolve().parents[1]
RESULTS = HERE / "docs" / "results" / "bench-mpc.json"
BATCH, DELAY = 100, 0.02
LIMITS = {"sequential": 0.25, "batched": 0.05, "sequential_mb": 2.0, "batched_mb": 2.0}
_COUNTED = re.compile(r"Link details: total send bytes (\d+), recv bytes \d+, send actions (\d+)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer texts, no `two`, no delay")
    parser.add_argument("--save", action="store_true", help=f"keep {RESULTS.relative_to(HERE)}")
    parser.add_argument("--crypten", type=Path, default=HERE / ".crypten", help="where CrypTen is, or is put")
    options = parser.parse_args()
    singles = 10 if options.quick else 50
    classifier, x = example()
    rows = {f"ours, {trust}": ours(classifier, x, trust, singles) for trust in ("dealer", "three")}
    if not options.quick:
        rows["ours, two"] = ours(classifier, x[:10], "two", 3, batch=10)
    for kind in ("pool", "tournament"):
        rows[f"CrypTen, {kind}"] = mpc_peer.measured(options.crypten, kind, singles, BATCH)
    delayed = {} if options.quick else mpc_delayed.measured(classifier, x, DELAY)
    rows |= delayed
    print_table(rows)
    encoding = encoding_seconds()
    print(f"encoding by the MiniLM, apart: {encoding:.4f} s a text of 80 words")
    own = rows["ours, dealer"]
    for name, limit in LIMITS.items():
        print(f"ours, dealer, {name}: {own[name]:.4f} (at most {limit})")
    figures = {name: {key: round(value, 5) for key, value in row.items()} for name, row in rows.items() if row}
    last = {"room": "mpc", "ratios": ratios(own, rows["CrypTen, pool"]), "figures": figures, "encoding": encoding}
    if options.save:
        command = " ".join(["python bench/mpc.py", *(["--quick"] if options.quick else [])])
        RESULTS.write_text(json.dumps({"command": command, **last}, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(last))


def ratios(own: dict[str, Any], other: dict[str, Any]) -> dict[str, float]:
    if not other:
        return {}
    return {f"{name}_over_crypten": round(other[name] / own[name], 3) for name in ("sequential", "batched")}


def example() -> tuple[Classifier, np.ndarray]:
    rng = np.random.default_rng(1)
    shape = shape_of("paper", 384)
    scale = {"conv": 0.4, "hidden": 0.02, "out": 0.3}
    arrays = {n: (rng.normal(size=d) * scale.get(n, 0.05)).astype(np.float32) for n, d in shape.arrays().items()}
    x = rng.normal(size=(BATCH, 384)).astype(np.float32)
    return Classifier(shape, arrays, ("no", "yes"), {"kind": "sentence"}), x


def ours(classifier: Classifier, x: np.ndarray, trust: str, singles: int, batch: int = BATCH) -> dict[str, Any]:
    """Times of one session, then bytes and rounds of another one, since counting takes time too."""
    with local_parties(classifier, trust) as parties, parties.connect([1, batch]) as client:
        row = measure(client, x, singles, batch, cpu)
        row["peak_mb"] = client.engine.ask("used", seconds=60.0).said["peak"] / 1e6
        said = [answer.label for answer in client.ask_batch(x[:batch])]
    wanted = labels(oracle_scores(classifier.shape, classifier.arrays, x[:batch]))
    return {**row, "equal": float(np.mean(np.array(said) == wanted)), **traffic(classifier, x, trust, batch)}


def measure(client: Any, x: np.ndarray, singles: int, batch: int, used: Any) -> dict[str, float]:
    """Seconds and CPU seconds a text, one by one and in a batch, after a first one of each."""
    row = dict[str, float]()
    for name, repeats, rows in (("sequential", singles, x[:1]), ("batched", 1, x[:batch])):
        client.ask_batch(rows)
        spent, began = used(), time.perf_counter()
        for number in range(repeats):
            client.ask_batch(x[number % len(x)][None] if name == "sequential" else rows)
        row[name] = (time.perf_counter() - began) / (repeats * len(rows))
        row[f"{name}_cpu"] = (used() - spent) / (repeats * len(rows))
    return row


def traffic(classifier: Classifier, x: np.ndarray, trust: str, batch: int) -> dict[str, float]:
    """Rounds, and megabytes a text over all links."""
    row = dict[str, float]()
    with tempfile.TemporaryDirectory() as folder:
        os.environ[PROFILE] = folder
        try:
            with local_parties(classifier, trust) as parties, parties.connect([1, batch]) as client:
                for name, rows in (("sequential", x[:1]), ("batched", x[:batch])):
                    client.ask_batch(rows)  # the first one of a session also sets up what lasts
                    before, calls = _carried(parties, client), parties.dealt()[0]
                    client.ask_batch(rows)
                    sent, rounds = _last_query(Path(folder))
                    everything = sent + _carried(parties, client) - before
                    row |= {f"{name}_rounds": rounds, f"{name}_mb": everything / len(rows) / 1e6}
                    row[f"{name}_dealer_calls"] = parties.dealt()[0] - calls
        finally:
            del os.environ[PROFILE]
    return row


def _carried(parties: LocalParties, client: Any) -> int:
    """Bytes of the dealer's calls and of the client's control connections so far."""
    return parties.dealt()[1] + sum(wire.bytes_sent + wire.bytes_received for wire in client.watch)


def _last_query(folder: Path) -> tuple[int, int]:
    """What the engines sent in their last program: bytes of all, messages of one."""
    counted = [found[-1] for log in folder.iterdir() if (found := _COUNTED.findall(log.read_text(errors="replace")))]
    return sum(int(sent) for sent, _ in counted), max(int(actions) for _, actions in counted)


def cpu() -> float:
    """CPU seconds of this process (dealer and control channels) and of its children that still run (the engines)."""
    total = resource.getrusage(resource.RUSAGE_SELF)
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    started = {int(child) for path in children for child in path.read_text().split()}
    return total.ru_utime + total.ru_stime + sum(cpu_seconds(child) for child in started)


def encoding_seconds() -> float:
    """Seconds a text of the bundled encoder, on the text owner's side."""
    from textveil.nets.sentences import SentenceEncoder

    encoder, texts = SentenceEncoder(), ["the parcel came late and the box was open " * 9] * 64
    encoder.vectors(texts[:8])
    began = time.perf_counter()
    encoder.vectors(texts)
    return round((time.perf_counter() - began) / len(texts), 5)


def print_table(rows: dict[str, dict[str, Any]]) -> None:
    """One column a row of the benchmark: there are more figures than contenders."""
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    print(f"{'':24}" + "".join(f"{title:>22}" for title in rows))
    for name in names:
        print(f"{name:24}" + "".join(f"{row[name]:22.4f}" if name in row else f"{'-':>22}" for row in rows.values()))


if __name__ == "__main__":
    main()
