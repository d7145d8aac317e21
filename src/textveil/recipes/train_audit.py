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
from pathlib import Path
from typing import Any

import numpy as np

from textveil.attacks.canaries import Canaries
from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import Exposure
from textveil.core import BadInput, Guarantee, read_manifest, registry
from textveil.core.params import needs
from textveil.noise import Source, secure
from textveil.recipes.audit import record_evidence
from textveil.recipes.train_data import read_tagged, read_texts

MOST = 2_000  # members, and outsiders, that are asked about
REFERENCES, REFERENCE_EPOCHS = 4, 5
Losses = Callable[[Any], Any]


def audit_training(
    folder: Path,
    attack_names: list[str],
    *,
    truth: Path | None = None,
    public: Path | None = None,
    text_field: str | None = None,
    progress: Callable[[str], None] = lambda title: None,
) -> list[Evidence]:
    """Run attacks on a model folder and record their evidence."""
    needs("training", "torch")
    manifest = read_manifest(folder)
    attacks = [registry.make("attack", name, **_parameters(name, manifest)) for name in attack_names]
    if truth is None:
        raise BadInput(
            "an audit of a trained model needs --truth",
            possible="canaries.json (training.exposure, training.one_run), or the training file with --public OUTSIDERS",
        )
    rng, found = secure(), []
    net = _net(folder, manifest)
    for attack in attacks:
        progress(attack.name)
        if "canaries" in attack.needs:
            exposure = Exposure(losses=secret_losses(net), canaries=Canaries.load(truth), release=folder)
        else:
            exposure = _membership(net, manifest, truth, public, text_field, "references" in attack.needs, rng)
        found.append(attack.run(exposure, rng=rng))
    record_evidence(folder, manifest, found)
    return found


def _parameters(name: str, manifest: dict[str, Any]) -> dict[str, Any]:
    """The unit of the promise and, where a line is drawn, its numbers."""
    promise = Guarantee.from_json(manifest["guarantee"])
    shown: dict[str, Any] = {"unit": str(promise.unit)}
    if name == "training.exposure":
        shown |= {"epsilon": getattr(promise.loss, "epsilon", None), "delta": getattr(promise.loss, "delta", 0.0)}
    elif name == "training.one_run":
        shown["delta"] = getattr(promise.loss, "delta", 0.0)
    return shown


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
    public: Path | None,
    text_field: str | None,
    references: bool,
    rng: Source,
) -> Exposure:
    if public is None:
        raise BadInput(
            "membership is told against outsiders", possible="--public FILE of the same source, not trained on"
        )
    inside, outside = (_examples(manifest, path, text_field) for path in (truth, public))
    if len(outside) < 8 or len(inside) < 4:
        raise BadInput("membership needs four members and eight outsiders or more", where=public)
    outside = [outside[i] for i in rng.permutation(len(outside))]
    half = len(outside) // 2
    own, asked = outside[:half], outside[half:][:MOST]
    members = [inside[i] for i in rng.permutation(len(inside))[:MOST]]
    return Exposure(
        losses=losses_of(net),
        examples=[*members, *asked],
        own_examples=own,
        truth=np.repeat([1, 0], [len(members), len(asked)]),
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


def _examples(manifest: dict[str, Any], path: Path, text_field: str | None) -> list[Any]:
    kind = manifest["mechanism"].removeprefix("training.")
    if kind == "tagger":
        read = read_tagged(path)
        return list(zip(read.inputs, read.targets, strict=True))
    label = "label" if kind == "classifier" else None
    read = read_texts(path, text_field=text_field, label_field=label)
    return list(zip(read.inputs, read.targets, strict=True)) if label else list(read.inputs)
