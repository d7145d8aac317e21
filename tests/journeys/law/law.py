"""The law of every release, as checks that a test can aim at a journey (or at a planted fault).

    drawn_before_charge    charge before noise
    after_a_kill           no release without its charge, no output seen twice for one charge, nothing left behind
    seeded                 a seeded release is labelled so, never summed, and its seed is nowhere on disk
    other_data             another data set is refused
    names_in_out           no file in OUT that is not allowed
    evidence_in_out        evidence about private text does not change OUT
    unnamed_columns        every column that leaves is named in `passes`, on the card and on the terminal
    secrets_outside        no planted secret in any log, error, by-product or temporary file

Each returns what is wrong, as sentences: an empty list is a journey that keeps the law.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from journeys.law.faults import KILLED, run_killed
from journeys.law.table import LEDGER, SECRET, SEED, Journey

from textveil.accounting import account
from textveil.accounting.ledger import Ledger
from textveil.cli import run
from textveil.core import registry

LEFT_BY_PYTHON = {"__pycache__"}


def command(arguments: list[str]) -> tuple[int, str]:
    """Run a command in this process; its exit code and everything that it printed."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = run(arguments)
    return code, said.getvalue()


def prepare(journey: Journey, folder: Path, variant: int = 0) -> None:
    """The input of a journey, in a folder that is empty but for it, and the folder as the place of work."""
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    (folder / "tmp").mkdir(exist_ok=True)
    journey.write(folder, variant)
    for before in journey.before:
        code, said = command(list(before))
        assert code == 0, said


def charges(folder: Path) -> list[str]:
    path = folder / LEDGER
    return [entry.id for entry in Ledger(path, must_exist=True).entries()] if path.exists() else []


def planned_charges(folder: Path) -> list[str]:
    """Charges but those for steps of a training that were begun, lost and done again."""
    path = folder / LEDGER
    entries = Ledger(path, must_exist=True).entries() if path.exists() else []
    return [entry.id for entry in entries if "steps done again" not in entry.note]


def _journal_holds_a_charge(folder: Path) -> bool:
    journal = folder / ".out.unfinished/journal.jsonl"
    return journal.exists() and any(line.startswith('{"charge"') for line in journal.read_text().splitlines())


# ---- the checks --------------------------------------------------------------------------------------------------------


def drawn_before_charge(journey: Journey, folder: Path) -> list[str]:
    """Look at the ledger on disk at every moment when a source of private noise is made."""
    prepare(journey, folder)
    already, faults, drawn = len(charges(folder)), [], []
    make = account.source_for

    def watched(seed: int | None) -> object:
        if _called_to_draw():
            drawn.append(seed)
            if len(charges(folder)) <= already:
                faults.append("noise was made before the charge was on disk")
        return make(seed)

    account.source_for = watched  # type: ignore[assignment]
    try:
        code, said = command(journey.arguments())
    finally:
        account.source_for = make
    if code != 0:
        return [f"it ended with {code}: {said}"]
    return faults if drawn else ["it drew no noise from the account"]


def _called_to_draw() -> bool:
    """Whether the maker of a source is asked by a `Paid` (or its parts), not to check a seed."""
    import inspect

    callers = [frame.function for frame in inspect.stack()[2:5]]
    return "__init__" not in callers[:1]


def after_a_kill(journey: Journey, ready: Path, scratch: Path, place: int) -> list[str]:
    """Kill the run at a place, look, run it again to its end, look again. `ready` holds the prepared input."""
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(ready, scratch)
    os.chdir(scratch)
    inputs, already = set(os.listdir(scratch)), len(charges(scratch))
    status = run_killed(_quiet(journey.arguments()), scratch, place)
    if status != KILLED:
        return [f"the run that was to be killed ended with {status}"]
    faults = _release_has_its_charge(scratch)
    stood, paid = (
        (scratch / "out").exists(),
        len(planned_charges(scratch)) if _journal_holds_a_charge(scratch) else None,
    )
    code = run_killed(_quiet(journey.arguments()), scratch, -1)
    if code != (2 if stood else 0):
        faults.append(f"after the kill the same command ended with {code}")
    faults += _release_has_its_charge(scratch) or ([] if (scratch / "out").exists() else ["there is no release"])
    if not journey.charges <= len(charges(scratch)) - already <= journey.charges + 1:
        faults.append(f"{len(charges(scratch)) - already} charges for one release")
    if paid is not None and journey.charges == 1 and len(planned_charges(scratch)) != paid:
        faults.append("a run that its journal knows to be paid was charged again")
    left = set(os.listdir(scratch)) - inputs - {"out", LEDGER} - LEFT_BY_PYTHON
    if left:
        faults.append(f"left behind: {', '.join(sorted(left))}")
    return faults + names_in_out(scratch)


def _quiet(arguments: list[str]) -> Callable[[], None]:
    def call() -> None:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            raise SystemExit(run(arguments))

    return call


def _release_has_its_charge(folder: Path) -> list[str]:
    out = folder / "out"
    if not out.exists():
        return []
    if not (out / "release.json").is_file() or not (out / "card.html").is_file():
        return ["OUT is half a release"]
    entry = json.loads((out / "release.json").read_text())["entry"]
    return [] if entry in charges(folder) else ["a release without its charge"]


