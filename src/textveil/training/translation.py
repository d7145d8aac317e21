"""A private translation model: a public one, fine-tuned on confidential sentence pairs under DP-SGD.

The sound alternative to cutting sentences into phrases: whole sentences are learnt from, and what one sentence pair can
change is bounded. Embeddings and the output layer that shares them rest; all other layers learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Unpack

from textveil.core import BadInput
from textveil.core.params import needs

from .private_model import PrivateModel, SettingNames, Settings


class Translation(PrivateModel):
    """`fit(sources, targets)`; `losses(pairs)`, `save(folder)`. The unit is a sentence pair.

    Parameters
    ----------
    model
        A local Hugging Face folder of a translation model (Marian and its like), or a `Seq2Seq` at hand; it is public.
    max_pieces
        Read only so many subwords of a side.
    """

    name: ClassVar[str] = "training.translation"
    defaults: ClassVar[Settings] = Settings(epochs=10, batch=512, clip=0.5, rate=5e-4, average=0.9, micro_batch=32)

    def __init__(self, model: Any = None, max_pieces: int = 128, **settings: Unpack[SettingNames]):
        self.model, self.max_pieces = model, max_pieces
        self._take(settings)

    def _examples(self, X: Sequence[Any], y: Sequence[Any] | None) -> list[Any]:
        pairs = [*zip(X, y, strict=True)] if y is not None else [*map(tuple, X)]
        if not all(len(pair) == 2 and all(isinstance(text, str) for text in pair) for pair in pairs):
            raise BadInput("sentence pairs are needed, two texts each")
        return pairs

    def _public(self) -> tuple[str, ...]:
        return ("the model it starts from is public",)

    def public_params(self) -> dict[str, Any]:
        """The model by the name of its folder."""
        named = Path(self.model).name if isinstance(self.model, (str, Path)) else type(self.model).__name__
        return {**super().public_params(), "model": named}

    def _net(self) -> Any:
        needs("training", "torch", "transformers")
        from textveil.nets.translation import Seq2Seq, TranslationNet, load_seq2seq

        if self.model is None:
            raise BadInput("a translation model to start from is needed", possible="model='opus-mt-de-en'")
        at_hand = self.model if isinstance(self.model, Seq2Seq) else load_seq2seq(Path(self.model), dropout=0.0)
        return TranslationNet(at_hand, self.max_pieces)
