"""Names of things that can be made from the command line: "words.brr" -> where its class lives.

One line per mechanism or attack; the module is imported when it is asked for, never before. Another package adds its own
through the entry-point groups `textveil.mechanisms`, `textveil.attacks`, `textveil.papers` and `textveil.verbs`. These are
looked at only where a name is not known here, so that no package can take the place of a name of ours.
"""

from __future__ import annotations

import importlib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from .errors import BadInput, UnknownName

MECHANISMS = {
    "counts.limited_precision": "textveil.counts.mechanism:LimitedPrecision",
    "federated.central": "textveil.federated.estimators:Central",
    "federated.dp_fedavg": "textveil.federated.estimators:DPFedAvg",
    "federated.dp_ftrl": "textveil.federated.estimators:DPFTRL",
    "federated.fedavg": "textveil.federated.estimators:FedAvg",
    "federated.fedsgd": "textveil.federated.estimators:FedSGD",
    "federated.remote": "textveil.federated.estimators:Remote",
    "fragments.phrases": "textveil.fragments.mechanism:Fragments",
    "hashed.extractor": "textveil.hashed.extractor:Extractor",
    "hashed.sound": "textveil.hashed.sound:SoundTrainer",
    "mpc.classifier": "textveil.mpc.mechanism:PrivateClassifier",
    "pii.mask": "textveil.pii.mask:Mask",
    "pii.tagger": "textveil.pii.tagger.tagger:Tagger",
    "texthide.model": "textveil.federated.texthide:TextHide",
    "training.classifier": "textveil.training.classifier:Classifier",
    "training.lm": "textveil.training.language_model:LanguageModel",
    "training.tagger": "textveil.training.tagger:Tagger",
    "training.translation": "textveil.training.translation:Translation",
    "training.vocab": "textveil.training.vocabulary:Vocabulary",
    "words.laplace": "textveil.words.laplace:Laplace",
    "words.brr": "textveil.words.brr:BRR",
    "words.exponential": "textveil.words.exponential:Exponential",
    "words.mahalanobis": "textveil.words.mahalanobis:Mahalanobis",
    "words.tem": "textveil.words.tem:TEM",
    "words.vickrey": "textveil.words.vickrey:Vickrey",
}

ATTACKS = {
    "counts.linkage": "textveil.attacks.counts.linkage:LinkageAttack",
    "counts.passage": "textveil.attacks.counts.passage:PassageAttack",
    "counts.phrase": "textveil.attacks.counts.passage:PhraseAttack",
    "federated.beam_search": "textveil.attacks.federated.beam:BeamSearchAttack",
    "federated.one_run": "textveil.attacks.federated.user_run:UserRunAttack",
    "federated.secret_sharer": "textveil.attacks.federated.secret_sharer:SecretSharerAttack",
    "fragments.greedy": "textveil.attacks.fragments.reassembly:GreedyAttack",
    "fragments.reassembly": "textveil.attacks.fragments.reassembly:ReassemblyAttack",
    "hashed.api": "textveil.attacks.hashed.api:ApiAttack",
    "hashed.lookup": "textveil.attacks.hashed.lookup:LookupAttack",
    "hashed.membership": "textveil.attacks.hashed.membership:TermMembershipAttack",
    "hashed.probing": "textveil.attacks.hashed.probing:ProbingAttack",
    "hashed.redacted": "textveil.attacks.hashed.redacted:RedactedAttack",
    "hashed.retrain": "textveil.attacks.hashed.retrain:RetrainAttack",
    "mpc.extraction": "textveil.attacks.mpc.extraction:ExtractionAttack",
    "mpc.view": "textveil.attacks.mpc.view:ViewAttack",
    "pii.pseudonyms": "textveil.attacks.pii.pseudonyms:PseudonymLinkAttack",
    "pii.quasi": "textveil.attacks.pii.quasi:QuasiIdentifierAttack",
    "pii.recognised": "textveil.attacks.pii.recognised:RecognisedAttack",
    "pii.refound": "textveil.attacks.pii.refound:RefoundAttack",
    "texthide.absolute": "textveil.attacks.texthide.mixed_search:AbsoluteSearch",
    "texthide.masks": "textveil.attacks.texthide.masks:MasksAttack",
    "texthide.order": "textveil.attacks.texthide.span:OrderAttack",
    "texthide.rows": "textveil.attacks.texthide.rows:RowsAttack",
    "texthide.rss": "textveil.attacks.texthide.mixed_search:SimilaritySearch",
    "texthide.span": "textveil.attacks.texthide.span:SpanAttack",
    "texthide.unmix": "textveil.attacks.texthide.mixed_search:UnmixAttack",
    "training.exposure": "textveil.attacks.training.canary_rank:ExposureAttack",
    "training.lira": "textveil.attacks.training.membership:LiraAttack",
    "training.membership": "textveil.attacks.training.membership:LossAttack",
    "training.one_run": "textveil.attacks.training.one_run:OneRunAttack",
    "words.bayes": "textveil.attacks.words.bayes:BayesAttack",
    "words.nearest": "textveil.attacks.words.nearest:NearestAttack",
    "words.repeated": "textveil.attacks.words.repeated:RepeatedAttack",
    "words.two_worlds": "textveil.attacks.words.two_worlds:TwoWorldsAttack",
    "words.context": "textveil.attacks.words.context:ContextAttack",
    "membership.shadow": "textveil.attacks.words.shadow:ShadowAttack",
}

