"""Any Hugging Face model with logits, scored example by example. Imports torch, so it is itself imported late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class PerExample(nn.Module):
    """The model as the engine needs it: `collate` is the caller's collator, `losses` one number a row."""

    def __init__(self, model: Any, collator: Callable[[list[Any]], Any]):
        super().__init__()
        self.model, self._collator, self.causal = model, collator, is_causal(model)
        for module in model.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0  # a row's loss must be the same alone and in a batch
        model.get_input_embeddings().requires_grad_(False)
        for embeddings in (m for n, m in model.named_modules() if n.endswith("embeddings")):
            embeddings.requires_grad_(False)

    def collate(self, examples: list[Any]) -> dict[str, Tensor]:
        return dict(self._collator(examples))

    def losses(self, batch: dict[str, Tensor]) -> Tensor:
        """Cross entropy of a row, averaged over its own labels (-100 counts for nothing).

        A causal model's labels are its input, as the library has it: the score at a place is for the label behind it.
        """
        labels = batch["labels"]
        scores = self.model(**{name: value for name, value in batch.items() if name != "labels"}).logits
        if labels.dim() == 1:
            return nn.functional.cross_entropy(scores, labels, reduction="none")
        if self.causal:
            scores, labels = scores[:, :-1], labels[:, 1:]
        each = nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="none")
        return each.view(labels.shape).sum(1) / (labels != -100).sum(1).clamp(min=1)

    @torch.no_grad()
    def logits(self, rows: list[Any]) -> Tensor:
        self.eval()
        batch = self.collate(rows)
        return self.model(**{name: value for name, value in batch.items() if name != "labels"}).logits


def is_causal(model: Any) -> bool:
    """Whether the model predicts the next piece, by the library's own table of such models."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return type(model).__name__ in set(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values())
