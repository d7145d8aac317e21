"""From file to release: a job says what is wanted, a function does it. `tv.veil` and its like are built on these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names

if TYPE_CHECKING:
    from .audit import (
        AuditJob as AuditJob,
        AuditResult as AuditResult,
        audit_release as audit_release,
        run_attack as run_attack,
    )
    from .counts.release import (
        CountsJob as CountsJob,
        count_file as count_file,
    )
    from .demo import run_demo as run_demo
    from .hashed.apply import (
        ApplyJob as ApplyJob,
        apply_model as apply_model,
    )
    from .hashed.seal import (
        SealJob as SealJob,
        UpdateJob as UpdateJob,
        seal_model as seal_model,
        update_model as update_model,
    )
    from .hashed.train import ExtractorJob as ExtractorJob
    from .measure import (
        MeasureJob as MeasureJob,
        MeasureResult as MeasureResult,
        measure_release as measure_release,
    )
    from .progress import no_bar as no_bar
    from .publish import (
        Publication as Publication,
        StoppedRun as StoppedRun,
        publish_job as publish_job,
    )
    from .training.models import (
        ModelJob as ModelJob,
        train_model as train_model,
    )
    from .training.vocab import (
        VocabJob as VocabJob,
        make_vocabulary as make_vocabulary,
    )
    from .words.certify import certify_words as certify_words
    from .words.info import word_info as word_info
    from .words.veil import (
        VeilJob as VeilJob,
        veil_file as veil_file,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "audit": "AuditJob AuditResult audit_release run_attack",
            "counts.release": "CountsJob count_file",
            "demo": "run_demo",
            "hashed.apply": "ApplyJob apply_model",
            "hashed.seal": "SealJob UpdateJob seal_model update_model",
            "hashed.train": "ExtractorJob",
            "measure": "MeasureJob MeasureResult measure_release",
            "progress": "no_bar",
            "publish": "Publication StoppedRun publish_job",
            "training.models": "ModelJob train_model",
            "training.vocab": "VocabJob make_vocabulary",
            "words.certify": "certify_words",
            "words.info": "word_info",
            "words.veil": "VeilJob veil_file",
        },
    )
