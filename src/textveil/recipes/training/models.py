"""The journey of a private model: read everything, check, plan, charge, train, score, write.

The folder holds `model/` (loads in plain torch or transformers). A stopped run goes on from the checkpoint in its folder of
unfinished work: the plan is charged once, and steps that were begun and lost are charged again before they are redone. A
test file's scores stand on the card: the file is taken to be public, or charged for elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from textveil.accounting.account import Paid
from textveil.core import BadInput, Event
from textveil.core.facts import Facts, ModelScores, TrainingRun
from textveil.core.files import write_whole
from textveil.core.mechanism import passes_of
from textveil.core.params import needs
from textveil.recipes.progress import Bar
from textveil.recipes.publish import Publication, publish_job
from textveil.recipes.read_again import said_of
from textveil.recipes.training.scores import score_lines, score_warnings, scores
from textveil.text.examples import Examples, check_labels, read_tagged, read_texts
from textveil.text.formats.piped import source_name
from textveil.text.readers import FileOptions, format_of
from textveil.training.one_budget import OneBudget, one_budget
from textveil.training.plan import TrainingPlan
from textveil.training.private_model import SHARED, PrivateModel
from textveil.training.usefulness import plan_warnings

KINDS = ("tagger", "classifier", "lm")
ENCODER_DEFAULTS = {
    "epochs": 10,
    "batch": 512,
    "clip": 0.5,
    "rate": 5e-4,
    "micro_batch": 64,
}  # a whole encoder learns slower
STATE = "state.pt"
NO_WORDS = (
    "no word was frequent enough to be released at this vocabulary's price, so the model knows the public words alone; "
    "a larger --vocab-epsilon, or more texts, release some"
)


@dataclass(frozen=True)
class ModelJob(FileOptions):
    """One file of private examples and the model that is wanted of it."""

    kind: str
    source: Path
    out: Path
    parameters: dict[str, Any]
    test: Path | None = None
    label_field: str | None = None
    user_field: str | None = None
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False
    allow_large_delta: bool = False
    private_vocabulary: dict[str, Any] | None = field(default=None)  # arguments of one_budget; language models only


def train_model(job: ModelJob, *, bar: Bar, warn: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Train a model into a release folder and return what to print; what the plan alone tells is said before the charge."""
    needs("training", "torch", *(("transformers",) if job.parameters.get("encoder") else ()))
    with publish_job(job, f"train {job.kind} {job.source.name}", seed=job.parameters.get("seed")) as publication:
        model = make_model(job.kind, {**job.parameters, "allow_large_delta": job.allow_large_delta})
        data = read_examples(job, job.source)
        test = _test_examples(job, data, model)
        fingerprint = publication.account.fingerprint().update_all(data.texts())
        units = len(set(data.users)) if job.parameters.get("unit") == "user" and data.users else len(data.inputs)
        budget = _one_budget(job, model, units)
        if budget:
            model.set_params(
                also=(budget.vocabulary_event,)
            )  # before the event is made: it says what is priced with it
        plan = budget.plan if budget else model.plan(model.declared(units))
        model.prepare(data.inputs, data.targets or None)  # whatever can fail fails before the charge
        model.trainer(plan)
        parameters = {**model.public_params(), "noise": plan.noise}
        beware = list(plan_warnings(plan, _trained_parameters(model.net_), asked_batch=model.settings.batch))
        for line in beware:
            warn(line)
        paid = publication.account.charge(
            _event(model, plan, budget),
            data=fingerprint.hexdigest(),
            binding=publication.bound(
                source=source_name(job.source),
                fields=[job.text_field, job.label_field, job.user_field, job.format],
                parameters=parameters,
                vocabulary=job.private_vocabulary,
            ),
        )
        if budget and not _make_words(model, budget, data, publication, paid):
            beware.append(NO_WORDS)
            warn(NO_WORDS)
        fit_charged(model, (data.inputs, data.targets or None, data.users), plan, publication, paid, bar)
        model.save(publication.file("model"))
        test_scores = scores(model, test) if test is not None else {}
        beware += score_warnings(job.kind, test_scores, getattr(model, "size", None))
        release = publication.finish(
            paid,
            model.name,
            parameters,
            "model",
            guarantee=model.guarantee_,
            passes=passes_of(model),
            facts=replace(_facts(publication, job, model, budget, test_scores), beware=tuple(beware)),
        )
    return {
        **publication.result(release),
        "kind": job.kind,
        "units": units,
        "noise": plan.noise,
        "steps": plan.steps,
        "epsilon": getattr(release.guarantee.loss, "epsilon", None),
        "delta": model.delta,
        "scores": test_scores,
        "warnings": beware,
        "shared": {name: parameters.get(name) for name in SHARED if name in parameters},
    }


def _trained_parameters(net: Any) -> int:
    """How many numbers are learnt: each of them gets noise in every update."""
    return sum(p.numel() for p in net.parameters() if p.requires_grad)


def make_model(kind: str, parameters: dict[str, Any]) -> PrivateModel:
    """The estimator behind a verb; what is None takes its default."""
    from textveil.training.classifier import Classifier
    from textveil.training.language_model import LanguageModel
    from textveil.training.tagger import Tagger

    made = {"tagger": Tagger, "classifier": Classifier, "lm": LanguageModel}[kind]
    if parameters.get("epsilon") is None:
        raise BadInput("epsilon is missing", possible="--epsilon E (1 to 8), with --delta D below 1 / examples")
    given = {name: value for name, value in parameters.items() if value is not None}
    return made(**(ENCODER_DEFAULTS if given.get("encoder") else {}) | given)


