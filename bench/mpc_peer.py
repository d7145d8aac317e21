"""CrypTen 0.4.1 for bench/mpc.py: `python bench/mpc_peer.py PLACE KIND TEXTS BATCH`. It prints one line of JSON.

Two parties in processes of their own on this machine, without TLS; CrypTen's own provider deals the random numbers, which is
the first party, with a generator that is not cryptographic: a weaker trust than ours. KIND is its own max-pool ("pool"), or a
tournament of comparisons ("tournament"). The network and its sizes are those of bench/mpc.py.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PACKAGES = ("crypten==0.4.1", "onnx", "ml_dtypes", "omegaconf", "pyyaml", "antlr4-python3-runtime==4.9.3", "protobuf")


def measured(place: Path, kind: str, singles: int, batch: int) -> dict[str, Any]:
    """What CrypTen gives, from a process tree of its own; empty where it cannot be installed or run, and that is said."""
    if not (place / "crypten").is_dir():
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(place), *PACKAGES]
        if subprocess.run(command, capture_output=True).returncode:
            print("CrypTen cannot be installed: its rows and all ratios are left out")
            return {}
    command = [sys.executable, __file__, str(place), kind, str(singles), str(batch)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"CrypTen failed: {done.stderr.strip().splitlines()[-1:]}")
        return {}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def crypten_runs(place: Path, kind: str, singles: int, batch: int) -> dict[str, Any]:
    """Seconds, CPU seconds, rounds and bytes a text."""
    sys.path.insert(0, str(place))
    import numpy as np
    import torch
    import torch.onnx._internal.torchscript_exporter.registration as moved

    sys.modules["torch.onnx._internal.registration"] = moved  # where CrypTen looks for it
    import crypten
    from crypten import mpc

    torch.set_num_threads(1)
    rng = np.random.default_rng(1)
    x = torch.from_numpy(rng.normal(size=(batch, 384)).astype(np.float32))
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

        def measure(repeats: int, rows: Any, name: str) -> dict[str, float]:
            classify(rows)
            crypten.comm.get().reset_communication_stats()
            used, began, texts = time.process_time(), time.perf_counter(), repeats * len(rows)
            for _ in range(repeats):
                classify(rows)
            seconds, spent = (time.perf_counter() - began) / texts, (time.process_time() - used) / texts
            stats = crypten.comm.get().get_communication_stats()
            return {
                name: seconds,
                f"{name}_cpu": 2 * spent,  # both parties do the same
                f"{name}_rounds": stats["rounds"] / repeats,
                f"{name}_mb": 2 * stats["bytes"] / texts / 1e6,
            }

        return measure(singles, x[:1], "sequential") | measure(1, x, "batched")

    return dict(both()[0])


if __name__ == "__main__":
    print(json.dumps(crypten_runs(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
