"""Build the wheel and try it where no source tree is.

    python scripts/wheel_check.py             build; look at its files; install it in an empty environment; run the demo there
    python scripts/wheel_check.py --resolve   also let pip resolve 'textveil[all]' from the wheel, without installing it

Everything happens in a scratch folder, which is removed. `--keep` leaves it and prints where it is.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 30  # MB: bundled vectors take most of it
NEEDED = (
    "textveil/py.typed",
    "textveil/verbs.pyi",
    "textveil/text/default/english.tvv",
    "textveil/text/sample/letters.jsonl",
    "textveil/hashed/default_clusters.npz",
    "textveil/report/page.css",
    "textveil/web/static/review.html",
    "textveil/web/static/review.js",
    "textveil/reproduce/claims/06.toml",
)
NOT_CODE = {".pyc", ".pyo", ".so", ".o", ".orig", ".rej"}


def build(folder: Path) -> Path:
    """The wheel of this tree, in a folder. It is built from a copy: setuptools leaves things behind and packs them again."""
    tree = folder / "tree"
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, tree / name)
    run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(tree)])
    (wheel,) = folder.glob("textveil-*.whl")
    return wheel


def faults(wheel: Path) -> list[str]:
    """What is missing in the wheel, or does not belong there."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    source = {
        path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "textveil").rglob("*") if belongs(path)
    }
    packed = {name for name in names if name.startswith("textveil/")}
    lines = [f"missing: {name}" for name in sorted((source | set(NEEDED)) - packed)]
    lines += [f"does not belong there: {name}" for name in sorted(packed - source)]
    lines += [f"outside of the package: {name}" for name in sorted(names - packed) if ".dist-info/" not in name]
    if not any(name.endswith("/licenses/LICENSE") for name in names):
        lines.append("missing: the licence")
    if wheel.stat().st_size > LARGEST * 10**6:
        lines.append(f"it has {megabytes(wheel):.1f} MB, more than {LARGEST}")
    return lines


def belongs(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts and path.suffix not in NOT_CODE


def megabytes(path: Path) -> float:
    return path.stat().st_size / 1e6


def empty_environment(folder: Path) -> Path:
    """A new environment without anything in it; the path of its Python."""
    venv.create(folder, with_pip=True, clear=True)
    return folder / "bin" / "python"


def try_demo(python: Path, wheel: Path, folder: Path) -> str:
    """Install the wheel and run the demo in a folder that has nothing to do with the source tree."""
    run([str(python), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"), str(wheel)])
    folder.mkdir()
    where = run([str(python), "-c", "import textveil; print(textveil.__file__)"], cwd=folder).strip()
    if not Path(where).is_relative_to(python.parent.parent):
        raise SystemExit(f"the demo would run {where}, which is not in the new environment")
    told = run([str(python.parent / "textveil"), "demo", "-o", "demo"], cwd=folder)
    cards = sorted(str(path.relative_to(folder)) for path in folder.rglob("card.html"))
    if not cards:
        raise SystemExit("the demo wrote no card")
    return f"{told}\ncards: {', '.join(cards)}"


def resolve(python: Path, wheel: Path) -> Iterator[str]:
    """What pip would install for every extra together, freely and as pinned; `mpc` needs an environment of its own."""
    command = [str(python), "-m", "pip", "install", "-q", "--dry-run", "--report", "-"]
    for how, pins in (("freely", []), ("as pinned in constraints.txt", ["-c", str(ROOT / "constraints.txt")])):
        report = json.loads(run([*command, *pins, f"textveil[all] @ {wheel.as_uri()}"]))
        yield f"textveil[all] resolves {how}: {len(report['install'])} packages more"


def run(command: list[str], cwd: Path | None = None) -> str:
    """What a command prints; its words and its complaint where it fails."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment)
    if done.returncode:
        raise SystemExit(
            f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
        )
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the wheel and try it where no source tree is.")
    parser.add_argument("--resolve", action="store_true", help="also resolve textveil[all]")
    parser.add_argument("--keep", action="store_true", help="leave the scratch folder")
    asked = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="wheel-check-"))
    try:
        check(scratch, resolves=asked.resolve)
    finally:
        if asked.keep:
            print(f"look at {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)


def check(scratch: Path, *, resolves: bool) -> None:
    """All steps; the first that fails ends it."""
    began = time.perf_counter()
    wheel = build(scratch / "wheel")
    if lines := faults(wheel):
        raise SystemExit("\n".join(lines))
    print(f"{wheel.name}: {megabytes(wheel):.1f} MB, complete ({time.perf_counter() - began:.0f} s)", flush=True)
    python = empty_environment(scratch / "venv")
    print(try_demo(python, wheel, scratch / "elsewhere"), flush=True)
    if resolves:
        for line in resolve(python, wheel):
            print(line, flush=True)
    print(f"done in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
