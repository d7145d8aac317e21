"""`release.json` of a folder, read with care: folders come from other people.

What is read here is checked for its form, so that whoever uses it meets values of the kinds that he expects, and its data
file lies inside the folder: a name that leads elsewhere (`../notes.txt`, an absolute path, a link) is refused, since an
audit would read that file and put figures about it on the card.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

from .errors import BadInput

MANIFEST = "release.json"
_LONGEST_NUMBER = 300  # digits: what is longer is no figure of a release, and no float
_FORMS: dict[str, type] = {"mechanism": str, "parameters": dict, "guarantee": dict, "data": str, "draft": bool}
_LISTS: dict[str, type] = {"passes": str, "evidence": dict}


def read_manifest(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """`release.json` of a folder, or one sentence that says why it is none."""
    path = Path(folder) / MANIFEST
    if not path.is_file():
        raise BadInput("is not a release folder (it has no release.json)", where=folder)
    try:
        text = path.read_text(encoding="utf-8")
        shown = json.loads(text, parse_constant=_finite, parse_float=_finite, parse_int=_short)
    except (ValueError, OSError, RecursionError):
        raise BadInput("is not valid JSON", where=path) from None
    if not isinstance(shown, dict):
        raise BadInput("is not valid JSON of a release", where=path)
    _check_form(shown, path)
    _check_inside(Path(folder), shown["data"])
    return shown


def _check_form(shown: dict[str, Any], path: Path) -> None:
    missing = [key for key in _FORMS if key not in shown]
    if missing:
        raise BadInput(f"lacks {', '.join(missing)}", where=path)
    wrong = [key for key, form in _FORMS.items() if not isinstance(shown[key], form)]
    wrong += [key for key, form in _LISTS.items() if not _is_list_of(form, shown.get(key, []))]
    wrong += [] if isinstance(shown.get("facts", {}), dict) else ["facts"]
    if wrong:
        raise BadInput(f"holds something else than a release does under {', '.join(wrong)}", where=path)


def _check_inside(folder: Path, name: str) -> None:
    """Refuse a data file that is not right in the folder."""
    is_plain = name not in ("", ".", "..") and Path(name).name == name and "\0" not in name
    if not is_plain or (folder / name).resolve().parent != folder.resolve():
        raise BadInput("names a data file that lies outside of the folder", where=folder / MANIFEST)


def _is_list_of(form: type, values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, form) for value in values)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _short(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError("a number that is too long")
    return int(text)


__all__ = ["MANIFEST", "read_manifest"]
