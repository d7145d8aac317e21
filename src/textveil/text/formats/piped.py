"""The names that piped input has (see text.spool), so that a run knows it again."""

from __future__ import annotations

from pathlib import Path

STDIN = "-"
FOLDER = "textveil-stdin-"
FILE = "stdin"


def is_piped(path: Path) -> bool:
    """Whether this is what was piped in.

    >>> is_piped(Path("/tmp/textveil-stdin-x1/stdin.csv")), is_piped(Path("stdin.csv"))
    (True, False)
    """
    return path.parent.name.startswith(FOLDER) and path.name.startswith(f"{FILE}.")


def source_name(path: Path) -> str:
    """What binds a run to its input: where the file lies, or that it was piped in."""
    return STDIN if is_piped(path) else str(path.absolute())
