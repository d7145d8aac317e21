"""Paper 07 in cells: Table 1, Figure 1, Figure 2, the vocabularies, and what the printed settings cost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from textveil.attacks.training.canaries import Canary
from textveil.attacks.training.canary_rank import bound_line, exposed
from textveil.noise.source import seeded
from textveil.reproduce.paper07 import data as texts
from textveil.reproduce.paper07 import models as models
from textveil.training.calibrate import calibrated
from textveil.training.plan import TrainingPlan, price_together, steps_for
from textveil.training.vocabulary import Vocabulary, noising
from textveil.training.vocabulary_wordpiece import fit_of_counts

VOCAB_EPSILON = 0.5  # of the notes' vocabulary by itself, in Table 1 and Figure 1
TASKS = (texts.CHEMICALS, texts.DISEASES)


def _start(
    data: Path, size: int, public: int, seed: int, epsilon: float = VOCAB_EPSILON
) -> tuple[Any, Any, list[list[str]]]:
    """Steps (i) and (ii): the vocabulary of the notes under privacy, an encoder from public text with it."""
    units = texts.notes(data)
    # half of delta is the vocabulary's, as one_budget has it
    vocabulary = Vocabulary(epsilon, models.DELTA / 2, method="policy")
    coded = models.private_vocabulary(vocabulary, units, size, seed)
    return coded, models.from_scratch(coded, texts.public_text(data, public, seed), seed), units


def table(
    data: Path, *, size: int, public: int, seen: int, batch: int, sentences: int, epochs: int, seed: int
) -> dict[str, Any]:
    """Table 1: five ways to continue, then the target tasks in five folds. `seen`: examples read in step (iii)."""
    coded, base, units = _start(data, size, public, seed)
    private = coded.texts(units)
    some = [private[i] for i in seeded(seed).permutation(len(private))[:seen]]
    medical = coded.texts(texts.biomedical_text(data, seen, seed))
    medical = (medical * -(-seen // len(medical)))[:seen]  # as many examples as the other arms read
    arms = {"none": base, "plain": models.continued(base, some, epochs=1, seed=seed)}
    arms["biomedical"] = models.continued(base, medical, epochs=1, seed=seed)
    told = {}
    for epsilon in (3.2, 1.0):
        declared = round(len(private), -3)
        made = models.shared_budget(epsilon, declared, batch, steps_for(seen, batch, 1), VOCAB_EPSILON)
        arms[f"eps {epsilon:g}"] = models.continued_privately(base, private, made.plan, seed=seed)
        told[f"eps {epsilon:g}"] = {"epsilon": made.epsilon, "noise": made.plan.noise, "steps": made.plan.steps}
    found = {
        task: {
            arm: models.folds_f1(net, coded, texts.tagged(data, task, sentences, seed), 5, epochs, seed)
            for arm, net in arms.items()
        }
        for task in TASKS
    }
    return {"f1": found, "private": told, "examples": len(private), "pieces": coded.made.get_vocab_size()}


def figure1(
    data: Path,
    *,
    size: int,
    public: int,
    examples: int,
    batch: int,
    sigmas: list[float],
    epochs_axis: list[float],
    batches: list[int],
    sentences: int,
    epochs: int,
    folds: int,
    seed: int,
) -> dict[str, Any]:
    """Figure 1: F1 and epsilon against noise, epochs and batch (sigma with the root of the batch), and the clip."""
    coded, base, units = _start(data, size, public, seed)
    private = coded.texts([units[i] for i in seeded(seed).permutation(len(units))[:examples]])
    middle = sigmas[len(sigmas) // 2]
    event = Vocabulary(VOCAB_EPSILON, models.DELTA / 2, method="policy").event()
    told = texts.tagged(data, texts.CHEMICALS, sentences, seed)
    kept: dict[tuple[float, int, float, float], dict[str, Any]] = {}

    def point(noise: float, size: int, passes: float, clip: float = models.CLIP) -> dict[str, Any]:
        key = (noise, size, passes, clip)
        if key not in kept:
            plan = TrainingPlan(noise, size, examples, steps_for(examples, size, passes), clip=clip)
            net = models.continued_privately(base, private, plan, seed=seed)
            f1 = models.folds_f1(net, coded, told, folds, epochs, seed)
            epsilon = price_together([event, plan.event()], models.DELTA).epsilon
            kept[key] = {"noise": noise, "batch": size, "epochs": passes, "clip": clip, "epsilon": epsilon, "f1": f1}
        return kept[key]

    passes = epochs_axis[len(epochs_axis) // 2]
    return {
        "noise": [point(noise, batch, passes) for noise in sigmas],
        "epochs": [point(middle, batch, e) for e in epochs_axis],
        "batch": [point(middle * (b / batch) ** 0.5, b, passes) for b in batches],
        "clip": [point(middle, batch, passes), point(middle, batch, passes, 0.01)],
    }


def figure2(
    data: Path, *, size: int, public: int, examples: int, batch: int, passes: int, copies: list[int], seed: int
) -> dict[str, Any]:
    """Figure 2: exposure of secrets of the three forms against insertions, at epsilon .58 and without privacy."""
    share = 0.25
    coded, base, units = _start(data, size, public, seed, share)
    rng = seeded(seed + 1)
    secrets = models.known_pieces(coded)
    planted = [_planted(form, k, secrets, rng) for form in ("HS", "HSH", "HHSHH") for k in copies]
    private = coded.texts([units[i] for i in rng.permutation(len(units))[:examples]])
    private += [list(row) for row, _, _, k in planted for _ in range(k)]
    made = models.shared_budget(0.58, len(private), batch, steps_for(len(private), batch, passes), share)
    arms = {
        "eps 0.58": models.continued_privately(base, private, made.plan, seed=seed),
        "plain": models.continued(base, private, epochs=passes, seed=seed),
        "before": base,
    }
    few = sum(k <= 10 for *_, k in planted)
    rows = [
        {"arm": arm, **_ranked(net, *canary, secrets), "line": bound_line(0.58, models.DELTA, canary[3], few)}
        for arm, net in arms.items()
        for canary in planted
    ]
    for row in rows:
        row["line"] = row["line"] if np.isfinite(row["line"]) else None
    return {
        "rows": rows,
        "epsilon": made.epsilon,
        "noise": made.plan.noise,
        "steps": made.plan.steps,
        "cap": float(np.log2(len(secrets))),
    }


def _planted(form: str, copies: int, secrets: list[int], rng: Any) -> tuple[list[int], int, str, int]:
    """Pieces of a canary, the place of its secret, its form, its copies."""
    row = [secrets[i] for i in rng.below(len(secrets), len(form)).tolist()]
    return row, form.index("S"), form, copies


def _ranked(net: Any, row: list[int], place: int, form: str, copies: int, secrets: list[int]) -> dict[str, Any]:
    """The secret's exposure among all candidates in its place."""
    losses = net.piece_losses(row, place)
    order = [row[place], *(s for s in secrets if s != row[place])]
    found = exposed(Canary(form, tuple(map(str, row)), place, copies), losses[order])
    return {
        "form": form,
        "copies": copies,
        "exposure": found.exposure,
        "low": found.low,
        "high": found.high,
        "extrapolated": found.extrapolated,
    }


