"""Paper 01, beside it: the variant with a promise, on the same contracts. Its F1, and retrain and compare on two worlds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textveil.attacks.exposure import TwoWorlds
from textveil.attacks.hashed.retrain import RetrainAttack
from textveil.hashed.corpus import label_tokens
from textveil.hashed.sound import SoundTrainer
from textveil.hashed.sound_plan import SoundPlan
from textveil.hashed.sound_worlds import SoundWorlds
from textveil.noise.source import seeded
from textveil.reproduce.paper01.attacks import shown
from textveil.reproduce.paper01.data import contracts, split
from textveil.reproduce.paper01.models import features, found, span_score, token_score, train, truth
from textveil.reproduce.paper01.states import LAW


def sound(data: Path, *, clause: str, epsilon: float, delta: float, unit: str, seed: int) -> dict[str, Any]:
    """The unsealed model and the sound one on the same split: F1 of tokens and of spans."""
    everything = contracts(data)
    training, testing = (part.tolist() for part in split(len(everything), seed))
    wanted = [truth(data, clause, place) for place in testing]
    model = train(data, clause, training)
    before = [found(data, model, place) for place in testing]
    own = everything.take(training)
    trainer = SoundTrainer(epsilon, delta, sound=SoundPlan(unit=unit))
    private = trainer.apply((own.texts, own.spans[clause]), noise=seeded(500 + seed))
    after = []
    for place in testing:
        spans = [(s.start, s.end, 1) for s in private.extract(everything.texts[place])]
        after.append(label_tokens(features(data, place).tokens, spans))
    numbers: dict[str, Any] = {"multiplier": trainer.multiplier, "times": trainer.times}
    for name, labels in (("before", before), ("sound", after)):
        pairs = list(zip(labels, wanted, strict=True))
        for prefix, scored in (("", token_score), ("span_", span_score)):
            numbers |= {f"{prefix}{field}_{name}": value for field, value in scored(pairs)._asdict().items()}
    return numbers


def sound_worlds(data: Path, *, epsilon: float, delta: float, unit: str, tries: int, seed: int) -> dict[str, Any]:
    """Fresh releases of two corpora that differ in one unit, told apart by who knows both trainings."""
    marked = [i for i, spans in enumerate(contracts(data).spans[LAW]) if spans]
    own = contracts(data).take(marked[:4])
    worlds = SoundWorlds(SoundTrainer(epsilon, delta, sound=SoundPlan(unit=unit)), own.texts, own.spans[LAW])
    evidence = RetrainAttack(tries=tries, unit=unit).run(TwoWorlds(worlds), rng=seeded(400 + seed))
    return {"two worlds": shown(evidence)}
