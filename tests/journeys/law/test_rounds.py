"""Output that is seen before it is stored: a round done again is charged again, wherever the run was killed."""

from __future__ import annotations

from pathlib import Path

from journeys.law import law
from journeys.law.faults import KILLED, count_places, run_killed
from journeys.law.rounds import ROUNDS, run_rounds
from journeys.law.table import LEDGER


def faults_of_rounds(tmp_path: Path, every: int = 1) -> dict[int, str]:
    """Kill at each place, run again, and compare what was seen with what was charged."""
    (tmp_path / "count").mkdir()
    places = count_places(lambda: run_rounds(tmp_path / "count", LEDGER), tmp_path / "count")
    faults = {}
    for place in range(0, len(places), every):
        folder = tmp_path / f"at-{place}"
        folder.mkdir()
        assert run_killed(lambda: run_rounds(folder, LEDGER), folder, place) == KILLED  # noqa: B023
        if not (folder / "out").exists():
            assert run_killed(lambda: run_rounds(folder, LEDGER), folder, -1) == 0  # noqa: B023
        seen = (folder / "seen.txt").read_text().splitlines()
        charged = len(law.charges(folder))
        if len(seen) > charged:
            faults[place] = f"{len(seen)} outputs were seen for {charged} charges"
        if charged > ROUNDS + 1:
            faults[place] = f"{charged} charges for {ROUNDS} rounds and one kill"
    return faults


def test_what_was_seen_was_charged(tmp_path):
    assert faults_of_rounds(tmp_path) == {}
