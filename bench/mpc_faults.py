"""What happens when parties die, stall or talk nonsense: `python bench/mpc_faults.py [--part NAME] [--tries N]`.

The real commands as processes on this machine (trust `dealer`). It keeps docs/results/mpc-faults.json.

    kills     a client asks; at a random moment the client, its engine, the server's engine, the dealer or the server is
              killed. Each second try waits for the engine of the client first and kills while the engines connect.
    stalls    the same with SIGSTOP: nobody tells the others that somebody is gone
    garbage   random bytes before TLS, behind TLS, and behind a good token, at the server and at the dealer
    memory    many queries in one session: the memory of all processes after each hundred

After every try: did the client end with all labels or with one sentence and none, in time? Did the server end the session's
engine and does it go on serving?
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mpc_parties import Parties, engines, outcome, wait_until

from textveil.mpc.certificates import context, role_name
from textveil.mpc.client import ClassifyClient
from textveil.mpc.service import call

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results" / "mpc-faults.json"
TIMEOUT, SLACK = 15.0, 45.0  # of a step; what a loaded machine may take beside it
VICTIMS = ("client", "client engine", "server engine", "dealer", "server")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=list(PARTS), help="only this one")
    parser.add_argument("--tries", type=int, help="kills, rounds of garbage, or queries")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for part in [options.part] if options.part else list(PARTS):
        run, usual = PARTS[part]
        with tempfile.TemporaryDirectory() as folder:
            parties = Parties(Path(folder), TIMEOUT)
            try:
                found = run(parties, random.Random(options.seed), options.tries or usual)
            finally:
                parties.close()
        kept = json.loads(options.out.read_text()) if options.out.exists() else {}
        kept |= {"command": "python bench/mpc_faults.py", part: found}
        options.out.write_text(json.dumps(kept, indent=2) + "\n")
        print(json.dumps({part: found}), flush=True)
    sys.exit(1 if any(kept[part]["faults"] for part in PARTS if part in kept) else 0)


# ---- somebody is killed, or stopped ---------------------------------------------------------------------------------


def kills(parties: Parties, rng: random.Random, tries: int) -> dict[str, Any]:
    """Kill somebody at random moments."""
    return _faults(parties, rng, tries, signal.SIGKILL)


def stalls(parties: Parties, rng: random.Random, tries: int) -> dict[str, Any]:
    """Stop somebody at random moments; whoever was stopped is ended afterwards."""
    return _faults(parties, rng, tries, signal.SIGSTOP)


def _faults(parties: Parties, rng: random.Random, tries: int, number: int) -> dict[str, Any]:
    start, whole = _usual(parties)
    ends, sentences, faults, slowest = Counter[str](), Counter[str](), list[dict[str, Any]](), 0.0
    phases = Counter[str]()
    for attempt in range(tries):
        victim, is_early = VICTIMS[attempt % len(VICTIMS)], attempt // len(VICTIMS) % 2 == 0
        moment = rng.uniform(start, (start + whole) / 2) if is_early else rng.uniform(0, whole)
        found = _one_fault(parties, victim, moment, is_early, number)
        phases[found["phase"]] += 1
        ends[found["end"]] += 1
        sentences[found["sentence"]] += 1
        slowest = max(slowest, found["seconds"] if found["end"] == "no label" else 0.0)
        if found["end"] == "fault":
            faults.append(found)
        print(f"{attempt + 1}/{tries} {found}", file=sys.stderr, flush=True)
    return {
        "tries": tries, "faults": len(faults), "which": faults, "ends": dict(ends), "phases": dict(phases),
        "sentences": dict(sentences), "slowest_end_after_fault": round(slowest, 1), "timeout": TIMEOUT,
        "usual_seconds": round(whole, 1),
    }  # fmt: skip


def _usual(parties: Parties) -> tuple[float, float]:
    """When a client's engine starts, and when it is done, if nobody disturbs it."""
    began = time.monotonic()
    client = parties.ask()
    wait_until(lambda: engines(client.pid) or client.poll() is not None, 300)
    start = time.monotonic() - began
    found = outcome(client, began, 300)
    if not found.is_whole:
        raise RuntimeError(f"a client that nobody disturbed ended with: {found.sentence}")
    return start, found.seconds


def _one_fault(parties: Parties, victim: str, moment: float, is_early: bool, number: int) -> dict[str, Any]:
    began = time.monotonic()
    client = parties.ask()
    if is_early:
        wait_until(lambda: engines(client.pid) or client.poll() is not None, 120)
    time.sleep(max(0.0, began + moment - time.monotonic()) if not is_early else random.uniform(0, 1.5))
    phase = "engines run" if engines(client.pid) else "before or after"
    target = _target(parties, client, victim)
    if target is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(target, number)
    hit = time.monotonic()
    if victim == "client" and target is not None:
        wait_until(lambda: not engines(parties.server.process.pid), TIMEOUT + SLACK)
        client.kill()
    found = outcome(client, began, TIMEOUT + SLACK)
    seconds = time.monotonic() - hit
    _mend(parties, victim)
    is_clean = wait_until(lambda: not engines(parties.server.process.pid), TIMEOUT + SLACK)
    is_good = victim == "client" or found.is_whole or found.is_one_sentence
    is_good = is_good and is_clean and parties.is_serving()
    end = "fault" if not is_good else "all labels" if found.is_whole else "no label"
    return {"victim": victim, "phase": phase, "end": end, "sentence": found.sentence if victim != "client" else "",
            "seconds": round(seconds, 1), "code": found.code}  # fmt: skip


