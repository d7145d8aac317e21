"""Paper 01: every attack on one Governing Law model, before sealing, sealed as printed and sealed as shipped; retraining."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textveil.attacks.evidence import Evidence
from textveil.hashed.extractor import Extractor
from textveil.hashed.seal import SealPlan, seal
from textveil.noise.source import seeded
from textveil.recipes.hashed.audit import attack_model
from textveil.recipes.hashed.exposure import Documents
from textveil.reproduce.paper01.data import contracts, split
from textveil.reproduce.paper01.models import train
from textveil.reproduce.paper01.states import LAW

NAMES = ("lookup", "membership", "redacted", "api", "probing")
WAYS = ("before", "paper", "quiet")


def attacks(data: Path, *, documents: int, seed: int) -> dict[str, Any]:
    """Areas under the curve over terms of the documents, by name: "paper lookup", "before api" ..."""
    places, model = _model(data, documents, seed, None)
    again = _documents(data, model, places)
    found = {}
    for when in WAYS:
        own = _sealed(model, when, seed)
        for name in NAMES:
            rng = seeded(100 + seed)  # the same terms before and after
            for evidence in attack_model(f"hashed.{name}", own, again, rng):
                found[f"{when} {_short(evidence)}"] = shown(evidence)
    return found


def retrain(data: Path, *, documents: int, seed: int) -> dict[str, Any]:
    """Retrain and compare, with training in the documents' order and in secret orders."""
    found = {}
    for order, shuffle in (("deterministic", None), ("shuffled", 17 + seed)):
        places, model = _model(data, documents, seed, shuffle)
        again = _documents(data, model, places)
        for when in ("paper", "quiet"):
            own, rng = _sealed(model, when, seed), seeded(200 + seed)
            (evidence,) = attack_model("hashed.retrain", own, again, rng)
            found[f"{when} {order}"] = shown(evidence)
    return found


def _model(data: Path, documents: int, seed: int, shuffle: int | None) -> tuple[list[int], Extractor]:
    places = split(len(contracts(data)), seed)[0][:documents].tolist()
    return places, train(data, LAW, places, shuffle)


def _documents(data: Path, model: Extractor, places: list[int]) -> Documents:
    own = contracts(data).take(places)
    return Documents(model, own.texts, own.spans[LAW])


def _sealed(model: Extractor, when: str, seed: int) -> Extractor:
    if when == "before":
        return model
    return model.with_table(seal(model.table_, SealPlan(mode=when), noise=seeded(300 + seed)))


def _short(evidence: Evidence) -> str:
    return evidence.metric.removeprefix("auc (").removesuffix(")") if "(" in evidence.metric else evidence.attack[7:]


def shown(evidence: Evidence) -> dict[str, Any]:
    """Value, interval and number of tries of an attack, with its notes."""
    low, high = evidence.interval()
    tries = evidence.tries + (evidence.false_tries or 0)
    return {"value": evidence.value, "low": low, "high": high, "tries": tries, "notes": list(evidence.notes)}