WRITERS = {
    "card": "textveil.report.card:write_card",
}

# Files beside data.* or model/ that a release of this mechanism may hold.
FILES = {
    "counts.limited_precision": ("vocabulary.txt", "groups.npz", "documents.jsonl"),
    "training.vocab": ("words.tsv",),
}

# Papers and verbs of ours are found by `reproduce.study_of` and `cli.app`; those of other packages here.
_GROUPS: dict[str, dict[str, str]] = {
    "mechanism": MECHANISMS,
    "attack": ATTACKS,
    "writer": WRITERS,
    "paper": {},
    "verb": {},
}


def names(kind: str = "mechanism") -> list[str]:
    """All registered names of one kind.

    >>> "words.brr" in names("mechanism")
    True
    """
    return sorted({*_GROUPS[kind], *plugged_in(kind)})


def find(kind: str, name: str) -> Any:
    """The class or function behind a name.

    >>> find("mechanism", "words.brr").__name__
    'BRR'
    """
    if (target := _GROUPS[kind].get(name)) is not None:
        module, _, attribute = target.partition(":")
        return getattr(importlib.import_module(module), attribute)
    makers = plugged_in(kind).get(name)
    if makers is None:
        raise UnknownName(kind, name, names(kind))
    return _loaded(kind, name, makers)


def plugged_in(kind: str) -> dict[str, tuple[EntryPoint, ...]]:
    """What other packages register under this kind: names, and who registers each. Nothing is imported for it."""
    return {name: makers for name, makers in _entry_points(f"textveil.{kind}s").items() if name not in _GROUPS[kind]}


def package_of(maker: EntryPoint) -> str:
    """The package that registers something."""
    return maker.dist.name if maker.dist is not None else maker.module.partition(".")[0]


def _loaded(kind: str, name: str, makers: tuple[EntryPoint, ...]) -> Any:
    if len({maker.value for maker in makers}) > 1:
        packages = ", ".join(sorted({package_of(maker) for maker in makers}))
        raise BadInput(f"the {kind} '{name}' is registered by several packages: {packages}", possible="remove one")
    try:
        return makers[0].load()
    except Exception as error:  # whatever the package does when it is imported
        raise BadInput(
            f"the {kind} '{name}' of the package {package_of(makers[0])} cannot be loaded from {makers[0].value} "
            f"({type(error).__name__}: {error})"
        ) from error


def make(kind: str, name: str, **parameters: Any) -> Any:
    """Make one by name; a parameter it does not have is named, with those it has."""
    factory = find(kind, name)
    allowed = getattr(factory, "_parameter_names", None)
    if allowed is not None:
        for parameter in parameters:
            if parameter not in allowed():
                raise BadInput(f"{name} has no parameter '{parameter}'", possible=", ".join(allowed()))
    return factory(**parameters)


def files_of(mechanism: str) -> tuple[str, ...]:
    """Further files that a release of this mechanism may hold.

    >>> files_of("counts.limited_precision")
    ('vocabulary.txt', 'groups.npz', 'documents.jsonl')
    """
    return FILES.get(mechanism, ())


@cache
def _entry_points(group: str) -> dict[str, tuple[EntryPoint, ...]]:
    makers: dict[str, tuple[EntryPoint, ...]] = {}
    for maker in entry_points(group=group):
        makers[maker.name] = (*makers.get(maker.name, ()), maker)
    return makers
