"""Made-up gradients and encodings on which the attacks are checked: telling all, or nothing."""

from __future__ import annotations

import numpy as np

from textveil.attacks.texthide.seen import (
    BatchPlaces,
    BatchTokens,
    FirstLayer,
    GradientSeen,
    HiddenSeen,
    MaskNumbers,
    MixedIn,
    MixedSeen,
    PlacesSeen,
)
from textveil.noise import secure

WORDS, WIDTH, PLACES, BATCH = 400, 48, 12, 10
MASKS, HIDDEN, INDEX, MIXED = 3, 90, 60, 2


def _first_layer() -> FirstLayer:
    noise = secure()
    words, places = noise.normals((WORDS, WIDTH)), 0.3 * noise.normals((PLACES, WIDTH))
    return FirstLayer(words, places, noise.normals(WIDTH), 1 + noise.uniforms(WIDTH), noise.normals(WIDTH))


def _batch() -> tuple[FirstLayer, np.ndarray, np.ndarray]:
    """An encoder, the tokens of one text, and the gradient of its first layer."""
    noise, first = secure(), _first_layer()
    tokens = noise.permutation(WORDS)[:BATCH]
    inputs = np.concatenate([first.inputs(tokens[[place]], place) for place in range(BATCH)])
    return first, tokens, noise.normals((2 * WIDTH, BATCH)) @ inputs


def tokens_told(tells: str) -> GradientSeen:
    """The gradient of one text, or noise."""
    noise = secure()
    first, tokens, layer = _batch()
    rows = np.zeros((WORDS, WIDTH))
    inside = np.zeros(WORDS, np.int64)
    inside[tokens] = 1
    if tells == "all":
        rows[tokens] = noise.normals((BATCH, WIDTH))
    else:
        layer, rows = noise.normals(layer.shape), noise.normals(rows.shape)
    return GradientSeen(first, layer, PLACES, rows, BatchTokens(inside))


def places_told(tells: str) -> PlacesSeen:
    """The same, by place."""
    first, tokens, layer = _batch()
    inside = np.zeros((WORDS, PLACES), np.int64)
    inside[tokens, np.arange(BATCH)] = 1
    if tells != "all":
        layer = secure().normals(layer.shape)
    return PlacesSeen(first, layer, PLACES, truth=BatchPlaces(inside.ravel()))


def masks_told(tells: str) -> HiddenSeen:
    """Encodings far from zero behind a few masks, or noise around zero, where a mask changes nothing."""
    noise = secure()
    mean = 3.0 if tells == "all" else 0.0
    numbers = noise.below(MASKS, HIDDEN)
    signs = (noise.below(2, (MASKS, WIDTH)) * 2 - 1).astype(np.float64)
    hidden = signs[numbers] * (mean + noise.normals((HIDDEN, WIDTH)))
    return HiddenSeen(hidden, mean + noise.normals((400, WIDTH)), MASKS, 1, MaskNumbers(numbers))


def mixing_told(tells: str) -> MixedSeen:
    """Two sentences mixed in each encoding behind a few masks, or an index of other sentences."""
    return _mixed(tells, MASKS)


def unmasked_told(tells: str) -> MixedSeen:
    """The same without masks."""
    return _mixed(tells, 0)


def _mixed(tells: str, masks: int) -> MixedSeen:
    noise = secure()
    index = 2.0 + noise.normals((INDEX, WIDTH))
    rows = np.stack([noise.permutation(INDEX)[:MIXED] for _ in range(HIDDEN)])
    among = index if tells == "all" else 2.0 + noise.normals((INDEX, WIDTH))
    hidden = 0.7 * among[rows[:, 0]] + 0.3 * among[rows[:, 1]]
    if masks:
        hidden = hidden * ((noise.below(2, (masks, WIDTH)) * 2 - 1)[noise.below(masks, HIDDEN)])
    return MixedSeen(hidden, 2.0 + noise.normals((400, WIDTH)), index, masks, MIXED, MixedIn(rows.ravel()))