def seeded(journey: Journey, folder: Path) -> list[str]:
    prepare(journey, folder)
    before = len(Ledger(folder / LEDGER).total()) if (folder / LEDGER).exists() else 0
    code, said = command(journey.arguments("out", "--seed", SEED))
    if code != 0:
        return [f"it ended with {code}: {said}"]
    faults = []
    manifest = json.loads((folder / "out/release.json").read_text())
    if manifest["guarantee"]["label"] != "seeded" or not manifest["draft"]:
        faults.append(f"a seeded release is labelled {manifest['guarantee']['label']}")
    if len(Ledger(folder / LEDGER).total()) != before:
        faults.append("a seeded release was summed")
    return faults + [f"the seed stands in {name}" for name in files_with(folder, str(SEED), SEED.to_bytes(4, "little"))]


def other_data(journey: Journey, folder: Path) -> list[str]:
    prepare(journey, folder)
    code, said = command(journey.arguments())
    if code != 0:
        return [f"it ended with {code}: {said}"]
    journey.write(folder, 1)
    count = len(charges(folder))
    code, said = command(journey.arguments("out2"))
    faults = [] if code == 1 else [f"other data ended with {code}"]
    if (folder / "out2").exists() or len(charges(folder)) != count:
        faults.append("other data was charged or released")
    return faults


def names_in_out(folder: Path) -> list[str]:
    """Files of OUT that its mechanism does not register."""
    out = folder / "out"
    if not out.exists():
        return []
    mechanism = json.loads((out / "release.json").read_text())["mechanism"]
    allowed = {"release.json", "card.html", "model", *registry.files_of(mechanism)}
    strays = [p.name for p in out.iterdir() if p.name not in allowed and not p.name.startswith("data.")]
    hidden = [p.name for p in out.rglob(".*")]
    return [f"{name} stands in OUT" for name in (*strays, *hidden)]


def unnamed_columns(journey: Journey, folder: Path) -> list[str]:
    prepare(journey, folder)
    code, said = command(journey.arguments())
    if code != 0:
        return [f"it ended with {code}: {said}"]
    passes = " ".join(json.loads((folder / "out/release.json").read_text())["passes"])
    card = (folder / "out/card.html").read_text().replace("&#x27;", "'").replace("&#39;", "'")
    places = {"release.json": passes, "the card": card, "the terminal": said}
    return [
        f"column {column} leaves and is not named in {name}"
        for column in journey.columns
        for name, text in places.items()
        if f"'{column}'" not in text
    ]


def evidence_in_out(folder: Path, truth: str) -> list[str]:
    """What an audit with the original at hand changes in a folder that may be published already."""
    before = {p: p.read_bytes() for p in (folder / "out").rglob("*") if p.is_file()}
    os.chdir(folder)
    code, said = command(["audit", "out", "--truth", truth, "--attack", "words.nearest"])
    if code != 0:
        return [f"the audit ended with {code}: {said}"]
    after = {p: p.read_bytes() for p in (folder / "out").rglob("*") if p.is_file()}
    changed = [p.name for p in {*before, *after} if before.get(p) != after.get(p)]
    return [f"{name} was changed by evidence about private text" for name in changed]


def published_without_a_line(release: Path, scratch: Path, place: int, truth: str) -> list[str]:
    """Kill an audit that publishes evidence about private text: what stands in OUT has its line in the ledger."""
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(release, scratch)
    os.chdir(scratch)
    before, card = len(charges(scratch)), (scratch / "out/card.html").read_bytes()
    if run_killed(_quiet(publishing(truth)), scratch, place) != KILLED:
        return ["the audit was not killed"]
    evidence = json.loads((scratch / "out/release.json").read_text())["evidence"]
    shown = evidence or (scratch / "out/card.html").read_bytes() != card
    faults = ["evidence was published without a line"] if shown and len(charges(scratch)) == before else []
    if run_killed(_quiet(publishing(truth)), scratch, -1) != 0:
        faults.append("after the kill the same audit could not be repeated")
    return faults + names_in_out(scratch)


def publishing(truth: str) -> list[str]:
    return ["audit", "out", "--truth", truth, "--attack", "words.nearest", "--publish", "--ledger", LEDGER]


def secrets_outside(journey: Journey, folder: Path) -> list[str]:
    """The secret word anywhere but in the input: output, ledger, temporary files, what was printed."""
    prepare(journey, folder)
    inputs = {p for p in folder.rglob("*") if p.is_file()}
    code, said = command(journey.arguments())
    if code != 0:
        return [f"it ended with {code}: {said}"]
    _, again = command(journey.arguments())  # an error: OUT exists
    found = [f"the secret stands in {name}" for name in files_with(folder, SECRET) if folder / name not in inputs]
    return found + (["the secret was printed"] if SECRET in said + again else [])


def files_with(folder: Path, *needles: str | bytes) -> Iterator[str]:
    """Files below a folder that hold one of these, compressed ones unpacked as far as npz and gz go."""
    wanted = [n.encode() if isinstance(n, str) else n for n in needles]
    for path in folder.rglob("*"):
        if path.is_file() and any(n in raw for raw in _contents(path) for n in wanted):
            yield str(path.relative_to(folder))


def _contents(path: Path) -> Iterator[bytes]:
    import gzip
    import zipfile

    yield path.read_bytes()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            for name in packed.namelist():
                yield packed.read(name)
    elif path.suffix == ".gz":
        yield gzip.decompress(path.read_bytes())
