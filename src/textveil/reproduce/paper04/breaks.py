"""Paper 04: the cells of what breaks it (masks, mixtures, tokens), and the span attack on what replaces it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from textveil.attacks.texthide.mask_recovery import EncodingLaw, mixing_spread, recover_masks
from textveil.attacks.texthide.masks import matched
from textveil.attacks.texthide.mixed_search import pursuit
from textveil.attacks.texthide.seen import MaskNumbers
from textveil.attacks.texthide.span import GradientSpan, batch_pairs, nearest_misses
from textveil.federated.texthide import HidingPlan, drawn_key, mask_pool
from textveil.noise.source import seeded
from textveil.recipes.texthide.audit import hidden_epochs
from textveil.reproduce.paper04.data import DEV, IMDB, encoder, public_encodings, task, task_rows

FALSE_SHARE = 1e-3  # of the tokens that are not there, which an attacker of noisy updates names too
PLACES = 16  # pieces of a text that are read by the adapters


def breaks(data: Path, *, name: str, m: int, k: int, seed: int, most: int, epochs: int, queries: int) -> dict[str, Any]:
    """Masks sorted and taken off, and mixtures taken apart; the law of encodings comes from reviews of films."""
    train = task(data, name, "train", most)
    law = EncodingLaw.of(public_encodings(data, IMDB, 1000), mixing_spread(k))
    noise, pool = seeded(seed), mask_pool(m, train.x.shape[1], f"pool {seed}".encode())
    hidden, masks, rows = hidden_epochs(train.x, HidingPlan(m, k), pool, epochs, 32, noise)
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
    data: Path,
    *,
    name: str,
    texts: int,
    seed: int,
    rank: int,
    epsilon: float,
    delta: float,
    batch: int,
    most: int,
    epochs: int,
) -> dict[str, Any]:
    """The span attack on updates of the replacement: adapters in the real encoder, one clipped example, noise of its plan.

    The attacker knows all other examples of the batch and has taken them off: what is left is one example and the noise.
    Of the clean update the span test names the tokens. Of the noisy one the nearest tokens are named, so many that a share
    of FALSE_SHARE of those that are not there are among them.
    """
    from textveil.nets.encoder import Encoder, encoder_folder
    from textveil.recipes.texthide.views import first_layer_of
    from textveil.training.adapters import adapt_encoder, clipped_update
    from textveil.training.calibrate import calibrate_plan
    from textveil.training.plan import TrainingPlan, steps_for

    plan = TrainingPlan(noise=1.0, batch=batch, examples=most, steps=steps_for(most, batch, epochs), clip=1.0)
    plan, noise = calibrate_plan(plan, epsilon, delta), seeded(seed)
    net = adapt_encoder(Encoder(encoder_folder("minilm"), "classifier", ["0", "1"], max_pieces=PLACES), rank)
    rows = task_rows(data, name, "dev", DEV)
    chosen = [rows[i]["first"] for i in noise.permutation(len(rows))[:texts]]
    first = first_layer_of(_AsHidden(net.model.base_model))
    updates = [clipped_update(net, [(text, "1")], plan.clip, seed) for text in chosen]
    noisy = [clean + plan.noise * plan.clip * noise.normals(clean.shape) for clean in updates]
    truth = np.stack([_own_tokens(net, text) for text in chosen], 1)
    ordinary = np.ones(len(first.words), np.bool_)
    ordinary[net.tokenizer.all_special_ids] = False  # they stand in every text
    named = np.stack([batch_pairs(first, clean, PLACES)[0].any(1) for clean in updates], 1) & ordinary[:, None]
    misses = nearest_misses(first, [GradientSpan.of(update) for update in noisy], PLACES)
    limit = np.quantile(np.where(truth | ~ordinary[:, None], np.inf, misses), FALSE_SHARE, axis=0, method="lower")
    near = (misses <= limit) & ordinary[:, None]
    return {
        "clean_hits": int((named & truth).sum()),
        "clean_wrong": int((named & ~truth).sum()),
        "noisy_hits": int((near & truth).sum()),
        "noisy_wrong": int((near & ~truth).sum()),
        "tries": int(truth.sum()),
        "others": int((~truth & ordinary[:, None]).sum()),
        "noise": plan.noise,
        "epsilon": plan.epsilon(delta),
        "delta": delta,
    }


def _own_tokens(net: Any, text: str) -> np.ndarray:
    """Which tokens of the vocabulary stand in a text, special ones left out."""
    inside = np.zeros(net.model.config.vocab_size, np.bool_)
    inside[net.tokenizer(text, truncation=True, max_length=PLACES)["input_ids"]] = True
    inside[net.tokenizer.all_special_ids] = False
    return inside


class _AsHidden:
    """An encoder as `first_layer_of` looks for it."""

    def __init__(self, body: Any):
        self.encoder = body
