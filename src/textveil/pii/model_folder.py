"""Model folders of taggers. (Filled by the taggers' slice.)"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput


def load_tagger(folder: Path) -> Any:
    raise BadInput(
        "is no recogniser", where=folder, possible="patterns, or the folder of a model that `pii train` made"
    )
