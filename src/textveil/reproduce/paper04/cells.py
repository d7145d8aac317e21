"""Paper 04: the cells. All but `tokens` work on frozen encodings; texts stay in memory, numbers come out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from textveil.attacks.texthide.gradient_matching import CLOSE, match_gradient
from textveil.attacks.texthide.mask_recovery import EncodingLaw, mixing_spread, recover_masks
from textveil.attacks.texthide.masks import matched
from textveil.attacks.texthide.mixed_search import nearest, pursuit
from textveil.attacks.texthide.reconstruction import reconstruct
from textveil.attacks.texthide.seen import MaskNumbers
from textveil.attacks.texthide.span import batch_pairs
from textveil.federated.texthide import HidingPlan, drawn_key, hide, mask_pool
from textveil.federated.texthide_heads import NO_HIDING, outputs, train_head
from textveil.noise.source import seeded
from textveil.reproduce.paper04.data import IMDB, PAIRS, encoder, public_encodings, task, task_rows
from textveil.reproduce.paper04.heads import score_of
from textveil.reproduce.paper04.likeness import Likeness
from textveil.training.vector_head import train_private_head

DEV = 1_000
SCHEMES = {"baseline": NO_HIDING, "mix-only": HidingPlan(0, 4), "TextHide": HidingPlan(256, 4)}


def arm_plan(name: str, arm: str) -> HidingPlan:
    """The paper's settings: k = 4, m = 256, for RTE m = 16."""
    if arm == "baseline":
        return NO_HIDING
    return HidingPlan(16 if name == "RTE" else 256, 4, arm)


def glue(data: Path, *, name: str, arm: str, seed: int, most: int, epochs: list[int], public: int) -> dict[str, Any]:
    """One arm of Table 1: epochs are chosen on a fifth of train, then all of train is learnt and dev scored."""
    train, dev, plan = task(data, name, "train", most), task(data, name, "dev", DEV), arm_plan(name, arm)
    others = public_encodings(data, IMDB, public, pairs=name in PAIRS) if arm == "inter" else None
    edge = len(train.x) * 4 // 5
    tried = {}
    for count in epochs:
        head = train_head(
            train.x[:edge], train.y[:edge], plan, epochs=count, seed=seed, noise=seeded(seed), public=others
        )
        tried[count] = score_of(name, outputs(head, train.x[edge:]), train.y[edge:])
    best = max(tried, key=lambda count: tried[count])
    head = train_head(train.x, train.y, plan, epochs=best, seed=seed, noise=seeded(seed), public=others)
    return {"score": 100 * score_of(name, outputs(head, dev.x), dev.y), "epochs": best}


def grid_cell(data: Path, *, name: str, m: int, k: int, seed: int, most: int, epochs: int) -> dict[str, Any]:
    """One point of Figure 2; m = -1 is a new mask for every item."""
    train, dev = task(data, name, "train", most), task(data, name, "dev", DEV)
    head = train_head(
        train.x, train.y, HidingPlan(None if m < 0 else m, k), epochs=epochs, seed=seed, noise=seeded(seed)
    )
    return {"score": 100 * score_of(name, outputs(head, dev.x), dev.y)}


def corpora(data: Path, *, corpus: str, seed: int, most: int, epochs: int, public: int) -> dict[str, Any]:
    """Table 6: SST-2 with public text of one corpus mixed in."""
    train, dev = task(data, "SST-2", "train", most), task(data, "SST-2", "dev", DEV)
    others = public_encodings(data, corpus, public)
    head = train_head(
        train.x, train.y, HidingPlan(256, 4, "inter"), epochs=epochs, seed=seed, noise=seeded(seed), public=others
    )
    return {"score": 100 * score_of("SST-2", outputs(head, dev.x), dev.y)}


def matching(data: Path | None, *, d: int, k: int, attacks: int, outer: int) -> dict[str, Any]:
    """One cell of Table 2 (d = 0: without TextHide), with the curves of its first success and first failure (Figure 3)."""
    runs = [match_gradient(d or None, k, seed=1000 * d + 10 * number + k, outer=outer) for number in range(attacks)]
    curves = {}
    for name, wanted in (("success", True), ("failure", False)):
        first = next((run for run in runs if run.success is wanted), None)
        if first is not None:
            curves[name] = {"input": first.input_errors, "mask": first.mask_errors, "gradient": first.distances}
    return {
        "hits": sum(run.success for run in runs),
        "tries": attacks,
        "read_off": sum(run.read_off_error <= CLOSE for run in runs),
        "curves": curves,
    }


