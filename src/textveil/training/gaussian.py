"""Millions of Gaussians per update from the secure source: Box and Muller on blocks, by torch's vectorised functions.

Words come from `textveil.noise` (AES in counter mode, keyed by the operating system): 52 bits for each radius, computed in
double precision, so tails reach sqrt(2 ln 2^53) = 8.57 deviations, and 32 bits for each angle, whose sine and cosine are
computed in single. Limits of floating point: the noise lives on a grid, and noise + sum is rounded
to single precision; the promise is that of exact arithmetic, as in every DP-SGD library known to us, and the docs say
so.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from textveil.noise import Source

_BLOCK = 1 << 16  # words per block: half a megabyte, so all passes stay in cache


def add_gaussian(flat: Tensor, deviation: float, source: Source) -> None:
    """Add independent Gaussians of this deviation to a flat tensor, in place."""
    kind, most = flat.dtype, (min(_BLOCK, len(flat)) + 1) // 2
    words = np.empty(most + (most + 1) // 2, np.uint64)  # one for each radius, half of one for each angle
    with torch.no_grad():
        for start in range(0, len(flat), _BLOCK):
            piece = flat[start : start + _BLOCK]
            half = (len(piece) + 1) // 2
            some = words[: half + (half + 1) // 2]
            source.fill(some)
            angle = torch.from_numpy(some[half:].view(np.int32)[:half]).float().mul_(math.pi * 2.0**-31)
            np.right_shift(some[:half], np.uint64(12), out=some[:half])  # 52 bits, so that adding a half is exact
            unit = torch.from_numpy(some[:half].view(np.int64)).double().add_(0.5).mul_(2.0**-52)
            radius = unit.log_().mul_(-2.0 * deviation * deviation).sqrt_().to(kind)
            piece[:half].addcmul_(radius, angle.cos().to(kind))
            left = len(piece) - half
            piece[half:].addcmul_(radius[:left], angle.sin_().to(kind)[:left])
