"""Attack a folder of a model trained under TextHide.

    texthide.rows, texthide.span    which tokens stand in a client's batch?
    texthide.order                  which token stands where?
    texthide.masks                  which encodings were hidden by the same mask?
    texthide.rss, .absolute, .unmix     which sentences of an index are mixed in an encoding?

Without --truth the attacks are run on public sentences (invented letters that are bundled, or --public FILE) that are sent
through the released model and the scheme of the release: nothing of the clients' text is touched, and the evidence goes into
the folder. With --truth IN the first three are run on what the server really saw of the first client in the first
round, where it was kept (--keep-view).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from textveil.accounting.account import unrecorded
from textveil.attacks.texthide.seen import (
    GradientSeen,
    HiddenSeen,
    MaskNumbers,
    MixedIn,
    MixedSeen,
    PlacesSeen,
)
from textveil.core import BadInput
from textveil.core.params import needs
from textveil.federated.texthide import HidingPlan, drawn_key, hide, mask_pool
from textveil.noise import Source
from textveil.recipes.audit import AuditJob, AuditRoom, Filling
from textveil.recipes.publish import private_file
from textveil.recipes.texthide.views import VIEW, ClientGradient, gradients_of, places_seen, tokens_seen
from textveil.text import sample
from textveil.text.examples import read_texts

MOST_SENTENCES = 1_200  # public ones, half of them for the law of encodings
PER_MASK = 16  # hidden encodings, about, that the attacker of encodings has
SHORTEST, LONGEST = 3, 30  # words of a public sentence


@dataclass(frozen=True)
class HiddenFolder:
    """A folder of a model trained under TextHide, opened."""

    job: AuditJob
    manifest: dict[str, Any]
    noise: Source  # for public sentences

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.manifest["parameters"])

    @property
    def plan(self) -> HidingPlan:
        masks = self.parameters["masks"]
        return HidingPlan(masks if isinstance(masks, int) else None, self.parameters["mixed"], "intra")

    @cached_property
    def net(self) -> Any:
        from textveil.federated.texthide_net import HiddenNet

        return HiddenNet.load(self.job.folder / "model")

    @cached_property
    def sentences(self) -> list[str]:
        """Public sentences, short and each once."""
        if self.job.public is not None:
            texts = read_texts(self.job.public, **self.job.reading()).inputs
        else:
            texts = [letter["text"] for letter in sample.letters()]
        return short_sentences(texts)

    # ---- gradients ---------------------------------------------------------------------------------------------------

    def public_batch(self, rng: Source) -> list[str]:
        """A batch of public sentences with fewer tokens than the encoder is wide."""
        order = [self.sentences[i] for i in rng.permutation(len(self.sentences))]
        batch = order[: self.parameters["batch"]]
        while len(batch) > 1 and int(self.net.pieces(batch)["attention_mask"].sum()) >= self.net.width:
            batch.pop()
        return batch

    def public_gradient(self, batch: list[str], rng: Source) -> ClientGradient:
        """What a server would see of a client that has these sentences, with labels at random."""
        classes = self.net.classes
        examples = [(text, classes[int(rng.below(len(classes), 1)[0])] if classes else 0.5) for text in batch]
        pool = mask_pool(self.plan.masks or 0, self.net.width, rng.words(4).tobytes())
        key = drawn_key(self.plan, pool, len(batch), noise=rng)
        loss = self.net.hidden_losses(self.net.collate(examples), key, None).mean()
        return ClientGradient.of(gradients_of(self.net, loss))

    def public_tokens(self, rng: Source) -> GradientSeen:
        batch = self.public_batch(rng)
        return tokens_seen(self.net, self.public_gradient(batch, rng), batch)

    def public_places(self, rng: Source) -> PlacesSeen:
        batch = self.public_batch(rng)[:1]
        return places_seen(self.net, self.public_gradient(batch, rng), batch)

    # ---- what the server saw ----------------------------------------------------------------------------------------

    def _seen(self) -> tuple[ClientGradient, list[Any], Any]:
        """The tapped gradient, the texts of its batch, and the net of the first round (the public encoder)."""
        from textveil.federated.texthide_net import HiddenNet
        from textveil.recipes.texthide.train import TextHideJob, read_rows

        path = private_file(self.job.folder, VIEW)
        if not path.is_file():
            raise BadInput(
                "is not there: what the server saw was not kept", where=path, possible="--keep-view when training"
            )
        gradient, rows = ClientGradient.load(path)
        truth, p = self.job.truth, self.parameters
        assert truth is not None
        reading = TextHideJob(
            **self.job.reading(),
            sources=(truth,),
            out=Path("unused"),
            label_field=p["label_field"],
            pair_field=p["pair_field"] or None,
            is_regression=p["regression"],
        )
        texts = [text for text, _ in read_rows(reading, truth)]
        if max(rows) >= len(texts):
            raise BadInput("has fewer texts than the file of the first client", where=truth)
        start = HiddenNet(p["encoder"], self.net.classes, max_pieces=p["max_pieces"])
        return gradient, [texts[row] for row in rows], start

    def seen_tokens(self, rng: Source) -> GradientSeen:
        gradient, texts, net = self._seen()
        return tokens_seen(net, gradient, texts)

    def seen_places(self, rng: Source) -> PlacesSeen:
        gradient, texts, net = self._seen()
        return places_seen(net, gradient, texts)

    # ---- encodings ---------------------------------------------------------------------------------------------------

    @cached_property
    def encodings(self) -> Any:
        """Encodings of public sentences by the released model, one row each."""
        return self.net.encodings(self.sentences[:MOST_SENTENCES])

    @cached_property
    def hidden(self) -> tuple[Any, Any, Any, Any, Any]:
        """Hidden encodings of one half over some epochs, their masks and rows, the half itself, and the other half."""
        noise, half = self.noise, len(self.encodings) // 2
        own, public = self.encodings[:half], self.encodings[half:]
        pool = mask_pool(self.plan.masks or 0, own.shape[1], noise.words(4).tobytes())
        epochs = max(1, -(-PER_MASK * (self.plan.masks or 0) // max(1, half)))
        return (*hidden_epochs(own, self.plan, pool, epochs, self.parameters["batch"], noise), own, public)

    def masks_seen(self, rng: Source) -> HiddenSeen:
        hidden, masks, _, _, public = self.hidden
        return HiddenSeen(hidden, public, self.plan.masks or 0, self.plan.mixed, MaskNumbers(masks))

    def mixing_seen(self, rng: Source) -> MixedSeen:
        hidden, _, rows, own, public = self.hidden
        return MixedSeen(hidden, public, own, self.plan.masks or 0, self.plan.mixed, MixedIn(rows.ravel()))


def hidden_epochs(
    own: Any, plan: HidingPlan, pool: Any, epochs: int, batch: int, noise: Source
) -> tuple[Any, Any, Any]:
    """Epochs of Algorithm 1 over all encodings: (hidden, mask numbers, rows that were mixed)."""
    hidden, masks, rows = [], [], []
    for _ in range(epochs):
        order = noise.permutation(len(own))
        for start in range(0, len(own), batch):
            chosen = order[start : start + batch]
            key = drawn_key(plan, pool, len(chosen), noise=noise)
            hidden.append(hide(key, own[chosen]))
            masks.append(key.mask_numbers)
            rows.append(chosen[key.rows])
    return np.concatenate(hidden), np.concatenate(masks), np.concatenate(rows)


def short_sentences(texts: list[str]) -> list[str]:
    """Sentences of a few words, each once, in order.

    >>> short_sentences(["Dear all, the tea is cold today. Thanks! The tea is cold, and we are leaving."])
    ['Dear all, the tea is cold today.', 'The tea is cold, and we are leaving.']
    """
    cut = (part.strip() for text in texts for part in re.split(r"(?<=[.!?])\s+", text))
    return list(dict.fromkeys(s for s in cut if SHORTEST <= len(s.split()) <= LONGEST))


def open_hidden(job: AuditJob, manifest: dict[str, Any]) -> HiddenFolder:
    """The folder of a model trained under TextHide."""
    needs("federated", "torch", "transformers")
    return HiddenFolder(job, manifest, unrecorded(None))


ROOM = AuditRoom(
    open_hidden,
    (
        Filling(GradientSeen, HiddenFolder.seen_tokens, ("word_rows",), ("truth",)),
        Filling(PlacesSeen, HiddenFolder.seen_places, ("word_rows", "place_rows"), ("truth",)),
        Filling(GradientSeen, HiddenFolder.public_tokens, ("word_rows",)),
        Filling(PlacesSeen, HiddenFolder.public_places, ("word_rows", "place_rows")),
        Filling(HiddenSeen, HiddenFolder.masks_seen, applies=lambda opened: bool(opened.plan.masks)),
        Filling(MixedSeen, HiddenFolder.mixing_seen, applies=lambda opened: opened.plan.masks is not None),
    ),
)
