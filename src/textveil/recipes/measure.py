"""One runner for all measures of use: which tasks a release folder allows, and where their figures go.

A room says in its row (`MeasureRoom`, in recipes/ROOM/measure.py) how it opens a folder and which tasks it has; a task names
what it asks for beyond the original file. So no room and no task is named here, or in the command line.

Where figures go. A task is done with the release and with the original, so its figures are about private text: they go to
the terminal and to `OUT.private/utility.json`, and the folder stays as it was. With `publish` they go into the folder, marked
as published, and the ledger gets a line for them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from textveil.core import BadInput, read_manifest
from textveil.core.errors import UnknownName
from textveil.core.utility import Utility
from textveil.recipes.figure_files import UTILITY, check_publishing, publish_figures, record_private
from textveil.text.readers import FileOptions

ROOMS = {
    "counts": "textveil.recipes.counts.measure",
    "federated": "textveil.recipes.training.measure",
    "training": "textveil.recipes.training.measure",
    "words": "textveil.recipes.words.measure",
}
ASKED = {"label": "--label-field F, the field with the label", "test": "--test PUBLIC, a clear file to test on"}
NO_ROOM = {"hashed": "extraction models are scored on marked text: textveil hashed score"}


@dataclass(frozen=True)
class MeasureJob(FileOptions):
    """One measure. `tasks` empty: all that the folder and the files given allow."""

    folder: Path
    truth: Path
    tasks: tuple[str, ...] = ()
    label_field: str | None = None
    test: Path | None = None
    vectors: str | None = None
    publish: bool = False
    ledger: Path | None = None

    def has(self, asked: str) -> bool:
        """Whether what a task asks for was given."""
        return (self.label_field if asked == "label" else self.test) is not None


@dataclass(frozen=True)
class UseTask:
    """One task of a room."""

    name: str
    run: Callable[[Any], list[Utility]]  # the opened folder -> figures
    asks: tuple[str, ...] = ()


@dataclass(frozen=True)
class MeasureRoom:
    """How the folders of one room are opened, and what can be done with them."""

    open: Callable[[MeasureJob, dict[str, Any]], Any]
    tasks: tuple[UseTask, ...]


class MeasureResult(NamedTuple):
    """What was measured, why other tasks were not done, and the file that has it."""

    uses: list[Utility]
    rows: list[dict[str, Any]]
    not_run: dict[str, str]
    written: Path


def measure_release(job: MeasureJob, *, progress: Callable[[str], None] = lambda title: None) -> MeasureResult:
    """Do the tasks and put their figures where they belong."""
    manifest = read_manifest(job.folder)
    if job.publish:
        check_publishing(UTILITY, manifest, job.ledger)
    room = room_of(str(manifest["mechanism"]))
    chosen, not_run = choose_tasks(job, room)
    opened = room.open(job, manifest)
    uses: list[Utility] = []
    for task in chosen:
        progress(task.name)
        try:
            uses += task.run(opened)
        except BadInput as error:
            if job.tasks or error.where is not None or error.field is not None:
                raise  # a file that does not fit is a mistake, not a reason to go without
            not_run[task.name] = str(error)
    if not uses:
        raise BadInput(f"nothing could be measured: {'; '.join(f'{n}: {why}' for n, why in not_run.items())}")
    rows = [use.to_json() for use in uses]
    if job.publish:
        written = publish_figures(UTILITY, job.folder, manifest, rows, job.ledger)
    else:
        written = record_private(UTILITY, job.folder, rows)
    return MeasureResult(uses, rows, not_run, written)


def choose_tasks(job: MeasureJob, room: MeasureRoom) -> tuple[list[UseTask], dict[str, str]]:
    """The tasks that can be done, and why the others cannot."""
    names = [task.name for task in room.tasks]
    for name in job.tasks:
        if name not in names:
            raise UnknownName("task", name, names)
    wanted = [task for task in room.tasks if not job.tasks or task.name in job.tasks]
    lacking = {t.name: "needs " + " and ".join(ASKED[a] for a in t.asks if not job.has(a)) for t in wanted}
    not_run = {t.name: lacking[t.name] for t in wanted if not all(job.has(asked) for asked in t.asks)}
    for name in job.tasks:
        if name in not_run:
            raise BadInput(f"the task {name} {not_run[name]}")
    return [task for task in wanted if task.name not in not_run], not_run


def room_of(mechanism: str) -> MeasureRoom:
    """The room of a mechanism; one of another package is taken for a word mechanism, or refused when it is opened."""
    name = mechanism.partition(".")[0]
    if name in NO_ROOM:
        raise BadInput(f"releases of {mechanism} are not measured here", possible=NO_ROOM[name])
    room: MeasureRoom = importlib.import_module(ROOMS.get(name, ROOMS["words"])).ROOM
    return room
