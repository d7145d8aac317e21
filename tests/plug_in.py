"""The example package of examples/, as if it had been installed: on the path, with the entry points of its pyproject."""

from __future__ import annotations

import shutil
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from textveil.core import registry

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "textveil-example"
PACKAGE = "textveil_example"


@contextmanager
def installed(site: Path, entry_points: dict[str, dict[str, str]] | None = None) -> Iterator[Path]:
    """The example package in `site`; with other entry points than its own where they are given."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shutil.copytree(EXAMPLE / PACKAGE, site / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    described = site / f"{PACKAGE}-{project['version']}.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = project["entry-points"] if entry_points is None else entry_points
    lines = [
        line for group, names in groups.items() for line in (f"[{group}]", *(f"{n} = {v}" for n, v in names.items()))
    ]
    (described / "entry_points.txt").write_text("\n".join(lines) + "\n")
    sys.path.insert(0, str(site))
    registry._entry_points.cache_clear()
    try:
        yield site
    finally:
        sys.path.remove(str(site))
        registry._entry_points.cache_clear()
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]
