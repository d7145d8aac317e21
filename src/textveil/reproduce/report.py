"""From a study to its page: run the cells, judge the claims, write table, JSON and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput
from textveil.reproduce.cells import Cell, Store, key_of
from textveil.reproduce.claims import judge_all, load_claims
from textveil.reproduce.study import Progress, Run, Study, run
from textveil.reproduce.tables import summary, text_table, write


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
    """The whole result as JSON, and the table as lines. Of the parts not asked for, what is kept is shown."""
    store = Store(cache)
    done = run(study, study.cells(scale, part), store=store, data=data, jobs=jobs, progress=progress)
    missing = _add_kept(done, study, study.cells(scale), store, data)
    judged = judge_all(load_claims(study.paper), study, done.view(), missing)
    whole = summary(study, done, judged, scale)
    figures = study.figures(done.view())
    write(out, whole, figures)
    return whole, text_table(judged)


def _add_kept(done: Run, study: Study, cells: list[Cell], store: Store, data: Path | None) -> set[str]:
    """Add what earlier runs kept of the other parts; the kinds of which any cell is still missing."""
    missing = set()
    for cell in cells:
        if cell in done.results:
            continue
        kept = None if cell in done.failed else _kept(cell, study, store, data)
        if kept is None:
            missing.add(cell.kind)
        else:
            done.results[cell], done.seconds[cell] = kept["result"], kept["seconds"]
    done.results = {cell: done.results[cell] for cell in cells if cell in done.results}
    return missing


def _kept(cell: Cell, study: Study, store: Store, data: Path | None) -> dict[str, Any] | None:
    try:
        return store.get(key_of(cell, study.kinds[cell.kind], data))
    except BadInput:  # data that a part not asked for would need is not here
        return None
