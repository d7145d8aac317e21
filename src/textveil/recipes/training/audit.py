"""Attack a folder of a trained model.

    training.exposure     --truth canaries.json   secrets ranked by the model
    training.one_run      --truth canaries.json   (made with --coin) a lower limit on epsilon from this one run
    training.membership   --truth MEMBERS --public OUTSIDERS   losses of trained-on examples against others of the same
                          kind
    training.lira         the same, beside reference models fitted to a half of the outsiders

The adversary has the model's folder. MEMBERS is the training file; OUTSIDERS a file of the same source that was not
trained on: one half of it is the adversary's own, the other half is asked about.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.attacks.exposure import Members
from textveil.attacks.training.canaries import Canaries
from textveil.attacks.training.seen import CanariesSeen, ModelSeen
from textveil.core import BadInput
from textveil.core.params import needs
from textveil.noise import Source
from textveil.recipes.audit import AuditJob, AuditRoom, Filling
from textveil.recipes.read_again import ReadAs, only_reading, read_as
from textveil.text.examples import read_tagged, read_texts

MOST = 2_000  # members, and outsiders, that are asked about
REFERENCES, REFERENCE_EPOCHS = 4, 5
Losses = Callable[[Any], Any]


@dataclass(frozen=True)
class TrainedFolder:
    """A folder of a trained model, opened."""

    net: Any
    manifest: dict[str, Any]
    job: AuditJob

    def canaries_seen(self, rng: Source) -> CanariesSeen:
        return CanariesSeen(secret_losses(self.net), Canaries.load(needed_file(self.job.truth)))

    def model_seen(self, rng: Source) -> ModelSeen:
        return self._model_seen(rng, references=False)

    def model_and_references_seen(self, rng: Source) -> ModelSeen:
        return self._model_seen(rng, references=True)

    def _model_seen(self, rng: Source, references: bool) -> ModelSeen:
        job = self.job
        return _membership(
            self.net,
            self.manifest,
            needed_file(job.truth),
            needed_file(job.public),
            lambda path: read_as(self.manifest, path, **job.reading()),
            references,
            rng,
        )


def open_trained(job: AuditJob, manifest: dict[str, Any]) -> TrainedFolder:
    """The model of a folder."""
    needs("training", "torch")
    return TrainedFolder(_net(job.folder, manifest), manifest, job)


def needed_file(path: Path | None) -> Path:
    if path is None:
        raise BadInput("a file is missing", possible="--truth FILE, --public FILE")
    return path


def _net(folder: Path, manifest: dict[str, Any]) -> Any:
    if manifest["mechanism"].removeprefix("training.") not in ("lm", "classifier", "tagger"):
        raise BadInput(f"holds no trained model (mechanism {manifest['mechanism']})", where=folder)
    from textveil.nets.folders import load_net

    return load_net(folder)


def losses_of(net: Any) -> Losses:
    """The model as an attack sees it: examples in, losses out."""
    from textveil.nets.folders import example_losses

    return lambda examples: example_losses(net, list(examples)).numpy()


def secret_losses(net: Any) -> Losses:
    """The same for planted texts: a masked-word encoder is asked about every word of them."""
    if getattr(net, "head", None) != "lm":
        return losses_of(net)
    from textveil.nets.pseudo_likelihood import pseudo_losses

    return lambda texts: pseudo_losses(net, list(texts))


def _membership(
    net: Any,
    manifest: dict[str, Any],
    truth: Path,
    public: Path,
    how: Callable[[Path], ReadAs],
    references: bool,
    rng: Source,
) -> ModelSeen:
    inside, outside = (_examples(manifest, path, how(path)) for path in (truth, public))
    if len(outside) < 8 or len(inside) < 4:
        raise BadInput("membership needs four members and eight outsiders or more", where=public)
    outside = [outside[i] for i in rng.permutation(len(outside))]
    half = len(outside) // 2
    own, asked = outside[:half], outside[half:][:MOST]
    members = [inside[i] for i in rng.permutation(len(inside))[:MOST]]
    return ModelSeen(
        losses=losses_of(net),
        examples=[*members, *asked],
        own_examples=own,
        truth=Members.first(len(members), len(asked)),
        references=_references(net, own, rng) if references else None,
    )


def _references(net: Any, own: list[Any], rng: Source) -> list[Losses]:
    from textveil.nets.references import fitted_anew

    made = []
    for number in range(REFERENCES):
        some = [own[i] for i in rng.permutation(len(own))[: max(2, len(own) // 2)]]
        fresh = fitted_anew(net, some, epochs=REFERENCE_EPOCHS, rate=0.003, batch=32, seed=number)
        made.append(losses_of(fresh))
    return made


def _examples(manifest: dict[str, Any], path: Path, how: ReadAs) -> list[Any]:
    kind = manifest["mechanism"].removeprefix("training.")
    if kind == "tagger":
        read = read_tagged(path, format=how["format"], encoding=how["encoding"])
        return list(zip(read.inputs, read.targets, strict=True))
    label = (how["label_field"] or "label") if kind == "classifier" else None
    read = read_texts(path, label_field=label, **only_reading(how))
    return list(zip(read.inputs, read.targets, strict=True)) if label else list(read.inputs)


_MEMBERS = ("truth", "public")
ROOM = AuditRoom(
    open_trained,
    (
        Filling(CanariesSeen, TrainedFolder.canaries_seen, asks=("canaries",)),
        Filling(ModelSeen, TrainedFolder.model_seen, asks=_MEMBERS),
        Filling(ModelSeen, TrainedFolder.model_and_references_seen, ("references",), _MEMBERS),
    ),
)
