"""Cells of Table 2 and Figure 3: a baseline adapted to a domain, by whole sentences or by fragments, and scored.

Judged on 500 unique pairs cut from train (their English does not hold the German; no such sentence is learnt from) and on
unique pairs of the published test part, of which one figure is without rows that are in train or hold their source.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from textveil.reproduce.paper10.baseline import held, model_of
from textveil.reproduce.paper10.data import Pair, holds_source, pairs, rows
from textveil.reproduce.paper10.general import confidential, general, judged

VARIANTS: dict[str, dict[str, Any]] = {  # what is learnt from (None: whole sentences), tags, settings of `adapt`
    "sentences": {"policy": None},
    "7 words": {"policy": {"longest": 7}},
    "7 words, tags": {"policy": {"longest": 7}, "tags": True},
    "7 words, replay": {"policy": {"longest": 7}, "settings": {"replay": 1.0}},
    "7 words, tags, replay": {"policy": {"longest": 7}, "tags": True, "settings": {"replay": 1.0}},
    "4 words": {"policy": {"longest": 4}},
    "4 words, tags": {"policy": {"longest": 4}, "tags": True},
    "4 words, replay": {"policy": {"longest": 4}, "settings": {"replay": 1.0}},
    "apart, 4 words, replay": {"policy": {"longest": 4, "cut": "apart"}, "settings": {"replay": 1.0}},
    "apart, 4 words, all kept, replay": {
        "policy": {"longest": 4, "cut": "apart", "drop": 0.0},
        "settings": {"replay": 1.0},
    },
    "7 words, length tags, replay": {"policy": {"longest": 7}, "settings": {"replay": 1.0, "length_tags": True}},
    "7 words, joined, replay": {"policy": {"longest": 7}, "settings": {"replay": 1.0, "join": 6}},
    "7 words, EWC": {"policy": {"longest": 7}, "settings": {"ewc": 0.01}},
}


def adapted(
    data: Path,
    *,
    domain: str,
    variant: str,
    left_out: str,
    steps: int,
    more: int,
    updates: int,
    tested: int,
    beams: int,
    kept: Path,
) -> dict[str, Any]:
    """The gain of one variant over the baseline of that name, with at most so many updates of fine-tuning."""
    from textveil.fragments.adapting import AdaptSettings, Translator, adapt

    start, chosen = model_of(data, left_out=left_out, steps=steps, more=more, kept=kept), VARIANTS[variant]
    settings = AdaptSettings(**{"batch": 64, "epochs": 20, **chosen.get("settings", {})})
    translator = Translator.load(start, dropout=settings.dropout)
    learnt = fragments(confidential(data, domain), chosen, seed=settings.seed)
    if chosen.get("tags"):
        translator.add_tags()
    done = adapt(translator, learnt, pairs(data, domain, "valid")[:150], settings, general(data), most_updates=updates)
    before = baseline_outputs(data, domain=domain, start=start, tested=tested, beams=beams)
    shown: dict[str, Any] = {"examples": len(learnt), "updates": done.steps}
    for part, own in parts(data, domain, tested).items():
        after = {"outputs": translator.translate([de for de, _ in own], beams), "loss": translator.loss(own)}
        shown[part] = compared(before[part], after, own)
    return shown


def fragments(own: list[Pair], chosen: dict[str, Any], seed: int) -> list[Pair]:
    """What leaves by a policy; half is dropped."""
    from textveil.fragments.mechanism import Fragments

    if chosen["policy"] is None:
        return own
    return [*map(tuple, Fragments(**chosen["policy"], tags=chosen.get("tags", False), seed=seed).transform(own))]


def parts(data: Path, domain: str, tested: int) -> dict[str, list[Pair]]:
    """Sentences to judge by; `clean` are those of the test part that neither leak nor hold their source."""
    test = {(r["de"], r["en"]): bool(r["pair_in_train"]) for r in rows(data, domain, "test_a")}
    some = [*test][:tested]
    return {
        "held_out": judged(data, domain),
        "test": some,
        "clean": [pair for pair in some if not test[pair] and not holds_source(pair)],
    }


def baseline_outputs(data: Path, *, domain: str, start: Path, tested: int, beams: int) -> dict[str, Any]:
    """Translations and losses of the unadapted model; made once, kept beside it."""
    from textveil.fragments.adapting import Translator

    path = start.with_name(f"{start.name}-{domain}-{tested}-{beams}.json")
    with held(start.parent / "outputs"):
        if not path.exists():
            translator = Translator.load(start)
            shown = {
                part: {"outputs": translator.translate([de for de, _ in own], beams), "loss": translator.loss(own)}
                for part, own in parts(data, domain, tested).items()
            }
            path.write_text(json.dumps(shown), encoding="utf-8")
    return dict(json.loads(path.read_text(encoding="utf-8")))


def compared(before: dict[str, Any], after: dict[str, Any], own: list[Pair]) -> dict[str, Any]:
    """Scores before, after and of copying the source; the gain with its interval, and the gain in loss."""
    from textveil.fragments.translation_scores import bleu_gain, scores

    wanted = [en for _, en in own]
    gain = bleu_gain(before["outputs"], after["outputs"], wanted)
    return {
        "pairs": len(own),
        "copy": scores([de for de, _ in own], wanted)["bleu"],
        "before": scores(before["outputs"], wanted),
        "after": scores(after["outputs"], wanted),
        "gain": gain["gain"],
        "interval": gain["interval"],
        "loss": [before["loss"], after["loss"]],
    }
