"""Private classification beside CrypTen: `python bench/mpc.py [--quick]`.

All parties on loopback of this machine, TLS on for ours, encoding excluded. The network is the paper's (384 inputs, three
branches of 8 channels, pools of 2, dense 16, one score), random weights; the label is opened to the client only. Ours: trust
`dealer` and `three`, directly linked, weights cached once; `two` once. CrypTen 0.4.1 with its own provider (the first party
deals: a weaker trust), its own max-pool, and a tournament of comparisons beside it. CPU seconds are those of all processes.

CrypTen is installed by name into .crypten (git-ignored) the first time; where that fails, ratios are left out and it says so.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from textveil.mpc.model_folder import Classifier
from textveil.mpc.networks import labels
from textveil.mpc.oracle import oracle_scores
from textveil.mpc.train import shape_of
from textveil.recipes.mpc.local import local_parties

PLACE = Path(__file__).resolve().parents[1] / ".crypten"
PACKAGES = ("crypten==0.4.1", "onnx", "ml_dtypes", "omegaconf", "pyyaml", "antlr4-python3-runtime==4.9.3", "protobuf")
BATCH = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer texts, no `two`")
    parser.add_argument("--crypten", type=Path, default=PLACE, help="where CrypTen is, or is put")
    parser.add_argument("--peer", choices=("pool", "tournament"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    singles = 5 if options.quick else 50
    if options.peer:
        print(json.dumps(crypten_runs(options.crypten, options.peer, singles)))
        return
    classifier, x = example()
    rows = {f"ours, {trust}": ours(classifier, x, trust, singles) for trust in ("dealer", "three")}
    if not options.quick:
        rows["ours, two"] = ours(classifier, x[:10], "two", 2, batch=10)
    for kind in ("pool", "tournament"):
        rows[f"CrypTen, {kind}"] = peer(options.crypten, kind, options.quick)
    print_table(rows)
    own, other = rows["ours, dealer"], rows["CrypTen, pool"]
    ratios = {}
    if other and own:
        ratios = {
            "sequential_over_crypten": other["sequential"] / own["sequential"],
            "batched_over_crypten": other["batched"] / own["batched"],
        }
    print(json.dumps({"room": "mpc", "ratios": {name: round(value, 3) for name, value in ratios.items()}}))


def example() -> tuple[Classifier, np.ndarray]:
    rng = np.random.default_rng(1)
    shape = shape_of("paper", 384)
    scale = {"conv": 0.4, "hidden": 0.02, "out": 0.3}
    arrays = {n: (rng.normal(size=d) * scale.get(n, 0.05)).astype(np.float32) for n, d in shape.arrays().items()}
    return Classifier(shape, arrays, ("no", "yes"), {"kind": "sentence"}), rng.normal(size=(BATCH, 384)).astype(
        np.float32
    )


# ---- ours -----------------------------------------------------------------------------------------------------------


def ours(classifier: Classifier, x: np.ndarray, trust: str, singles: int, batch: int = BATCH) -> dict[str, Any]:
    """Seconds a text one by one and in one batch, after a first one of each; CPU seconds; the dealer's bytes."""
    with local_parties(classifier, trust) as parties, parties.connect([1, batch]) as client:
        said = [client.ask_batch(x[:1])[0].label]
        dealt, used, began = parties.dealt(), cpu(), time.perf_counter()
        for number in range(1, singles):
            said.append(client.ask_batch(x[number % len(x)][None])[0].label)
        each = max(1, singles - 1)
        found = {
            "sequential": (time.perf_counter() - began) / each,
            "cpu": (cpu() - used) / each,
            "dealer_calls": (parties.dealt()[0] - dealt[0]) / each,
            "dealer_mb": (parties.dealt()[1] - dealt[1]) / each / 1e6,
            "control_mb": 0.0,
        }
        sent = client.wire.bytes_sent + client.wire.bytes_received
        client.ask_batch(x[:batch])
        used, began = cpu(), time.perf_counter()
        batched = [answer.label for answer in client.ask_batch(x[:batch])]
        found |= {"batched": (time.perf_counter() - began) / batch, "batched_cpu": (cpu() - used) / batch}
        found["control_mb"] = (client.wire.bytes_sent + client.wire.bytes_received - sent) / 2 / batch / 1e6
        found["peak_mb"] = client.engine.ask("used", seconds=30.0).said["peak"] / 1e6
    wanted = labels(oracle_scores(classifier.shape, classifier.arrays, x[:batch]))
    found["equal"] = float(np.mean(np.array(batched) == wanted))
    return found


