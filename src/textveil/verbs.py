"""The verbs of the command line as functions.

`tv.veil("notes.csv", "out", epsilon=0.5)` is `textveil veil notes.csv -o out --epsilon 0.5`. VERBS has one line per verb. The
parameters of a function are the arguments and options of its verb, read from the verb itself, so that the two cannot
differ; `scripts/api_reference.py` writes them into `verbs.pyi` for editors and type checkers, and a test says when it has to
be run again. What the verb would print comes back: a release folder as `ReleaseFolder`, anything else as `--json` prints
it. Notices become warnings.
"""

from __future__ import annotations

import importlib
from typing import Any

VERBS = {  # name in Python -> file of textveil.cli and function
    "adapt_translator": "fragments_adapt:adapt",
    "annotate_pii": "pii_annotate:annotate",
    "apply_extractor": "hashed:apply",
    "apply_model": "train_apply:apply",
    "ask_classifier": "classify_ask:ask",
    "audit": "audit:audit",
    "build_vectors": "vectors:build",
    "certify_words": "words:certify",
    "compare_words": "words:compare",
    "count": "counts:counts",
    "extractor_cost": "hashed_seal:cost",
    "cut_fragments": "fragments_make:make",
    "federation_keys": "federate_serve:keys",
    "find_pii": "pii_find:find",
    "fragments_risk": "fragments_risk:risk",
    "frontier": "frontier:frontier",
    "join_federation": "federate_serve:join",
    "make_keys": "classify_serve:keys",
    "mask_pii": "pii_mask:mask",
    "measure": "measure:measure",
    "plant_canaries": "train_canaries:canaries",
    "plant_shared_canaries": "federate_canaries:canaries",
    "price_training": "train_price:price",
    "probe_extractor": "hashed_probe:probe",
    "read_infobox": "pii_annotate:infobox",
    "reproduce_paper": "reproduce:reproduce",
    "run_demo": "demo:demo",
    "score_extractor": "hashed_score:score",
    "score_pii": "pii_score:score",
    "seal_extractor": "hashed_seal:seal",
    "serve_federation": "federate_serve:serve",
    "simulate_federation": "federate_simulate:simulate",
    "train_classifier": "train_models:classifier",
    "train_served_classifier": "classify_train:train",
    "train_extractor": "hashed:train",
    "train_head": "train_head:head",
    "train_lm": "train_models:lm",
    "train_pii": "pii_train:train",
    "train_tagger": "train_models:tagger",
    "train_vocab": "train_vocab:vocab",
    "tune_words": "words:tune",
    "unmask_pii": "pii_mask:unmask",
    "update_extractor": "hashed_seal:update",
    "veil": "veil:veil",
    "word_info": "words:info",
    "write_federation_app": "federate_serve:app",
    "write_report": "report:report",
}

__all__ = [*VERBS]


def __getattr__(name: str) -> Any:
    if name not in VERBS:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from textveil.cli.calls import function_of

    module, _, verb = VERBS[name].partition(":")
    made = function_of(getattr(importlib.import_module(f"textveil.cli.{module}"), verb), name)
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    return sorted(VERBS)
