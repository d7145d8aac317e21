"""The net that TextHide trains: an encoder whose first token's vector goes through an MLP of three layers as wide as it.

Examples are (text, target) or ((first, second), target); targets are classes, or numbers where `classes` is None. All of the
encoder learns, the word embeddings too, as in the paper. `losses` reads texts as they are (the baseline), `hidden_losses`
under a key of `texthide`. A saved folder is the encoder's Hugging Face folder with head.pt and texthide.json.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from textveil.core import BadInput
from textveil.nets.encoder import _quietly as quietly
from textveil.nets.encoder import encoder_folder, most_pieces
from textveil.nets.fit import own_randomness

from .texthide import HidingKey, hide, mix_labels

SETTINGS, HEAD = "texthide.json", "head.pt"


def mlp_head(width: int, outputs: int, layers: int = 3) -> nn.Sequential:
    """The paper's head: `layers` hidden layers of the encoder's width."""
    inner = [part for _ in range(layers) for part in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(*inner, nn.Linear(width, outputs))


def target_losses(scores: Tensor, target: Tensor, *, is_regression: bool) -> Tensor:
    """One loss a row: cross entropy with a mixed label, or the squared error."""
    if is_regression:
        return (scores - target).square().mean(1)
    return -(target * torch.log_softmax(scores, 1)).sum(1)


class HiddenNet(nn.Module):
    """An encoder ("minilm", or a folder) with the MLP head; the head's first values are the same for the same seed."""

    def __init__(
        self, folder: str | Path, classes: Sequence[str] | None, *, max_pieces: int = 64, seed: int = 0
    ) -> None:
        super().__init__()
        import transformers

        path = encoder_folder(folder)
        self.classes = None if classes is None else [str(name) for name in classes]
        with quietly():
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
            self.encoder = transformers.AutoModel.from_pretrained(
                path, local_files_only=True, dtype=torch.float32, add_pooling_layer=False
            )
        for module in self.encoder.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        self.max_pieces = min(max_pieces, most_pieces(self.encoder.config))
        with own_randomness(seed):
            self.head = mlp_head(self.width, 1 if self.classes is None else len(self.classes))

    @property
    def width(self) -> int:
        return int(self.encoder.config.hidden_size)

    def collate(self, examples: Sequence[Any]) -> dict[str, Tensor]:
        """Padded pieces, and targets as rows."""
        batch = self.pieces([text for text, _ in examples])
        return {**batch, "target": self.targets([target for _, target in examples])}

    def pieces(self, texts: Sequence[Any]) -> dict[str, Tensor]:
        """Texts, or pairs of them, as the encoder reads them."""
        pairs = [(text, None) if isinstance(text, str) else tuple(text) for text in texts]
        second = [b for _, b in pairs] if any(b is not None for _, b in pairs) else None
        limit = {"truncation": True, "max_length": self.max_pieces, "padding": True, "return_tensors": "pt"}
        return dict(self.tokenizer([a for a, _ in pairs], second, **limit))

    def targets(self, targets: Sequence[Any]) -> Tensor:
        """One-hot rows, or one number a row."""
        if self.classes is None:
            return torch.tensor([[float(target)] for target in targets])
        number = {name: n for n, name in enumerate(self.classes)}
        if not {str(target) for target in targets} <= number.keys():
            raise BadInput("an example has a class that the net does not know", possible=", ".join(self.classes))
        return torch.eye(len(self.classes))[[number[str(target)] for target in targets]]

    def encode(self, batch: dict[str, Tensor]) -> Tensor:
        """The vector of the first token of each text."""
        given = {k: v for k, v in batch.items() if k != "target"}
        return self.encoder(**given).last_hidden_state[:, 0]

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        return self.head(self.encode(batch))

    def losses(self, batch: dict[str, Tensor]) -> Tensor:
        return target_losses(self(batch), batch["target"], is_regression=self.classes is None)

    def hidden_losses(self, batch: dict[str, Tensor], key: HidingKey, public: dict[str, Tensor] | None) -> Tensor:
        """One loss for each hidden item (line 23 of Algorithm 2)."""
        others = None if public is None else self.encode(public)
        scores = self.head(hide(key, self.encode(batch), others))
        return target_losses(scores, mix_labels(key, batch["target"]), is_regression=self.classes is None)

    @torch.no_grad()
    def encodings(self, texts: Sequence[Any], *, mean: bool = False, batch_size: int = 64) -> Any:
        """Encodings as an array, one row a text: the first token's vector, or the mean of all tokens, of length 1."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        rows = torch.zeros(len(texts), self.width)
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            batch = self.pieces([texts[i] for i in chosen])
            states, mask = self.encoder(**batch).last_hidden_state, batch["attention_mask"].unsqueeze(2)
            average = nn.functional.normalize((states * mask).sum(1) / mask.sum(1))
            rows[chosen] = average if mean else states[:, 0]
        return rows.numpy()

    @torch.no_grad()
    def predict(self, texts: Sequence[Any], signs: Any = None, batch_size: int = 64) -> list[Any]:
        """The likeliest class of each text, or its number. `signs`: a mask for each, as clients ask; nothing is mixed."""
        self.eval()
        states = [self.encode(self.pieces(texts[i : i + batch_size])) for i in range(0, len(texts), batch_size)]
        vectors = torch.cat(states)
        scores = self.head(vectors if signs is None else vectors * torch.as_tensor(signs, dtype=vectors.dtype))
        return scores[:, 0].tolist() if self.classes is None else [self.classes[i] for i in scores.argmax(1).tolist()]

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        with quietly():
            self.encoder.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)
        torch.save(self.head.state_dict(), folder / HEAD)
        settings = {"classes": self.classes, "max_pieces": self.max_pieces}
        (folder / SETTINGS).write_text(json.dumps(settings, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> HiddenNet:
        """A folder that `save` wrote."""
        try:
            settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise BadInput(f"is not a model folder of TextHide (it has no {SETTINGS})", where=folder) from None
        net = cls(folder, settings["classes"], max_pieces=settings["max_pieces"])
        net.head.load_state_dict(torch.load(folder / HEAD, weights_only=True))
        return net.eval()
