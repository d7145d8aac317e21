"""Attacks, what their adversaries see, and what they find.

Loaded when first used: the card needs `attacks.evidence` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names

if TYPE_CHECKING:
    from .counts.linkage import LinkageAttack as LinkageAttack
    from .counts.passage import (
        PassageAttack as PassageAttack,
        PhraseAttack as PhraseAttack,
    )
    from .counts.seen import CountsSeen as CountsSeen
    from .evidence import Evidence as Evidence
    from .exposure import (
        AnswersSeen as AnswersSeen,
        Attack as Attack,
        Exposure as Exposure,
        Members as Members,
        OriginalWords as OriginalWords,
        Owners as Owners,
        TwoWorlds as TwoWorlds,
        check_exposure as check_exposure,
    )
    from .federated.beam import BeamSearchAttack as BeamSearchAttack
    from .federated.secret_sharer import SecretSharerAttack as SecretSharerAttack
    from .federated.seen import NextWordsSeen as NextWordsSeen
    from .federated.user_run import UserRunAttack as UserRunAttack
    from .fragments.reassembly import (
        GreedyAttack as GreedyAttack,
        ReassemblyAttack as ReassemblyAttack,
    )
    from .fragments.seen import FragmentsSeen as FragmentsSeen
    from .hashed.api import ApiAttack as ApiAttack
    from .hashed.lookup import LookupAttack as LookupAttack
    from .hashed.membership import TermMembershipAttack as TermMembershipAttack
    from .hashed.probing import ProbingAttack as ProbingAttack
    from .hashed.redacted import RedactedAttack as RedactedAttack
    from .hashed.retrain import RetrainAttack as RetrainAttack
    from .hashed.seen import TableSeen as TableSeen
    from .mpc.extraction import ExtractionAttack as ExtractionAttack
    from .mpc.seen import (
        LabelsSeen as LabelsSeen,
        ViewsSeen as ViewsSeen,
    )
    from .mpc.view import ViewAttack as ViewAttack
    from .pii.pseudonyms import PseudonymLinkAttack as PseudonymLinkAttack
    from .pii.quasi import QuasiIdentifierAttack as QuasiIdentifierAttack
    from .pii.recognised import RecognisedAttack as RecognisedAttack
    from .pii.refound import RefoundAttack as RefoundAttack
    from .pii.seen import MaskedSeen as MaskedSeen
    from .texthide.masks import MasksAttack as MasksAttack
    from .texthide.mixed_search import (
        AbsoluteSearch as AbsoluteSearch,
        SimilaritySearch as SimilaritySearch,
        UnmixAttack as UnmixAttack,
    )
    from .texthide.rows import RowsAttack as RowsAttack
    from .texthide.seen import (
        GradientSeen as GradientSeen,
        HiddenSeen as HiddenSeen,
        MixedSeen as MixedSeen,
        PlacesSeen as PlacesSeen,
    )
    from .texthide.span import (
        OrderAttack as OrderAttack,
        SpanAttack as SpanAttack,
    )
    from .training.canary_rank import ExposureAttack as ExposureAttack
    from .training.membership import (
        LiraAttack as LiraAttack,
        LossAttack as LossAttack,
    )
    from .training.one_run import OneRunAttack as OneRunAttack
    from .training.seen import (
        CanariesSeen as CanariesSeen,
        ModelSeen as ModelSeen,
    )
    from .words.bayes import BayesAttack as BayesAttack
    from .words.context import ContextAttack as ContextAttack
    from .words.nearest import NearestAttack as NearestAttack
    from .words.repeated import RepeatedAttack as RepeatedAttack
    from .words.seen import WordsSeen as WordsSeen
    from .words.shadow import ShadowAttack as ShadowAttack
    from .words.two_worlds import TwoWorldsAttack as TwoWorldsAttack
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "counts.linkage": "LinkageAttack",
            "counts.passage": "PassageAttack PhraseAttack",
            "counts.seen": "CountsSeen",
            "evidence": "Evidence",
            "exposure": "AnswersSeen Attack Exposure Members OriginalWords Owners TwoWorlds check_exposure",
            "federated.beam": "BeamSearchAttack",
            "federated.secret_sharer": "SecretSharerAttack",
            "federated.seen": "NextWordsSeen",
            "federated.user_run": "UserRunAttack",
            "fragments.reassembly": "GreedyAttack ReassemblyAttack",
            "fragments.seen": "FragmentsSeen",
            "hashed.api": "ApiAttack",
            "hashed.lookup": "LookupAttack",
            "hashed.membership": "TermMembershipAttack",
            "hashed.probing": "ProbingAttack",
            "hashed.redacted": "RedactedAttack",
            "hashed.retrain": "RetrainAttack",
            "hashed.seen": "TableSeen",
            "mpc.extraction": "ExtractionAttack",
            "mpc.seen": "LabelsSeen ViewsSeen",
            "mpc.view": "ViewAttack",
            "pii.pseudonyms": "PseudonymLinkAttack",
            "pii.quasi": "QuasiIdentifierAttack",
            "pii.recognised": "RecognisedAttack",
            "pii.refound": "RefoundAttack",
            "pii.seen": "MaskedSeen",
            "texthide.masks": "MasksAttack",
            "texthide.mixed_search": "AbsoluteSearch SimilaritySearch UnmixAttack",
            "texthide.rows": "RowsAttack",
            "texthide.seen": "GradientSeen HiddenSeen MixedSeen PlacesSeen",
            "texthide.span": "OrderAttack SpanAttack",
            "training.canary_rank": "ExposureAttack",
            "training.membership": "LiraAttack LossAttack",
            "training.one_run": "OneRunAttack",
            "training.seen": "CanariesSeen ModelSeen",
            "words.bayes": "BayesAttack",
            "words.context": "ContextAttack",
            "words.nearest": "NearestAttack",
            "words.repeated": "RepeatedAttack",
            "words.seen": "WordsSeen",
            "words.shadow": "ShadowAttack",
            "words.two_worlds": "TwoWorldsAttack",
        },
    )
