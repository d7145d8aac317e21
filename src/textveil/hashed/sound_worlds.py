"""Two worlds of the sound variant that differ in one unit, released as often as one likes: what retrain and compare is run
on.

The noise of a slot does not depend on how many slots there are, nor on how many documents. So the worlds are small: a few
documents, a table of 2^10 slots, the same trainer, plan and multiplier. The unit in question is a marked passage that no
other one resembles: it pulls with its whole bound in every step. And the adversary gets more than the folder holds: the
noisy sums before they are shrunk. Who fails here fails on the folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from textveil.core import BadInput
from textveil.hashed.extractor import Extractor
from textveil.hashed.kinds import TableKind
from textveil.hashed.sound import SoundTrainer
from textveil.hashed.sound_plan import SoundPlan
from textveil.hashed.table import SOUND
from textveil.noise import Source

BITS = 10
DOCUMENTS, AROUND = 4, 600
ODD = "Heron Quartz alone settles whatever Basalt Lantern leaves open under Marigold."  # resembles no clause


class SoundWorlds:
    """World 1 has one unit more than world 0.

    >>> texts, spans = ["The fee is due in May.\\n\\nTexas law governs this paper."], [[(24, 53)]]
    >>> worlds = SoundWorlds(SoundTrainer(2.0, 1e-6), texts, spans)
    >>> worlds.expected.shape
    (2, 1024)
    """

    def __init__(self, trainer: SoundTrainer, texts: Sequence[str], spans: Sequence[Any]):
        plan = replace(trainer.plan, bits=BITS)
        sound = replace(trainer.sound, shrink=0.0)
        self.trainer = SoundTrainer(trainer.epsilon, trainer.delta, trainer.label, plan, sound)
        self.multiplier = self.trainer.multiplier  # priced once
        base = [around(text, marked) for text, marked in zip(texts, spans, strict=True) if marked][:DOCUMENTS]
        if not base:
            raise BadInput("the documents hold no marked span, so there are no two worlds to compare")
        self.worlds = [self._examples(base), self._examples([*base, (ODD, [(0, len(ODD))])])]
        self.expected = np.stack([self._weights(examples, None) for examples in self.worlds])

    def sample(self, worlds: np.ndarray, source: Source) -> np.ndarray:
        """A fresh release of each of these worlds."""
        return np.stack([self._weights(self.worlds[int(world)], source) for world in worlds])

    def _examples(self, documents: Sequence[tuple[str, Any]]) -> Any:
        reader = self.trainer.reader()
        for text, spans in documents:
            reader.add(text, spans)
        return reader.examples()

    def _weights(self, examples: Any, noise: Source | None) -> np.ndarray:
        from textveil.hashed.sound_descent import descend
        from textveil.hashed.sound_output import perturbed

        run = descend if self.trainer.sound.method == "descent" else perturbed
        return run(examples, self.trainer.sound, self.multiplier, noise)


def around(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """The first marked span with some text on both sides.

    >>> around("x" * 900 + "Texas law.", [(900, 910)])[1]
    [(600, 610)]
    """
    start, end = spans[0]
    begin = max(0, start - AROUND)
    return text[begin : end + AROUND], [(start - begin, end - begin)]


def trainer_of(model: Extractor) -> SoundTrainer:
    """The trainer of a sound model, from what its header says."""
    table = model.table_
    if table.kind is not TableKind.SOUND:
        raise BadInput("this model was not trained under a promise")
    asked = table.facts.get("asked")
    if asked is None:  # a folder of an earlier version: its promise is what was asked for, up to a rounding
        asked = table.facts["guarantee"]["loss"]
    plan = SoundPlan.from_json(table.facts[SOUND])
    return SoundTrainer(asked["epsilon"], asked["delta"], model.label, model.plan, plan)