def vocabularies(
    data: Path, *, size: int, public: int, seen: int, sentences: int, epochs: int, folds: int, seed: int
) -> dict[str, Any]:
    """The notes' vocabulary with and without privacy: fit, and F1 after continuing without privacy."""
    units = texts.notes(data)
    counted = Counter(word for unit in units for word in unit)
    plain = models.plain_vocabulary(units, size)
    found: dict[str, Any] = {"plain": _fit(plain, counted)}
    private = plain
    for method in ("gaussian", "policy", "paper"):
        coded = models.private_vocabulary(Vocabulary(1.0, models.DELTA, method=method), units, size, seed)
        found[method] = _fit(coded, counted)
        private = coded if method == "policy" else private
    told = texts.tagged(data, texts.CHEMICALS, sentences, seed)
    for name, coded in (("plain", plain), ("policy", private)):
        base = models.from_scratch(coded, texts.public_text(data, public, seed), seed)
        read = coded.texts(units)
        some = [read[i] for i in seeded(seed).permutation(len(read))[:seen]]
        net = models.continued(base, some, epochs=1, seed=seed)
        found[name]["f1"] = models.folds_f1(net, coded, told, folds, epochs, seed)
    return found


def _fit(coded: Any, counted: Counter[str]) -> dict[str, Any]:
    fit = fit_of_counts(coded.made, counted)
    return {"tokens": fit.tokens_per_word, "unknown": fit.unknown_share, "coverage": fit.coverage}


def blog_vocabulary(data: Path, *, size: int, sentences: int, seed: int) -> dict[str, Any]:
    """300,000 sentences of blogs at (1, 1e-6): tokens a word, with and without public words, beside no privacy."""
    from textveil.training.vocabulary_wordpiece import wordpiece

    units = list(texts.blogs(data, sentences))
    counted = Counter(word for unit in units for word in unit)
    found = {"plain": _fit(models.plain_vocabulary(units, size), counted)}
    for method in ("gaussian", "policy"):
        wanted = Vocabulary(1.0, 1e-6, method=method)
        counts = wanted.apply(units, noise=seeded(seed))
        found[method] = {**_fit(models.Coded(wordpiece(counts, size)), counted), "words": len(counts)}
        filled = models.private_vocabulary(wanted, units, size, seed)
        found[f"{method}, public words"] = _fit(filled, counted)
    return found


def prices(data: Path | None) -> dict[str, Any]:
    """What the printed rule and settings come to, exactly or by the accountant. No data is read."""
    rule = noising(1.0, 1e-6, "paper", 1)
    passing = 2 * 0.5 * np.exp(-(rule.threshold() - 1) / rule.multiplier)  # two words with count 1 on either side
    at = {"delta": 1e-8, "examples": 83_000_000}
    updates = 1_000_000 // 32
    needed = {
        f"{epsilon:g}": calibrated(epsilon, 1e-8, batch=128_000, examples=83_000_000, steps=updates).noise
        for epsilon in (3.2, 1.0)
    }
    oblivious = {
        str(batch): TrainingPlan(2.0 * (batch / 128_000) ** 0.5, batch, at["examples"], 4_000_000_000 // batch).epsilon(
            1e-8, "rdp"
        )
        for batch in (32_000, 128_000, 512_000)
    }
    thresholds = {
        method: [noising(1.0, 1e-6, method, d).threshold() for d in (1, 128, 256)] for method in ("laplace", "gaussian")
    }
    sharded = TrainingPlan(1.0, 512, 60_000, 100, shards=4).epsilon(1e-6, "rdp") / TrainingPlan(
        2.0, 512, 60_000, 100
    ).epsilon(1e-6, "rdp")
    return {
        "rule": rule.threshold(),
        "rule_delta": float(passing),
        "composed": noising(1 / 256, 1e-6 / 256, "paper", 1).threshold(),
        "thresholds": thresholds,
        "noise_needed": needed,
        "oblivious": oblivious,
        "shards": sharded,
        "batch": 256 * 32 * 32,
        "delta_times_n": 1e-8 * 83e6,
    }
