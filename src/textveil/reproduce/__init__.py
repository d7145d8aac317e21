"""Every table of every paper, run again and printed beside the paper's own figures.

A study is data: cells (arms x tasks x attacks x seeds), a claims file that says how each printed figure is judged, and the
measures that join the two. `textveil reproduce NN` runs the cells that are not yet kept, judges, and writes one page.

A new paper is `paperNN/cells.py` (functions that give numbers by name), `paperNN/study.py` (kinds, parts, plan, notes),
`claims/NN.toml`, and its number in PAPERS. Claims name the measures that all studies share (`measures.py`) and figures are
drawn by `Series.of`; `paperNN/measures.py` holds only what no other paper could use. Paper 08 is a short example.
Another package registers its `STUDY` under the entry-point group `textveil.papers` (docs/write-a-paper.md).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from textveil.core import registry
from textveil.core.errors import UnknownName

if TYPE_CHECKING:
    from textveil.reproduce.study import Study

PAPERS = ("01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11")
STUDIES = {"use": "textveil.reproduce.use.study"}  # of our own: run by name, not with "all"


def study_of(paper: str) -> Study:
    """The study of one paper, by its number, or one of our own by its name.

    >>> study_of("6").paper
    '06'
    """
    if paper.zfill(2) not in PAPERS and paper in registry.plugged_in("paper"):
        plugged: Study = registry.find("paper", paper)
        return plugged
    number = paper.zfill(2)
    if paper not in STUDIES and number not in PAPERS:
        raise UnknownName("paper", paper, (*PAPERS, *STUDIES))
    module = STUDIES.get(paper) or f"textveil.reproduce.paper{number}.study"
    study: Study = importlib.import_module(module).STUDY
    return study


__all__ = ["PAPERS", "study_of"]


def __dir__() -> list[str]:
    return __all__
