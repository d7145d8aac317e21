"""A small labelled sample of invented letters, so that every tool can be tried without private text.

`kind` says what a letter is about and `mood` how its writer feels: both should survive a good release,
so the accuracy lost between the sample and its release measures utility.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

KINDS = ("bank", "clinic", "housing", "shop", "travel", "work")
MOODS = ("angry", "neutral", "pleased")


def path() -> Path:
    """Where the sample lies, for commands that read a file.

    >>> path().name
    'letters.jsonl'
    """
    return Path(str(files(__name__) / "letters.jsonl"))


def letters() -> list[dict[str, str]]:
    """All letters in file order, each with `id`, `kind`, `mood` and `text`.

    >>> len(letters()) >= 100
    True
    >>> sorted(letters()[0])
    ['id', 'kind', 'mood', 'text']
    """
    # Split at "\n" only: splitlines() would also cut at rarer line ends that JSON may leave unescaped.
    lines = path().read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]
