"""A study and its run: the cells that are not kept yet, several at a time; a failing one is named and the others go on."""

from __future__ import annotations

import multiprocessing
import os
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from textveil.core.errors import TextveilError, UnknownName
from textveil.reproduce.cells import Cell, Kind, Result, Store, key_of
from textveil.reproduce.figures import Figure
from textveil.reproduce.verdicts import Measure

SCALES = ("small", "full")
Progress = Callable[[Cell, float], None]
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class CellResult(NamedTuple):
    """One finished cell."""

    parameters: dict[str, Any]
    result: Result


class Results:
    """What the cells gave, asked by kind and parameters."""

    def __init__(self, by_cell: Mapping[Cell, Result]):
        self._by_cell = dict(by_cell)

    def of(self, kind: str, **wanted: Any) -> list[CellResult]:
        """Finished cells of a kind whose parameters have the wanted values, in the order of the plan.

        >>> Results({Cell.of("a", seed=1): {"x": 5}, Cell.of("a", seed=2): {"x": 6}}).of("a", seed=2)[0].result
        {'x': 6}
        """
        of_kind = [CellResult(cell.parameters, result) for cell, result in self._by_cell.items() if cell.kind == kind]
        return [c for c in of_kind if all(c.parameters.get(name) == value for name, value in wanted.items())]

    def kinds(self) -> set[str]:
        return {cell.kind for cell in self._by_cell}

    def __len__(self) -> int:
        return len(self._by_cell)


@dataclass(frozen=True)
class Study:
    """One paper. `plan(scale)` lists its cells; `parts` groups kinds under the names that `--part` takes.

    `figures(results)` gives the paper's figures; `notes` are sentences about data and stand-ins. `measures` are functions
    of the results (and of arguments in the claims file) that give what a claim is judged by, beside those that all
    studies share (`textveil.reproduce.measures`).
    """

    paper: str
    title: str
    kinds: Mapping[str, Kind]
    plan: Callable[[str], list[Cell]]
    parts: Mapping[str, tuple[str, ...]]
    measures: Mapping[str, Callable[..., list[Measure]]] = field(default_factory=dict)
    figures: Callable[[Results], list[Figure]] = lambda results: []
    notes: tuple[str, ...] = ()
    claims: Path | None = None  # the claims file of a study that is not Textveil's own

    def cells(self, scale: str, part: str | None = None) -> list[Cell]:
        """The plan, or one part of it."""
        if scale not in SCALES:
            raise UnknownName("scale", scale, SCALES)
        if part is not None and part not in self.parts:
            raise UnknownName("part", part, self.parts)
        wanted = self.kinds if part is None else self.parts[part]
        return [cell for cell in self.plan(scale) if cell.kind in wanted]


@dataclass
class Run:
    """What a run left: results and their keys by cell, failures by cell, and how many were kept from before.

    `older`: cells whose results are of an earlier run, whose code or data may differ from today's.
    """

    results: dict[Cell, Result] = field(default_factory=dict)
    keys: dict[Cell, str] = field(default_factory=dict)
    failed: dict[Cell, str] = field(default_factory=dict)
    seconds: dict[Cell, float] = field(default_factory=dict)
    older: set[Cell] = field(default_factory=set)
    kept: int = 0

    def view(self) -> Results:
        return Results(self.results)


def run(
    study: Study,
    cells: list[Cell],
    *,
    store: Store,
    data: Path | None = None,
    jobs: int = 1,
    progress: Progress = lambda cell, seconds: None,
) -> Run:
    """Run the cells that the store does not hold. Timed kinds come last, one at a time."""
    keys = {cell: key_of(study.paper, cell, study.kinds[cell.kind], data) for cell in cells}
    done = Run(keys=keys)
    for cell, key in keys.items():
        kept = store.get(key)
        if kept is not None:
            done.results[cell], done.seconds[cell] = kept["result"], kept["seconds"]
            done.kept += 1
            progress(cell, 0.0)
    left = [cell for cell in cells if cell not in done.results]
    together = [cell for cell in left if not study.kinds[cell.kind].alone]
    alone = [cell for cell in left if study.kinds[cell.kind].alone]
    for some, at_once in ((together, jobs), (alone, 1)):
        for cell, outcome in _outcomes(study, some, data, at_once, store.files(study.paper)):
            _note(done, cell, outcome, store, keys[cell])
            progress(cell, outcome.seconds)
    done.results = {cell: done.results[cell] for cell in cells if cell in done.results}  # in the order of the plan
    return done


class _Outcome(NamedTuple):
    result: Result | None
    seconds: float
    error: str = ""


def _note(done: Run, cell: Cell, outcome: _Outcome, store: Store, key: str) -> None:
    if outcome.result is None:
        done.failed[cell] = outcome.error
        return
    store.put(key, cell, outcome.result, outcome.seconds)
    done.results[cell], done.seconds[cell] = outcome.result, outcome.seconds


def _outcomes(
    study: Study, cells: list[Cell], data: Path | None, jobs: int, kept: Path
) -> Iterator[tuple[Cell, _Outcome]]:
    if jobs <= 1 or len(cells) < 2:
        for cell in cells:
            yield cell, _attempt(study.kinds[cell.kind], cell, data, kept)
        return
    fresh = multiprocessing.get_context("spawn")  # a forked copy of threads that already run may hang
    with _one_thread_each(), ProcessPoolExecutor(min(jobs, len(cells)), mp_context=fresh) as pool:
        waiting: dict[Future[_Outcome], Cell] = {
            pool.submit(_attempt, study.kinds[cell.kind], cell, data, kept): cell for cell in cells
        }
        for future in as_completed(waiting):
            try:
                yield waiting[future], future.result()
            except BrokenProcessPool:
                yield waiting[future], _Outcome(None, 0.0, "a worker process died (out of memory?)")


def _attempt(kind: Kind, cell: Cell, data: Path | None, kept: Path) -> _Outcome:
    """Run one cell. An unexpected error is told by kind and place: its message may quote the data."""
    start = time.perf_counter()
    try:
        result = kind.function(data, **cell.parameters, **({"kept": kept} if kind.keeps else {}))
    except TextveilError as error:
        return _Outcome(None, time.perf_counter() - start, str(error))
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(where.filename)}, line {where.lineno}"
        return _Outcome(None, time.perf_counter() - start, f"unexpected {type(error).__name__} in {place}")
    return _Outcome(result, time.perf_counter() - start)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Workers inherit the environment when they start; several of them must not each use every core."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