def rss(data: Path, *, name: str, scheme: str, seed: int, most: int, queries: int) -> dict[str, Any]:
    """Table 3, and what searches that know of masks get from the same encodings."""
    train, likeness = task(data, name, "train", most), _likeness(data, name, most)
    hidden, rows = _hidden(train.x, SCHEMES[scheme], seed)
    asked = seeded(seed).permutation(len(hidden))[:queries]
    own = rows[asked, 0]
    guess = nearest(hidden[asked], train.x)
    chance = seeded(seed + 7).below(len(train.x), len(own))
    shown: dict[str, Any] = {"rss": likeness.of(own, guess), "random": likeness.of(own, chance)}
    usual = np.abs(train.x).mean(0)
    named = nearest(np.abs(hidden[asked]) - usual, np.abs(train.x) - usual)
    shown["absolute"] = {"hits": int((named[:, None] == rows[asked]).any(1).sum()), "tries": len(asked)}
    return shown


def breaks(data: Path, *, name: str, m: int, k: int, seed: int, most: int, epochs: int, queries: int) -> dict[str, Any]:
    """Masks sorted and taken off, and mixtures taken apart; the law of encodings comes from reviews of films."""
    train = task(data, name, "train", most)
    law = EncodingLaw.of(public_encodings(data, IMDB, 1000), mixing_spread(k))
    noise, pool = seeded(seed), mask_pool(m, train.x.shape[1], f"pool {seed}".encode())
    parts = [_hidden_epoch(train.x, HidingPlan(m, k), pool, noise) for _ in range(epochs)]
    hidden, rows, masks = (np.concatenate([part[i] for part in parts]) for i in range(3))
    start = time.perf_counter()
    known = recover_masks(hidden, law, m)
    seconds = time.perf_counter() - start
    right, tried = matched(known.group, MaskNumbers(masks), seeded(seed))
    asked = noise.permutation(len(hidden))[:queries]
    chosen, rest = pursuit(hidden[asked] * known.signs[known.group[asked]], train.x.astype(np.float64), law, k)
    found = (rows[asked][:, :, None] == chosen[:, None, :]).any(2)
    return {
        "mask_hits": right,
        "mask_tries": tried,
        "mask_share": right / tried,
        "mask_seconds": seconds,
        "mixed_hits": int(found.sum()),
        "mixed_tries": found.size,
        "exact": float((rest < 1e-3).mean()),
    }


def tokens(data: Path, *, name: str, batch: int, seed: int) -> dict[str, Any]:
    """The span attack on one hidden batch of a GLUE task, sent through the real encoder with all of it learning."""
    from textveil.recipes.texthide.views import ClientGradient, gradients_of, tokens_seen

    net, noise = encoder(), seeded(seed)
    texts = [row["first"] for row in task_rows(data, name, "dev", DEV)]
    chosen = [texts[i] for i in noise.permutation(len(texts))[:batch]]
    pool = mask_pool(256, net.width, b"pool")
    key = drawn_key(HidingPlan(256, 4), pool, batch, noise=noise)
    examples = [(text, str(int(noise.below(2, 1)[0]))) for text in chosen]
    loss = net.hidden_losses(net.collate(examples), key, None).mean()
    seen = tokens_seen(net, ClientGradient.of(gradients_of(net, loss)), chosen)
    start = time.perf_counter()
    inside, rank = batch_pairs(seen.first, seen.layer, seen.places)
    seconds = time.perf_counter() - start
    assert seen.truth is not None and seen.word_rows is not None
    truth, named, rows = seen.truth.inside, inside.any(1), np.abs(seen.word_rows).max(1) > 0
    return {
        "hits": int((named & truth).sum()),
        "tries": int(truth.sum()),
        "wrong": int((named & ~truth).sum()),
        "share": float((named & truth).sum() / truth.sum()),
        "rows_share": float((rows & truth).sum() / truth.sum()),
        "rows_wrong": int((rows & ~truth).sum()),
        "tokens": int(net.pieces(chosen)["attention_mask"].sum()),
        "rank": rank,
        "seconds": seconds,
    }


