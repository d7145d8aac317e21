"""Paper 08, central half: prices of the printed noise, its setting on CoNLL-2003, and our tagger at true epsilons."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from textveil.nets.entity_scores import all_outside, entity_score, token_score
from textveil.reproduce.datasets import embedding
from textveil.text.examples import read_tagged
from textveil.training.plan import TrainingPlan, steps_for
from textveil.training.tagger import Tagger

CONLL = "conll2003"
DELTA = 1e-5
PRINTED_UNITS, UNITS = 14_987, 14_041  # with and without the document marks


def prices(data: Path | None, *, noise: float, batch: int, epochs: int) -> dict[str, Any]:
    """What the printed multiplier costs, read as the paper did and as it is."""
    printed = TrainingPlan(noise=noise, batch=1, examples=PRINTED_UNITS, steps=epochs * PRINTED_UNITS)
    true = TrainingPlan(noise=noise, batch=batch, examples=UNITS, steps=steps_for(UNITS, batch, epochs))
    names = ("best", "rdp", "rdp-classic")
    return {
        "printed_reading": printed.epsilon(DELTA, "rdp-classic"),
        "batch_one": {name: printed.epsilon(DELTA, name) for name in names},
        "true": {name: true.epsilon(DELTA, name) for name in names},
    }


def baseline(data: Path) -> dict[str, Any]:
    """A model that only says O."""
    gold = [tags for _, tags in sentences(data, "testa")]
    nothing = all_outside(gold)
    return {"token_f1": token_score(gold, nothing).f1, "entity_f1": entity_score(gold, nothing).f1}


def table_cell(
    data: Path, *, output: str, noise: float, epochs: int, batch: int, rate: float, clip: float, seed: int
) -> dict[str, Any]:
    """The paper's setting: vectors alone, SGD, small batches; noise 0 is its Table 1. "crf sum": loss of whole sentences."""
    settings: dict[str, Any] = {"optimiser": "sgd", "rate": rate, "epochs": epochs, "batch": batch, "average": None}
    layer, whole = output.removesuffix(" sum"), output.endswith(" sum")
    vectors = embedding(data, "glove")
    tagger = Tagger(layer, vectors, affix=0, spelling=False, per_word=not whole, seed=seed, **settings)
    plan = None
    if noise:
        plan = TrainingPlan(noise=noise, batch=batch, examples=UNITS, steps=steps_for(UNITS, batch, epochs), clip=clip)
        tagger.set_params(epsilon=1.0)  # the plan's noise is what counts
    return fitted(tagger, data, plan)


def tagger_cell(data: Path, *, output: str, epsilon: float, epochs: float, seed: int) -> dict[str, Any]:
    """Our tagger with its defaults at a true epsilon (0: without privacy, at settings that suit that)."""
    tagger = Tagger(output, embedding(data, "glove"), seed=seed, epochs=epochs, delta=DELTA)
    if epsilon:
        tagger.set_params(epsilon=epsilon)
    else:
        tagger.set_params(batch=16, rate=0.002)
    return fitted(tagger, data, None)


def fitted(tagger: Tagger, data: Path, plan: TrainingPlan | None) -> dict[str, Any]:
    """Fit and score on testa. A run whose loss is no number any more found nothing: it is counted as all O."""
    from textveil.training.clipping_tape import NotFinite

    train, test = sentences(data, "train"), sentences(data, "testa")
    gold, diverged = [tags for _, tags in test], False
    try:
        tagger.fit([w for w, _ in train], [t for _, t in train], plan=plan)
        predicted = tagger.predict([w for w, _ in test])
    except NotFinite:
        predicted, diverged = all_outside(gold), True
    entities, tokens = entity_score(gold, predicted), token_score(gold, predicted)
    return {
        "entity_f1": entities.f1,
        "entity_precision": entities.precision,
        "entity_recall": entities.recall,
        "token_f1": tokens.f1,
        "token_precision": tokens.precision,
        "token_recall": tokens.recall,
        "noise": None if diverged or tagger.plan_ is None else tagger.plan_.noise,
        "diverged": diverged,
    }


@lru_cache(maxsize=4)
def sentences(data: Path, part: str) -> tuple[tuple[list[str], list[str]], ...]:
    """Words and tags of each sentence of one part."""
    tagged = read_tagged(data / CONLL / f"eng.{part}.gz", format="conll")
    return tuple(zip(tagged.inputs, tagged.targets, strict=True))
