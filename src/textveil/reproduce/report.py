"""From a study to its page: run the cells, judge the claims, write table, JSON and figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput
from textveil.reproduce.cells import Cell, Store, key_of
from textveil.reproduce.claims import claims_of, judge_all
from textveil.reproduce.study import Progress, Run, Study, run
from textveil.reproduce.tables import EARLIER, summary, text_table, write


def report(
    study: Study,
    scale: str,
    part: str | None = None,
    *,
    cache: Path,
    out: Path,
    data: Path | None = None,
    jobs: int = 1,
    progress: Progress = lambda cell, seconds: None,
) -> tuple[dict[str, Any], list[str]]:
    """The whole result as JSON, and the table as lines. Of the parts not asked for, what is kept is shown.

    Results are kept in the cache and, under the same keys, in the result folder: who has only the folder (a fresh clone)
    runs one part and loses none of the others. Of the others, results of earlier code stay too, and the page says so.
    """
    store = Store(cache)
    entries = _take_over(store, out)
    done = run(study, study.cells(scale, part), store=store, data=data, jobs=jobs, progress=progress)
    missing = _add_kept(done, study, study.cells(scale), store, data)
    missing -= _add_older(done, study.cells(scale), entries)
    return _judged(study, done, scale, missing, out)


def _take_over(store: Store, folder: Path) -> list[dict[str, Any]]:
    """Add to the store what a result folder holds under a key; one that cannot be read holds nothing."""
    try:
        entries = list(_read_results(folder)["cells"])
    except BadInput:
        return []
    for entry in entries:
        if "key" in entry and store.get(entry["key"]) is None:
            store.put(entry["key"], _cell_of(entry), entry["result"], entry["seconds"])
    return entries


def _add_older(done: Run, cells: list[Cell], entries: list[dict[str, Any]]) -> set[str]:
    """Add results of earlier code, of cells that were not asked for; the kinds that are whole with them."""
    older = {_cell_of(entry): entry for entry in entries}
    for cell in cells:
        if cell not in done.results and cell not in done.failed and cell in older:
            _add_entry(done, cell, older[cell] | {"code": EARLIER})
    done.results = {cell: done.results[cell] for cell in cells if cell in done.results}
    return {cell.kind for cell in done.older} - {cell.kind for cell in cells if cell not in done.results}


def _add_entry(done: Run, cell: Cell, entry: dict[str, Any]) -> None:
    """Add what a result folder holds of a cell."""
    done.results[cell], done.seconds[cell] = entry["result"], entry["seconds"]
    if "key" in entry:
        done.keys[cell] = entry["key"]
    if entry.get("code") == EARLIER:
        done.older.add(cell)


def judge_again(study: Study, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Judge the cells that a result folder holds, by the rules, claims and plan of today; nothing is run.

    Cells that the plan of today has and the folder lacks are missing: claims that need their kind are not judged.
    """
    kept = _read_results(folder)
    done = Run(failed={_cell_of(entry): entry["why"] for entry in kept["failed"]})
    for entry in kept["cells"]:
        _add_entry(done, _cell_of(entry), entry)
    missing = {cell.kind for cell in study.cells(kept["scale"]) if cell not in done.results}
    return _judged(study, done, kept["scale"], missing | {cell.kind for cell in done.failed}, folder)


def _read_results(folder: Path) -> dict[str, Any]:
    path = folder / "results.json"
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        raise BadInput("holds no results", where=path) from None


def _cell_of(entry: dict[str, Any]) -> Cell:
    return Cell.of(entry["cell"], **entry["parameters"])


def _judged(study: Study, done: Run, scale: str, missing: set[str], folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Judge every claim, draw every figure, write the page."""
    judged = judge_all(claims_of(study), study, done.view(), missing)
    whole = summary(study, done, judged, scale)
    write(folder, whole, study.figures(done.view()))
    return whole, text_table(judged)


def _add_kept(done: Run, study: Study, cells: list[Cell], store: Store, data: Path | None) -> set[str]:
    """Add what earlier runs kept of the other parts; the kinds of which any cell is still missing."""
    missing = set()
    for cell in cells:
        if cell in done.results:
            continue
        key = None if cell in done.failed else _key(cell, study, data)
        kept = None if key is None else store.get(key)
        if key is None or kept is None:
            missing.add(cell.kind)
        else:
            done.results[cell], done.seconds[cell], done.keys[cell] = kept["result"], kept["seconds"], key
    done.results = {cell: done.results[cell] for cell in cells if cell in done.results}
    return missing


def _key(cell: Cell, study: Study, data: Path | None) -> str | None:
    try:
        return key_of(study.paper, cell, study.kinds[cell.kind], data)
    except BadInput:  # data that a part not asked for would need is not here
        return None
