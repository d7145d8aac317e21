"""Run the benchmarks of rooms, one after another, and keep their ratios: `python bench/keep.py [ROOM ...] [--quick]`.

A room's benchmark is `bench/ROOM.py`, which ends with one JSON line {"room": ..., "ratios": {name: value}}. What it says is
kept as `docs/results/bench-ROOM.json`, for `bench/compare.py`, with whatever else stands in that line.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from compare import undeclared

HERE = Path(__file__).resolve().parent
ROOMS = HERE.parent / "src" / "textveil"
RESULTS = HERE.parent / "docs" / "results"


class NotKept(Exception):
    """A benchmark that failed, or does not end as it should."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help="all that have a benchmark, if none is named")
    parser.add_argument("--quick", action="store_true", help="passed on: a few minutes for each room")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for the figures (docs/results)")
    options = parser.parse_args()
    known = rooms_with_a_benchmark(HERE, ROOMS)
    if unknown := sorted({*options.rooms} - {*known}):
        parser.error(f"no benchmark of {', '.join(unknown)}; there are {', '.join(known)}")
    sys.exit(keep_all(HERE, options.rooms or known, options.results, quick=options.quick))


def rooms_with_a_benchmark(bench: Path, rooms: Path) -> list[str]:
    """The rooms of the package that have a file of their own among the benchmarks."""
    return sorted(file.stem for file in bench.glob("*.py") if (rooms / file.stem).is_dir())


def keep_all(bench: Path, rooms: list[str], results: Path, *, quick: bool) -> int:
    """Run and keep each; a failure is told, and the others run all the same. The exit status: 0 if all were kept."""
    failures = []
    for room in rooms:
        print(f"== {room}", flush=True)
        try:
            kept = measured(bench / f"{room}.py", room, quick=quick)
        except NotKept as failure:
            failures.append(f"{room} {failure}")
            continue
        results.mkdir(parents=True, exist_ok=True)
        (results / f"bench-{room}.json").write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
        failures += [f"{room}: bench/compare.py does not know what is better of {n}" for n in undeclared(kept)]
    for failure in failures:
        print(f"bench: {failure}", file=sys.stderr)
    return 1 if failures else 0


def measured(script: Path, room: str, *, quick: bool) -> dict[str, Any]:
    """Run one benchmark, show what it prints, and give what is kept of it."""
    options = ["--quick"] if quick else []
    last = ""
    with subprocess.Popen([sys.executable, str(script), *options], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        for line in run.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    if run.returncode:
        raise NotKept(f"ended with status {run.returncode}")
    ratios = _ratios(last, room)
    further = {name: value for name, value in json.loads(last).items() if name not in ("room", "ratios")}
    return {
        "command": " ".join(["python", f"bench/{script.name}", *options]),
        "room": room,
        "ratios": ratios,
        **further,
    }


def _ratios(line: str, room: str) -> dict[str, float]:
    try:
        said = json.loads(line)
    except json.JSONDecodeError:
        raise NotKept("does not end with a line of JSON") from None
    if not isinstance(said, dict) or said.get("room") != room:
        raise NotKept("does not end with the ratios of its room")
    ratios = said.get("ratios")
    if not isinstance(ratios, dict) or not ratios or not all(_is_number(value) for value in ratios.values()):
        raise NotKept("has ratios that are not numbers by name")
    return ratios


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


if __name__ == "__main__":
    main()
