"""Parameters explained in docstrings, in numpy's manner, each of them once: a class inherits what its bases explain.

    class BRR(WordMechanism):
        \"\"\"Replace each word by one whose code is near.

        Parameters
        ----------
        bits
            Length of the codes.
        \"\"\"

After the class is made its docstring explains `bits` and all other arguments of its constructor, in their order.
"""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

TITLE = "Parameters"


def parameters_of(doc: str) -> dict[str, str]:
    """The text of each parameter that a docstring explains.

    >>> parameters_of('''Scale.
    ...
    ... Parameters
    ... ----------
    ... factor
    ...     How much.
    ... a, b : int
    ...     Two more.
    ... ''')
    {'factor': 'How much.', 'a': 'Two more.', 'b': 'Two more.'}
    """
    explained: dict[str, list[str]] = {}
    names: list[str] = []
    for line in _cut(inspect.cleandoc(doc))[1]:
        if line and not line[0].isspace():
            names = [name.strip() for name in line.partition(":")[0].split(",")]
            explained |= {name: [] for name in names}
        elif line.strip():
            for name in names:
                explained[name].append(line.strip())
    return {name: " ".join(lines) for name, lines in explained.items()}


def with_all_parameters(cls: Any, names: list[str]) -> str:
    """The docstring of a class with all named parameters explained that it or a base of it explains."""
    docs = [vars(base).get("__doc__") or "" for base in cls.__mro__]
    known: dict[str, str] = {}
    for doc in docs:
        known = {**parameters_of(doc), **known}
    before, _, after = _cut(inspect.cleandoc(docs[0]))
    shown = [line for name in names if name in known for line in (name, *_filled(known[name]))]
    section = ["", TITLE, "-" * len(TITLE), *shown] if shown else []
    return "\n".join([*_stripped(before), *section, *(["", *_stripped(after)] if any(after) else [])])


def _cut(doc: str) -> tuple[list[str], list[str], list[str]]:
    """The lines before the section of parameters, in it, and after it."""
    lines = doc.splitlines()
    titles = [i for i in range(len(lines) - 1) if lines[i] and lines[i + 1] and set(lines[i + 1]) == {"-"}]
    start = next((i for i in titles if lines[i].strip() == TITLE), None)
    if start is None:
        first = min([*titles, *(i for i, line in enumerate(lines) if line.startswith(">>>")), len(lines)])
        return lines[:first], [], lines[first:]
    end = next((i for i in titles if i > start), len(lines))
    return lines[:start], lines[start + 2 : end], lines[end:]


def _stripped(lines: list[str]) -> list[str]:
    return "\n".join(lines).strip("\n").splitlines()


def _filled(text: str) -> list[str]:
    return textwrap.wrap(text, 110, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
