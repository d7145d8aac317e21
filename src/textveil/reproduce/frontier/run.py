"""The frontier of a file: run its cells, find the recommended point, write the page.

The folder OUT is as private as the file: frontier.json, frontier.svg, frontier.html (mode 600, in a folder of mode 700).
Finished cells are kept in `.OUT.cells` beside it, private too, so that a run that is stopped goes on; they are removed when
OUT stands.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.core.files import private_folder
from textveil.core.params import open_fraction, positive_integer
from textveil.core.release import check_free, check_writable, new_folder
from textveil.reproduce.cells import Cell, Kind, Store
from textveil.reproduce.figures import svg
from textveil.reproduce.frontier import cells
from textveil.reproduce.frontier.page import figure, page
from textveil.reproduce.study import Run, Study, run
from textveil.reproduce.verdicts import mean_of
from textveil.text import sample
from textveil.text.readers import FileOptions

ATTACK_DRAWS = 40_000
KINDS = {"attack": Kind(cells.attack), "clear": Kind(cells.clear), "use": Kind(cells.use)}
STUDY = Study("frontier", "Attack success against use", KINDS, lambda scale: [], {})
Progress = Callable[[int, int], None]  # cells done, cells in all


@dataclass(frozen=True, kw_only=True)
class FrontierJob(FileOptions):
    """One file and what is tried on it; without a file the bundled letters are taken."""

    out: Path
    source: Path | None = None
    label_field: str | None = None
    test: Path | None = None
    mechanisms: tuple[str, ...] = ("brr", "vickrey")
    targets: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3, 0.5)
    target: float = 0.2
    draws: int = 5
    most: int = 4_000

    @property
    def path(self) -> Path:
        return sample.path() if self.source is None else self.source

    def labelled(self) -> dict[str, Any]:
        """How the labelled file is read; part of every cell."""
        known = {"label_field": "kind", "text_field": "text"} if self.source is None else {}
        given = {**self.reading(), "label_field": self.label_field}
        return {
            **given,
            **{name: value for name, value in known.items() if given[name] is None},
            "test": None if self.test is None else str(self.test.absolute()),
            "most": self.most,
        }

    def check(self) -> None:
        if self.source is not None and self.label_field is None:
            raise BadInput("the field with the label is missing", possible="--label-field F")
        for name, value in (("draws", self.draws), ("most", self.most)):
            positive_integer(name, value)
        for value in (*self.targets, self.target):
            open_fraction("attack-success", value)
        if min(self.targets) > self.target:
            raise BadInput(f"no point is tried at an attack success of {self.target:g} or less")


def find_frontier(job: FrontierJob, *, progress: Progress = lambda done, cells: None) -> dict[str, Any]:
    """Run what is not done yet, and write OUT."""
    job.check()
    check_free(job.out)
    check_writable(job.out)
    if not job.path.is_file():
        raise BadInput("does not exist", where=job.path)
    work = private_folder(job.out.with_name(f".{job.out.name}.cells"))
    found = _run_cells(job, Store(work), progress)
    with new_folder(job.out, private=True) as folder:
        (folder / "frontier.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        (folder / "frontier.svg").write_text(svg(figure(found)), encoding="utf-8")
        (folder / "frontier.html").write_text(page(found), encoding="utf-8")
    shutil.rmtree(work, ignore_errors=True)
    return found


def _run_cells(job: FrontierJob, store: Store, progress: Progress) -> dict[str, Any]:
    common = {"reading": job.labelled(), "file": _hash(job)}
    arms = [{"mechanism": name, "attack": target} for name in job.mechanisms for target in job.targets]
    total, done = 1 + len(arms) * (1 + job.draws), 0

    def run_all(wanted: list[Cell]) -> Run:
        nonlocal done

        def count(cell: Cell, seconds: float) -> None:
            nonlocal done
            done += 1
            progress(done, total)

        finished = run(STUDY, wanted, store=store, data=job.path, progress=count)
        if finished.failed:
            raise BadInput(next(iter(finished.failed.values())))
        return finished

    clear = next(iter(run_all([Cell.of("clear", **common)]).results.values()))
    attacks = run_all([Cell.of("attack", draws=ATTACK_DRAWS, **arm) for arm in arms]).view()
    learner = clear["learner"]
    uses = run_all(
        [Cell.of("use", learner=learner, draw=draw, **common, **arm) for draw in range(job.draws) for arm in arms]
    ).view()
    points = []
    for arm in arms:
        (known,) = attacks.of("attack", **arm)
        runs = [cell.result["accuracy"] for cell in uses.of("use", **arm)]
        points.append(_point(arm, known.result, runs, clear))
    return {
        "private": job.source is not None,
        "file": job.path.name,
        "label_field": job.labelled()["label_field"],
        "text_field": job.labelled()["text_field"],
        **clear,
        "target": job.target,
        "draws": job.draws,
        "points": points,
        "recommended": recommended(points, job.target),
    }


def _point(arm: dict[str, Any], known: dict[str, Any], runs: list[float], clear: dict[str, Any]) -> dict[str, Any]:
    measure = mean_of("accuracy", runs)
    interval = [measure.low, measure.high] if len(runs) > 1 else None
    gain = clear["accuracy"] - clear["chance"]
    kept = (measure.value - clear["chance"]) / gain if gain > 0 else None
    accuracy = {"value": measure.value, "interval": interval, "draws": runs}
    return {
        "mechanism": f"words.{arm['mechanism']}",
        "wanted": arm["attack"],
        **known,
        "accuracy": accuracy,
        "kept": kept,
    }


def recommended(points: list[dict[str, Any]], target: float) -> dict[str, Any]:
    """The most useful point at which the best attack succeeds at most as often as wanted, and those not told from it."""
    allowed = [point for point in points if point["wanted"] <= target]
    best = max(allowed, key=lambda point: float(point["accuracy"]["value"]))
    low = best["accuracy"]["interval"][0] if best["accuracy"]["interval"] else best["accuracy"]["value"]
    near = [
        {"mechanism": p["mechanism"], "epsilon": p["epsilon"]}
        for p in allowed
        if p is not best and p["accuracy"]["interval"] and p["accuracy"]["interval"][1] >= low
    ]
    return {**best, "not_told_apart": near}


def _hash(job: FrontierJob) -> str:
    """Which content the cells belong to; it stays in the private folder."""
    digest = hashlib.blake2b(digest_size=16)
    for path in (job.path, job.test):
        digest.update(b"" if path is None else Path(path).read_bytes())
    return digest.hexdigest()
