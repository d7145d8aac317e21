"""The journey of an adapted model: read fragments, validation and general sentences, fine-tune, score, write the
folder.

What is made is a plain model folder with `adapted.json`, not a release: nothing private is read but the fragments,
which left already, and the sentences of whoever adapts. It appears whole or not at all; a run that is stopped goes on
from its last epoch.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil.core import BadInput, read_manifest
from textveil.core.params import needs
from textveil.core.release import check_free, check_writable
from textveil.recipes.fragments.adapt_private import read_pairs
from textveil.recipes.progress import Bar
from textveil.text.formats.lines import Lines
from textveil.text.formats.objects import objects
from textveil.text.pairs import PairFile

FACTS = "adapted.json"
_MOST_COPIES = 20  # of a phrase pair that has a noisy count


@dataclass(frozen=True)
class AdaptJob:
    """A model, the fragments it learns from, and sentences to stop and to score by."""

    fragments: Path
    model: Path
    out: Path
    valid: PairFile
    general: PairFile | None = None
    test: PairFile | None = None
    beams: int = 4
    settings: dict[str, Any] = field(default_factory=dict)


def adapt_model(job: AdaptJob, *, bar: Bar) -> dict[str, Any]:
    """Adapt a model and return what to print."""
    needs("training", "torch", "transformers")
    from textveil.fragments.adapting import AdaptSettings, Translator, adapt
    from textveil.fragments.translation_scores import bleu_gain, scores

    check_free(job.out)
    check_writable(job.out)
    settings = AdaptSettings(**job.settings)
    settings.check()
    fragments, tags = read_fragments(job.fragments)
    valid, general, test = ([] if file is None else read_pairs(file) for file in (job.valid, job.general, job.test))
    translator = Translator.load(job.model, dropout=settings.dropout, longest=settings.longest)
    shown: dict[str, Any] = {"fragments": len(fragments), "settings": job.settings}
    sources, references = [s for s, _ in test], [t for _, t in test]
    before = translator.translate(sources, job.beams) if test else []
    if tags:
        translator.add_tags()
    work = job.out.with_name(f".{job.out.name}.unfinished")
    work.mkdir(mode=0o700, exist_ok=True)
    with bar("adapting", None, "steps") as advance:
        done = adapt(
            translator, fragments, valid, settings, general, checkpoint=work / "checkpoint.pt",
            step=lambda n: advance(n),
        )  # fmt: skip
    shown |= {"steps": done.steps, "valid_loss": [done.losses[0], done.losses[done.best]]}
    if test:
        after = translator.translate(sources, job.beams)
        shown |= {"before": scores(before, references), "after": scores(after, references)}
        shown["bleu"] = bleu_gain(before, after, references)
    made = work / "model"
    shutil.rmtree(made, ignore_errors=True)
    translator.save(made)
    (made / FACTS).write_text(json.dumps(shown, indent=2) + "\n", encoding="utf-8")
    os.replace(made, job.out)
    shutil.rmtree(work, ignore_errors=True)
    return {"out": str(job.out), **shown}


def read_fragments(folder: Path) -> tuple[list[tuple[str, str]], bool]:
    """The phrase pairs of a release, those with a count so many times, and whether they have tags."""
    manifest = read_manifest(folder)
    if manifest["mechanism"] != "fragments.phrases":
        raise BadInput(f"holds no fragments (mechanism {manifest['mechanism']})", where=folder)
    pairs = list[tuple[str, str]]()
    for row in objects(Lines(folder / manifest["data"])):
        pairs += [(row["source"], row["target"])] * min(int(row.get("count", 1)), _MOST_COPIES)
    if not pairs:
        raise BadInput("holds no fragments", where=folder)
    return pairs, bool(manifest["parameters"].get("tags"))


__all__ = ["AdaptJob", "adapt_model", "read_fragments"]