def _target(parties: Parties, client: subprocess.Popen[str], victim: str) -> int | None:
    """The process to hit; None where it has not started, or has ended."""
    own = {"client": [client.pid], "dealer": [parties.dealer.process.pid], "server": [parties.server.process.pid]}
    if victim in own:
        return own[victim][0]
    owner = client.pid if victim == "client engine" else parties.server.process.pid
    return next(iter(engines(owner)), None)


def _mend(parties: Parties, victim: str) -> None:
    """Start again who was hit."""
    if victim in ("dealer", "server"):
        party = parties.dealer if victim == "dealer" else parties.server
        party.end()
        party.start()


# ---- somebody talks nonsense ----------------------------------------------------------------------------------------


def garbage(parties: Parties, rng: random.Random, tries: int) -> dict[str, Any]:
    """Random bytes and random messages to the server and to the dealer; then a client asks as if nothing had been."""
    ways: dict[str, Callable[[Parties, str, random.Random], None]] = {
        "bytes before TLS": _raw,
        "bytes behind TLS": _behind_tls,
        "messages behind a good token": _behind_token,
    }
    counts, faults = Counter[str](), 0
    places = {"server": parties.server_address, "dealer": parties.dealer_address}
    for attempt in range(tries):
        name, place = list(ways)[attempt % len(ways)], list(places)[attempt // len(ways) % 2]
        with contextlib.suppress(OSError, ValueError):
            ways[name](parties, place, rng)
        counts[f"{name}, {place}"] += 1
        if attempt % 50 == 49:
            faults += not parties.is_serving()
            print(f"{attempt + 1}/{tries}", file=sys.stderr, flush=True)
    after = outcome(parties.ask(), time.monotonic(), 300)
    return {"rounds": tries, "faults": faults + (not after.is_whole), "ways": dict(counts),
            "a client afterwards": "all labels" if after.is_whole else after.sentence}  # fmt: skip


def _address(parties: Parties, place: str) -> tuple[str, int]:
    host, _, port = (parties.server_address if place == "server" else parties.dealer_address).partition(":")
    return host, int(port)


def _raw(parties: Parties, place: str, rng: random.Random) -> None:
    with socket.create_connection(_address(parties, place), timeout=5) as raw:
        raw.sendall(rng.randbytes(rng.randrange(1, 2000)))


def _behind_tls(parties: Parties, place: str, rng: random.Random) -> None:
    tls = context(parties.keys / "client", server=False)
    raw = socket.create_connection(_address(parties, place), timeout=5)
    with raw, tls.wrap_socket(raw, server_hostname=role_name(place)) as inner:
        inner.sendall(rng.randbytes(rng.randrange(1, 2000)))


def _behind_token(parties: Parties, place: str, rng: random.Random) -> None:
    """Messages that can be read, with fields of the wrong kind."""
    odd = [None, -1, 2.5, "x", [], {}, [[]], True, "ask", "dealer", "pipe", "join", "facts", 10**30, ["x"] * 5]
    names = ("do", "trust", "rows", "answer", "engine", "session", "secret", "kind", "certificate", "shape", "format")
    said = {name: rng.choice(odd) for name in names if rng.random() < 0.7}
    if rng.random() < 0.5:
        said["format"] = 1
    address = parties.server_address if place == "server" else parties.dealer_address
    with contextlib.closing(call(parties.keys / "client", address, place, said)) as wire:
        wire.send({"do": rng.choice(odd)}, [rng.randbytes(50)])


# ---- many queries ---------------------------------------------------------------------------------------------------


def memory(parties: Parties, rng: random.Random, tries: int) -> dict[str, Any]:
    """The memory of all processes, in MB, after each fifth of the queries of one session."""
    from textveil.mpc.networks import NetworkShape

    keys, inside = parties.keys / "client", dict[str, list[float]]()
    given: dict[str, Any] = {"rows": [1], "dealer": parties.dealer_address, "seconds": 120.0}
    with ClassifyClient(keys, parties.server_address, "dealer", **given) as client:
        shape = NetworkShape.from_json(client.offer["shape"])
        x = np.random.default_rng(1).normal(size=(1, shape.inputs)).astype(np.float32)
        watched = {"server": parties.server.process.pid, "dealer": parties.dealer.process.pid,
                   "client's engine": client.engine.process.pid,
                   "server's engine": engines(parties.server.process.pid)[0]}  # fmt: skip
        for query in range(1, tries + 1):
            client.ask_batch(x)
            if query % max(1, tries // 5) == 0:
                for name, process in watched.items():
                    inside.setdefault(name, []).append(_resident(process))
                print(
                    f"{query}/{tries} { ({name: row[-1] for name, row in inside.items()}) }",
                    file=sys.stderr,
                    flush=True,
                )
    growth = {name: round(row[-1] - row[0], 1) for name, row in inside.items()}
    return {"queries": tries, "megabytes": inside, "growth_after_the_first_fifth": growth,
            "faults": sum(value > 10 for value in growth.values())}  # fmt: skip


def _resident(process: int) -> float:
    """Megabytes that a process holds."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024, 1)


PARTS = {"kills": (kills, 50), "stalls": (stalls, 10), "garbage": (garbage, 500), "memory": (memory, 500)}


if __name__ == "__main__":
    main()