def private_tokens(
    data: Path, *, name: str, batch: int, seed: int, rank: int, epsilon: float, delta: float, examples: int, epochs: int
) -> dict[str, Any]:
    """The span attack on one update of the replacement: adapters in the real encoder, clipped sums, noise of its plan."""
    from textveil.nets.encoder import Encoder, encoder_folder
    from textveil.recipes.texthide.views import first_layer_of
    from textveil.training.adapters import adapt_encoder, clipped_update
    from textveil.training.calibrate import calibrate_plan
    from textveil.training.plan import TrainingPlan, steps_for

    plan = TrainingPlan(noise=1.0, batch=batch, examples=examples, steps=steps_for(examples, batch, epochs), clip=1.0)
    plan, noise = calibrate_plan(plan, epsilon, delta), seeded(seed)
    net = adapt_encoder(Encoder(encoder_folder("minilm"), "classifier", ["0", "1"], max_pieces=64), rank)
    texts = [row["first"] for row in task_rows(data, name, "dev", DEV)]
    chosen = [texts[i] for i in noise.permutation(len(texts))[:batch]]
    clean = clipped_update(net, [(text, "1") for text in chosen], plan.clip, seed)
    noisy = clean + plan.noise * plan.clip * noise.normals(clean.shape)
    truth = np.zeros(net.model.config.vocab_size, np.bool_)
    pieces = net.tokenizer(chosen, truncation=True, max_length=64)["input_ids"]
    truth[[piece for row in pieces for piece in row]] = True
    first = first_layer_of(_AsHidden(net.model.base_model))
    shown = {}
    for label, layer in (("clean", clean), ("noisy", noisy)):
        named = batch_pairs(first, layer, 64)[0].any(1)
        shown |= {f"{label}_hits": int((named & truth).sum()), f"{label}_wrong": int((named & ~truth).sum())}
    return {**shown, "tries": int(truth.sum()), "noise": plan.noise, "epsilon": plan.epsilon(delta)}


class _AsHidden:
    """An encoder as `first_layer_of` looks for it."""

    def __init__(self, body: Any):
        self.encoder = body


def reprecon(data: Path, *, name: str, scheme: str, seed: int, most: int, queries: int) -> dict[str, Any]:
    """Table 8: a net learns to undo the hiding on train; dev encodings are looked up among dev sentences."""
    train, dev, plan = task(data, name, "train", most), task(data, name, "dev", DEV), SCHEMES[scheme]
    pool = mask_pool(plan.masks or 0, train.x.shape[1], f"pool {seed}".encode())
    noise = seeded(seed)
    hidden, rows, _ = _hidden_epoch(train.x, plan, pool, noise)
    asked, own, _ = _hidden_epoch(dev.x, plan, pool, noise)
    answer = reconstruct(hidden, train.x[rows[:, 0]], asked[:queries], seed=seed)
    likeness = Likeness(dev.texts, dev.y.argmax(1), dev.x)
    owners = own[:queries, 0]
    chance = seeded(seed + 7).below(len(dev.x), len(owners))
    return {"rss": likeness.of(owners, nearest(answer, dev.x)), "random": likeness.of(owners, chance)}


def replacement(
    data: Path, *, name: str, epsilon: float, delta: float, seed: int, most: int, epochs: int, batch: int, rate: float
) -> dict[str, Any]:
    """A linear head on the frozen encoder under DP-SGD, beside the MLP and the linear head without privacy."""
    train, dev = task(data, name, "train", most), task(data, name, "dev", DEV)
    scale = np.float32(train.x.shape[1] ** 0.5)  # rows of length 1: a public constant
    head, plan = train_private_head(
        train.x / scale,
        train.y,
        epsilon=epsilon,
        delta=delta,
        epochs=epochs,
        batch=batch,
        rate=rate,
        source=seeded(seed),
    )
    said = head.scores(dev.x / scale)
    plain = outputs(train_head(train.x, train.y, NO_HIDING, epochs=10, seed=seed, noise=seeded(seed)), dev.x)
    share = dev.y.mean(0).max()
    return {
        "private": 100 * float((said.argmax(1) == dev.y.argmax(1)).mean()),
        "plain": 100 * float((plain.argmax(1) == dev.y.argmax(1)).mean()),
        "majority": 100 * float(share),
        "epsilon": plan.epsilon(delta),
        "noise": plan.noise,
    }


def _likeness(data: Path, name: str, most: int) -> Likeness:
    train = task(data, name, "train", most)
    return Likeness(train.texts, train.y.argmax(1), train.x)


def _hidden(x: np.ndarray, plan: HidingPlan, seed: int) -> tuple[np.ndarray, np.ndarray]:
    pool = mask_pool(plan.masks or 0, x.shape[1], f"pool {seed}".encode())
    hidden, rows, _ = _hidden_epoch(x, plan, pool, seeded(seed))
    return hidden, rows


def _hidden_epoch(x: np.ndarray, plan: HidingPlan, pool: Any, noise: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One epoch of Algorithm 1 in batches of 32: hidden, the rows mixed in each, the masks' numbers."""
    hidden, rows, masks = [], [], []
    order = noise.permutation(len(x))
    for start in range(0, len(x), 32):
        chosen = order[start : start + 32]
        key = drawn_key(plan, pool, len(chosen), noise=noise)
        hidden.append(hide(key, x[chosen]))
        rows.append(chosen[key.rows])
        masks.append(key.mask_numbers)
    return np.concatenate(hidden), np.concatenate(rows), np.concatenate(masks)