def read_examples(job: ModelJob, path: Path) -> Examples:
    """The file as this kind of model reads it."""
    if job.parameters.get("unit") == "user" and job.user_field is None:
        raise BadInput("the unit 'user' needs the field that names the user", possible="--user-field FIELD")
    user_field = job.user_field if path == job.source else None
    if job.kind == "tagger":
        return read_tagged(path, format=job.format, user_field=user_field, encoding=job.encoding)
    label = (job.label_field or "label") if job.kind == "classifier" else None
    return read_texts(path, label_field=label, user_field=user_field, **job.reading())


def _test_examples(job: ModelJob, data: Examples, model: PrivateModel) -> Examples | None:
    """The test file, read and checked before anything is charged."""
    if job.test is None:
        return None
    test = read_examples(job, job.test)
    check_not_trained_on(job.test, data.texts(), test.texts())
    declared = getattr(model, "tags" if job.kind == "tagger" else "classes", None)
    if job.kind == "tagger":
        from textveil.training.tagger import tag_set

        check_labels(test, declared or tag_set(data.targets), job.test, declared=declared is not None)
    elif job.kind == "classifier":
        check_labels(test, declared or sorted(set(data.targets)), job.test, declared=declared is not None)
    return test


def check_not_trained_on(path: Path, training: Iterator[str], test: Iterator[str]) -> None:
    """Refuse training examples as the test file: its scores are exact figures about private text, on the card."""
    if all(text in training for text in test):  # an iterator: all of them, in the order of the training file
        raise BadInput(
            "holds the private examples themselves, and scores on them would be published",
            where=path,
            possible="--test with a public file, or `textveil measure` for figures that stay with you",
        )


def _one_budget(job: ModelJob, model: PrivateModel, units: int) -> OneBudget | None:
    """A private vocabulary under the same promise, where one is asked for."""
    if job.private_vocabulary is None:
        return None
    if job.kind != "lm" or getattr(model, "encoder", None):
        raise BadInput("a private vocabulary goes with train lm, without --encoder")
    s, declared = model.settings, model.declared(units)
    return one_budget(
        float(s.epsilon or 0),
        s.delta,
        batch=min(s.batch, declared),
        examples=declared,
        epochs=s.epochs,
        unit=s.unit,
        clip=s.clip,
        sampling=s.sampling,
        **{name: value for name, value in job.private_vocabulary.items() if value is not None},
    )


def _make_words(model: Any, budget: OneBudget, data: Examples, publication: Publication, paid: Paid) -> bool:
    """Draw the vocabulary, once: it is stored before anything is told about it, and a run taken up again reads it.

    False if no word came out. That is an answer about private texts, which is paid for: to refuse the rest would waste the
    charge, so the model goes on with the public words that it has without a private vocabulary (post-processing).
    """
    stored = publication.work("words.json")
    if stored.is_file():
        ranked: list[str] = json.loads(stored.read_text(encoding="utf-8"))
    else:
        ranked = budget.draw_words(data.inputs, data.users, model.size, noise=paid.noise())
        write_whole(stored, json.dumps(ranked), mode=0o600)
    if ranked:
        model.set_params(words=ranked)
    return bool(ranked)


def _event(model: PrivateModel, plan: TrainingPlan, budget: OneBudget | None) -> Event:
    own = model.event(plan)
    if budget is None:
        return own
    joint = budget.event()
    return replace(joint, mechanism=model.name, assumes=tuple(dict.fromkeys((*joint.assumes, *own.assumes))))


def fit_charged(
    model: Any, data: tuple[Any, Any, Any], plan: TrainingPlan, publication: Publication, paid: Paid, bar: Bar
) -> None:
    """Train; a stopped run goes on from its checkpoint, and steps that it had begun and lost are charged once more."""

    def pay_again(repeated: Event) -> None:
        account = publication.account
        number = account.journal.count("repeated") if account.journal is not None else 0
        account.charge(
            repeated, data=None, of=paid.entry, step=f"again {number}", note=f"{account.note}: steps done again"
        )

    with bar("training", plan.steps, "steps") as advance:
        model.fit(
            *data,
            plan=plan,
            noise=paid.noise(),
            progress=lambda progress: advance(1),
            checkpoint=publication.work(STATE),
            journal=publication.account.journal,
            charge_repeated=pay_again,
        )


def _facts(
    publication: Publication, job: ModelJob, model: Any, budget: OneBudget | None, test_scores: dict[str, Any]
) -> Facts:
    plan = model.plan_
    making = [
        f"{plan.steps:,} updates, expected batch {plan.batch:,} of {plan.examples:,}, noise {plan.noise:.4g} times the "
        f"clip {plan.clip:g}"
    ]
    if budget:
        making.append("the vocabulary was drawn from the same texts, under the same promise")
    return Facts(
        data=publication.data_facts(job.source, text_field=job.text_field, reading=_memory(job)),
        training=TrainingRun.from_json(plan.to_json()),
        scores=_scores(job, test_scores),
        making=tuple(making),
    )


def _memory(job: ModelJob) -> dict[str, str]:
    """How the private file was read, for whoever reads it again."""
    label = (job.label_field or "label") if job.kind == "classifier" else None
    kind = format_of(job.source, job.format)[0]
    return said_of(job, format=kind, label_field=label, user_field=job.user_field)


def _scores(job: ModelJob, test_scores: dict[str, Any]) -> ModelScores | None:
    if not test_scores or job.test is None:
        return None
    numbers = {name: float(value) for name, value in test_scores.items() if isinstance(value, (int, float))}
    return ModelScores(tuple(score_lines(job.kind, test_scores)), numbers, job.test.name)
