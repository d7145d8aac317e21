"""Every table of every paper, run again and printed beside the paper's own figures.

A study is data: cells (arms x tasks x attacks x seeds), a claims file that says how each printed figure is judged, and the
measures that join the two. `textveil reproduce NN` runs the cells that are not yet kept, judges, and writes one page.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from textveil.core.errors import UnknownName

if TYPE_CHECKING:
    from textveil.reproduce.study import Study

PAPERS = {"01": "paper01", "02": "paper02", "03": "paper03", "06": "paper06", "07": "paper07", "08": "paper08"}


def study_of(paper: str) -> Study:
    """The study of one paper, by its number.

    >>> study_of("6").paper
    '06'
    """
    number = paper.zfill(2)
    if number not in PAPERS:
        raise UnknownName("paper", paper, PAPERS)
    study: Study = importlib.import_module(f"textveil.reproduce.{PAPERS[number]}").STUDY
    return study