def cpu() -> float:
    """CPU seconds of this process and of all that it started and that still run."""
    total = resource.getrusage(resource.RUSAGE_SELF)
    seconds, tick = total.ru_utime + total.ru_stime, os.sysconf("SC_CLK_TCK")
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid():
                seconds += (int(fields[11]) + int(fields[12])) / tick
    return seconds


# ---- CrypTen --------------------------------------------------------------------------------------------------------


def peer(place: Path, kind: str, quick: bool) -> dict[str, Any]:
    """CrypTen in a process tree of its own; empty where it cannot be installed or run."""
    if not (place / "crypten").is_dir():
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(place), *PACKAGES]
        if subprocess.run(command, capture_output=True).returncode:
            print("CrypTen cannot be installed: its rows and all ratios are left out")
            return {}
    command = [sys.executable, __file__, "--peer", kind, "--crypten", str(place), *(["--quick"] if quick else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"CrypTen failed: {done.stderr.strip().splitlines()[-1:]}")
        return {}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def crypten_runs(place: Path, kind: str, singles: int) -> dict[str, Any]:
    sys.path.insert(0, str(place))
    import torch
    import torch.onnx._internal.torchscript_exporter.registration as moved

    sys.modules["torch.onnx._internal.registration"] = moved  # where CrypTen looks for it
    import crypten
    from crypten import mpc

    torch.set_num_threads(1)
    rng = np.random.default_rng(1)
    x = torch.from_numpy(rng.normal(size=(BATCH, 384)).astype(np.float32))
    convs = [torch.from_numpy((rng.normal(size=(8, 1, k)) * 0.4).astype(np.float32)) for k in (3, 4, 5)]
    hidden = torch.from_numpy((rng.normal(size=(4568, 16)) * 0.02).astype(np.float32))
    out = torch.from_numpy((rng.normal(size=(16, 1)) * 0.3).astype(np.float32))

    @mpc.run_multiprocess(world_size=2)
    def both() -> dict[str, float]:
        crypten.cfg.communicator.verbose = True  # else it counts nothing
        weights = [crypten.cryptensor(w, src=0) for w in (*convs, hidden, out)]

        def pooled(h: Any) -> Any:
            if kind == "pool":
                return h.unsqueeze(2).max_pool2d((1, 2), stride=(1, 2)).squeeze(2)
            even = h.size(2) // 2 * 2
            first, second = h[:, :, 0:even:2], h[:, :, 1:even:2]
            return second + (first > second) * (first - second)

        def classify(rows: Any) -> Any:
            text = crypten.cryptensor(rows.unsqueeze(1), src=1)
            parts = [pooled(text.conv1d(w).relu()).flatten(start_dim=1) for w in weights[:3]]
            features = crypten.cat(parts, dim=1)
            return (features.matmul(weights[3]).relu().matmul(weights[4]) > 0).get_plain_text(dst=1)

        classify(x[:1])
        crypten.comm.get().reset_communication_stats()
        used, began = time.process_time(), time.perf_counter()
        for number in range(singles):
            classify(x[number : number + 1])
        sequential, spent = (time.perf_counter() - began) / singles, (time.process_time() - used) / singles
        stats = crypten.comm.get().get_communication_stats()
        classify(x)
        began = time.perf_counter()
        classify(x)
        return {
            "sequential": sequential, "batched": (time.perf_counter() - began) / BATCH, "cpu": 2 * spent,
            "rounds": stats["rounds"] / singles, "sent_mb": 2 * stats["bytes"] / singles / 1e6,
        }  # fmt: skip

    return dict(both()[0])


def print_table(rows: dict[str, dict[str, Any]]) -> None:
    names = sorted({name for row in rows.values() for name in row})
    print(f"{'':24}" + "".join(f"{name:>14}" for name in names))
    for title, row in rows.items():
        cells = "".join(f"{row[name]:14.4f}" if name in row else f"{'-':>14}" for name in names)
        print(f"{title:24}{cells}")


if __name__ == "__main__":
    main()
