"""How much a masked-word encoder likes a text: every piece is masked in turn, and the losses are averaged.

Its training loss masks a seventh of the places, which may miss the one word that matters (a planted secret). Masking
each place in turn misses none (Salazar et al. 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


@torch.no_grad()
def pseudo_losses(net: Any, texts: Sequence[str], batch_size: int = 256) -> Any:
    """The mean loss over all pieces of each text, as an array."""
    net.eval()
    totals, counts = torch.zeros(len(texts), dtype=torch.float64), torch.zeros(len(texts), dtype=torch.float64)
    for start in range(0, len(texts), batch_size):
        given = net.tokenizer(
            list(texts[start : start + batch_size]),
            padding=True,
            truncation=True,
            max_length=net.max_pieces,
            return_special_tokens_mask=True,
            return_tensors="pt",
        )
        for place in range(given["input_ids"].shape[1]):
            rows = (given["special_tokens_mask"][:, place] == 0).nonzero().flatten()
            if not len(rows):
                continue
            pieces = given["input_ids"][rows].clone()
            target = pieces[:, place : place + 1].clone()
            pieces[:, place] = net.tokenizer.mask_token_id
            batch = {"input_ids": pieces, "attention_mask": given["attention_mask"][rows], "target": target}
            losses = net.losses({**batch, "places": torch.full((len(rows), 1), place)})
            totals[start + rows] += losses.double()
            counts[start + rows] += 1
    return (totals / counts.clamp(min=1)).numpy()
