"""eflomal as an external tool: only where its owner has installed it (its licence is GPLv3, so it is no part of
Textveil).

It is run as a command of its own, on files in the folder of unfinished work; they are removed afterwards.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from textveil.core import BadInput

from .aligner import Directions, Links, symmetrise

_NO_EFLOMAL = "eflomal is not installed"
_RUN = """
import sys, io, eflomal
folder = sys.argv[1]
def read(name):
    return open(f"{folder}/{name}", encoding="utf-8")
with read("source") as source, read("target") as target:
    eflomal.Aligner(model=3).align(
        source, target, links_filename_fwd=f"{folder}/forward", links_filename_rev=f"{folder}/backward", quiet=True)
"""


def check_installed() -> None:
    """Refuse where eflomal is missing."""
    if find_spec("eflomal") is None:
        raise BadInput(_NO_EFLOMAL, possible="pip install eflomal (GPLv3), or the built-in aligner")


def eflomal_links(
    source: Sequence[Sequence[str]], target: Sequence[Sequence[str]], folder: Path, symmetry: str
) -> Links:
    """The symmetrised links of sentence pairs, given as lists of words."""
    return symmetrise(*eflomal_directions(source, target, folder), _starts(source), _starts(target), symmetry)


def eflomal_directions(source: Sequence[Sequence[str]], target: Sequence[Sequence[str]], folder: Path) -> Directions:
    """Both directions of the links, before they are joined."""
    check_installed()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        for name, sentences in (("source", source), ("target", target)):
            lines = "".join(" ".join(words) + "\n" for words in sentences)
            (folder / name).write_text(lines, encoding="utf-8")
        done = subprocess.run([sys.executable, "-c", _RUN, str(folder)], capture_output=True, check=False)
        if done.returncode != 0:
            raise BadInput("eflomal ended with an error", possible="the built-in aligner")
        starts = _starts(source), _starts(target)
        forward = np.full(starts[1][-1], -1, np.int32)
        backward = np.full(starts[0][-1], -1, np.int32)
        for place, links in enumerate((folder / "forward").read_text().splitlines()):
            for i, j in (map(int, link.split("-")) for link in links.split()):
                forward[starts[1][place] + j] = i
        for place, links in enumerate((folder / "backward").read_text().splitlines()):
            for i, j in (map(int, link.split("-")) for link in links.split()):
                backward[starts[0][place] + i] = j
        return forward, backward
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _starts(side: Sequence[Sequence[str]]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(words) for words in side])]).astype(np.int64)


__all__ = ["check_installed", "eflomal_directions", "eflomal_links"]
