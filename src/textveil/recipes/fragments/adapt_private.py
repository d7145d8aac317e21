"""The journey of a model that is adapted under DP-SGD: read, check, plan, charge, train, score, release.

Here whole sentence pairs are learnt from, so the output is a release with a promise per sentence pair (repeats count as
sentence pairs of their own). A test file's scores stand on the card: the file is taken to be public. A run that is stopped
goes on from its checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.core.facts import Facts, ModelScores, TrainingRun
from textveil.core.params import needs
from textveil.recipes.fragments.audit import reading_of
from textveil.recipes.progress import Bar
from textveil.recipes.publish import Publication, publish_job
from textveil.recipes.training.models import check_not_trained_on, fit_charged
from textveil.text.pairs import PairFile

Pair = tuple[str, str]


@dataclass(frozen=True)
class PrivateAdaptJob:
    """Confidential sentence pairs, a public model, and the promise that is wanted."""

    file: PairFile
    model: Path
    out: Path
    test: PairFile | None = None
    beams: int = 4
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False
    allow_large_delta: bool = False


def adapt_privately(job: PrivateAdaptJob, *, bar: Bar) -> dict[str, Any]:
    """Adapt a model into a release folder and return what to print."""
    needs("training", "torch", "transformers")
    from textveil.training.translation import Translation

    with publish_job(job, f"fragments adapt {job.file.path.name}", seed=job.seed) as publication:
        model = Translation(str(job.model), seed=job.seed, allow_large_delta=job.allow_large_delta, **job.parameters)
        pairs, test = read_pairs(job.file), read_pairs(job.test) if job.test else []
        if not pairs:
            raise BadInput("holds no sentence pair", where=job.file.path)
        texts = [text for pair in pairs for text in pair]
        if job.test is not None:
            check_not_trained_on(job.test.path, iter(texts), iter([text for pair in test for text in pair]))
        fingerprint = publication.account.fingerprint().update_all(iter(texts))
        plan = model.plan(model.declared(len(pairs)))
        model.prepare(pairs)  # whatever can fail fails before the charge
        model.trainer(plan)
        before = _translations(model.net_, test, job.beams)
        parameters = {**model.public_params(), "noise": plan.noise}
        paid = publication.account.charge(
            model.event(plan),
            data=fingerprint.hexdigest(),
            binding=publication.bound(source=job.file.open().binding(), parameters=parameters),
        )
        fit_charged(model, (pairs, None, None), plan, publication, paid, bar)
        model.save(publication.file("model"))
        shown = _scores(before, _translations(model.net_, test, job.beams), test)
        release = publication.finish(
            paid, model.name, parameters, "model", guarantee=model.guarantee_, passes=(),
            facts=_facts(job, publication, model, shown),
        )  # fmt: skip
    return {
        **publication.result(release), "pairs": len(pairs), "steps": plan.steps, "noise": plan.noise,
        "epsilon": model.epsilon, "delta": model.delta, **shown,
    }  # fmt: skip


def read_pairs(file: PairFile) -> list[Pair]:
    """Sentence pairs with text on both sides."""
    return [(pair.source, pair.target) for pair in file.open() if pair.source.strip() and pair.target.strip()]


def _translations(net: Any, test: list[Pair], beams: int) -> list[str]:
    if not test:
        return []
    from textveil.fragments.adapting import Translator

    return Translator(net.model, net.tokenizer, net.longest).translate([source for source, _ in test], beams)


def _scores(before: list[str], after: list[str], test: list[Pair]) -> dict[str, Any]:
    if not test:
        return {}
    from textveil.fragments.translation_scores import bleu_gain, scores

    wanted = [target for _, target in test]
    return {
        "before": scores(before, wanted),
        "after": scores(after, wanted),
        "bleu": bleu_gain(before, after, wanted),
    }


def _facts(job: PrivateAdaptJob, publication: Publication, model: Any, shown: dict[str, Any]) -> Facts:
    plan, test_scores = model.plan_, None
    if shown and job.test is not None:
        first, last = shown["before"], shown["after"]
        lines = (f"BLEU {first['bleu']:.1f} before, {last['bleu']:.1f} after", f"chrF {last['chrf']:.1f} after")
        test_scores = ModelScores(lines, last, job.test.path.name)
    making = (
        f"{plan.steps:,} updates, expected batch {plan.batch:,} of {plan.examples:,}, noise {plan.noise:.4g} times the "
        f"clip {plan.clip:g}",
    )
    data = publication.data_facts(job.file.path, reading=reading_of(job.file))
    return Facts(data=data, training=TrainingRun.from_json(plan.to_json()), scores=test_scores, making=making)


__all__ = ["PrivateAdaptJob", "adapt_privately", "read_pairs"]
