"""One place each that charges, stamps and makes private noise, read from the source.

Ledger.charge     accounting/account.py (and the ledger itself, for published evidence)
Stamp.now         accounting/account.py
source_for        accounting/account.py
settle            core/release.py, recipes/publish.py: the rename of a finished folder
public_params     what a release says of its parameters: no journey asks for all of them (get_params)
secure, seeded    public randomness and attacks only, in the files listed below
Source, streams   accounting/account.py: nobody puts a source together by hand
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import textveil

SOURCE = Path(textveil.__file__).parent
ACCOUNT = "accounting/account.py"
MAKERS = {"source_for": {ACCOUNT}, "Stamp.now": {ACCOUNT}}
CHARGES = {ACCOUNT, "accounting/ledger.py"}
BY_HAND = ("Source", "SecureStream", "SeededStream")
MOVES = ("rename", "renames", "move")  # of os, shutil or a path
RENAMES = {
    "os.rename": {"core/release.py"},  # a folder becomes a release
    "settle": {"core/release.py", "recipes/publish.py"},
}
# Files that may make a source of their own, and what for. None of it touches private data on its way out.
PUBLIC_RANDOMNESS = {
    "counts/public_randomness.py": "groupings, which are public",
    "recipes/audit.py": "an attacker's own randomness",
    "recipes/training/canaries.py": "planted secrets, which stay with the owner",
    "recipes/federated/canaries.py": "planted secrets, which stay with the owner",
    "recipes/use/forecast.py": "draws of public words",
    "recipes/use/trial.py": "a trial on its owner's text, of which nothing but a figure for the owner is left",
    "recipes/use/topics.py": "a yardstick that stays with the owner",
    "recipes/words/certify.py": "draws of public words",
    "recipes/words/compare.py": "draws of public words",
    "recipes/words/engines.py": "a public word, to warm up",
    "recipes/words/tune.py": "draws of public words",
    "words/tuning.py": "draws of public words",
}
# Files on the way out that may ask for all parameters, and what for.
ALL_PARAMETERS = {
    "recipes/words/tune.py": "a line of progress about public draws",
    "recipes/hashed/exposure.py": "an attacker trains a model of his own",
    "recipes/training/measure.py": "the owner trains the model again without privacy, as a yardstick",
}
WAY_OUT = ("recipes/", "accounting/", "report/")
FREE_ROOMS = ("noise/", "attacks/", "testing/", "reproduce/")


def faults_in(root: Path) -> list[str]:
    """Every place that charges, stamps, settles or draws without being the one that may."""
    return [f"{file}: line {line} {what}" for file, line, what in _faults(root)]


def _faults(root: Path) -> Iterator[tuple[str, int, str]]:
    for path in sorted(root.rglob("*.py")):
        file = path.relative_to(root).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield from ((file, node.lineno, what) for what in _wrong(file, ast.unparse(node.func)))


def _wrong(file: str, called: str) -> Iterator[str]:
    last = called.rpartition(".")[2]
    for name, allowed in {**MAKERS, **RENAMES}.items():
        if (called == name or last == name) and file not in allowed and not file.startswith("noise/"):
            yield f"calls {name}"
    if last in BY_HAND and file != ACCOUNT and not file.startswith(FREE_ROOMS):
        yield f"puts a source together by {last}()"
    if last in MOVES and called not in (last, "os.rename"):
        yield f"moves something by {called}()"
    if last == "charge" and "account" not in called and file not in CHARGES:
        yield "charges a ledger"
    if last == "get_params" and file.startswith(WAY_OUT) and file not in ALL_PARAMETERS:
        yield "shows parameters that public_params did not choose"
    if last in ("secure", "seeded") and file not in PUBLIC_RANDOMNESS and not file.startswith(FREE_ROOMS):
        yield f"makes a source by {last}()"


def test_one_place_each():
    assert faults_in(SOURCE) == []


def test_every_exception_is_still_one():
    for file in PUBLIC_RANDOMNESS:
        text = (SOURCE / file).read_text(encoding="utf-8")
        assert "secure(" in text or "seeded(" in text, file


def test_each_is_called_exactly_once_where_it_may_be():
    text = (SOURCE / ACCOUNT).read_text(encoding="utf-8")
    assert text.count("Stamp.now(") == 1
    assert text.count("ledger.charge(") == 1
    assert (SOURCE / "core/release.py").read_text(encoding="utf-8").count("os.rename(") == 1
