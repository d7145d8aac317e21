"""The folder of a tagger: `tagger.json` and the weights. `pii find`, `pii mask` and `tv.pii.load` take it.

tagger.json    kind, tags, thresholds, how it was trained, and that nothing is promised
weights.npz    of the hashed chain         net/    of a network
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput
from textveil.core.files import write_whole

HEADER, FORMAT, MODEL = "tagger.json", 1, "model"


def write_tagger(tagger: Any, folder: Path) -> None:
    """Write a fitted tagger into a folder that exists."""
    header = {
        "format": FORMAT,
        "kind": tagger.kind,
        "tags": list(tagger.backend_.tags),
        "thresholds": tagger.thresholds_,
        "settings": tagger.public_params(),
        "facts": tagger.backend_.facts,
        "promise": tagger.guarantee_.loss.sentence(),
    }
    tagger.backend_.write(folder)
    write_whole(folder / HEADER, json.dumps(header, indent=2, ensure_ascii=False) + "\n")


def load_tagger(folder: Path) -> Any:
    """The tagger of a model folder, or of a release folder that holds one."""
    from textveil.pii.tagger.backends import backend_of
    from textveil.pii.tagger.tagger import KINDS, Tagger

    target = folder if (folder / HEADER).is_file() else folder / MODEL
    try:
        header = json.loads((target / HEADER).read_text(encoding="utf-8"))
        kind, tags, thresholds = header["kind"], header["tags"], dict(header.get("thresholds", {}))
    except OSError:
        raise BadInput(
            "is no recogniser",
            where=folder,
            possible="patterns, names, presidio, or the folder of a model that pii train made",
        ) from None
    except (ValueError, KeyError, TypeError):
        raise BadInput("is not the header of a tagger", where=target / HEADER) from None
    if kind not in KINDS or header.get("format") != FORMAT:
        raise BadInput("is of a kind or format that this version does not know", where=target / HEADER)
    known = {k: v for k, v in header.get("settings", {}).items() if k in Tagger._parameter_names()}
    tagger = Tagger(**known)
    try:
        tagger.backend_ = backend_of(kind).read(target, tags)
    except (OSError, ValueError, KeyError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput("its weights cannot be read", where=target) from None
    tagger.thresholds_ = thresholds
    return tagger


__all__ = ["load_tagger", "write_tagger"]
