"""The journey of a private model: read everything, check, plan, charge, train, score, write.

The folder holds `model/` (loads in plain torch or transformers), release.json and card.html. With a checkpoint folder a
stopped run goes on where it was: the plan is charged once, and steps that were begun and lost are charged again before
they are redone. A test file's scores stand on the card: the file is taken to be public, or charged for elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil.core import Approx, BadInput, Event, Guarantee, Payload, Release, Stamp
from textveil.core.fingerprint import Fingerprint
from textveil.core.params import needs
from textveil.core.release import check_free, new_folder, write_manifest
from textveil.noise import source_for
from textveil.recipes.charging import charge, ledger_key
from textveil.recipes.one_budget import OneBudget, one_budget
from textveil.recipes.train_data import Examples, check_tags, read_tagged, read_texts
from textveil.recipes.train_scores import score_lines, scores
from textveil.recipes.veil import Bar, check_writable
from textveil.training.plan import Plan, price_together
from textveil.training.private_model import SHARED, PrivateModel

KINDS = ("tagger", "classifier", "lm")
ENCODER_DEFAULTS = {
    "epochs": 10,
    "batch": 512,
    "clip": 0.5,
    "rate": 5e-4,
    "micro_batch": 64,
}  # a whole encoder learns slower
CHARGED, STATE = "charged.json", "state.pt"


@dataclass(frozen=True)
class TrainJob:
    """One file of private examples and the model that is wanted of it."""

    kind: str
    source: Path
    out: Path
    parameters: dict[str, Any]
    test: Path | None = None
    text_field: str | None = None
    label_field: str | None = None
    user_field: str | None = None
    format: str | None = None
    ledger: Path | None = None
    checkpoint: Path | None = None
    other_data: bool = False
    private_vocabulary: dict[str, Any] | None = field(default=None)  # arguments of one_budget; language models only


def train_model(job: TrainJob, *, bar: Bar) -> dict[str, Any]:
    """Train a model into a release folder and return what to print."""
    needs("training", "torch", *(("transformers",) if job.parameters.get("encoder") else ()))
    check_free(job.out)
    check_writable(job.out)
    key = ledger_key(job.ledger)
    model = make_model(job.kind, job.parameters)
    data = read_examples(job, job.source)
    test = _test_examples(job, data, model)
    mark = Fingerprint(key).update_all(data.texts()).hexdigest()
    units = len(set(data.users)) if job.parameters.get("unit") == "user" and data.users else len(data.inputs)
    budget = _one_budget(job, model, units)
    plan = budget.plan if budget else model.plan(model.declared(units))
    event = _event(model, plan, budget)
    model.prepare(data.inputs, data.targets or None)  # whatever can fail fails before the charge
    model.trainer(plan)
    with new_folder(job.out) as hidden:
        entry, pay = _pay(job, key, event, mark)
        if budget:
            _make_words(model, budget, data, job.checkpoint)
        with bar("training", plan.steps, "steps") as advance:
            engine: dict[str, Any] = {"plan": plan, "progress": lambda told: advance(1), "charge_repeated": pay}
            if job.checkpoint is not None:
                engine["checkpoint"] = job.checkpoint / STATE
            _fit(model, data, engine)
        model.save(hidden / "model")
        found = scores(model, test) if test is not None else {}
        release = _release(job, model, event, entry, budget, found, hidden)
        write_manifest(hidden, release.manifest("model"))
    return _result(job, model, plan, release, found, units)


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


def read_examples(job: TrainJob, path: Path) -> Examples:
    """The file as this kind of model reads it."""
    if job.parameters.get("unit") == "user" and job.user_field is None:
        raise BadInput("the unit 'user' needs the field that names the user", possible="--user-field FIELD")
    user_field = job.user_field if path == job.source else None
    if job.kind == "tagger":
        return read_tagged(path, format=job.format, user_field=user_field)
    label = (job.label_field or "label") if job.kind == "classifier" else None
    return read_texts(path, format=job.format, text_field=job.text_field, label_field=label, user_field=user_field)


def _test_examples(job: TrainJob, data: Examples, model: PrivateModel) -> Examples | None:
    """The test file, read and checked before anything is charged."""
    if job.test is None:
        return None
    test = read_examples(job, job.test)
    if job.kind == "tagger":
        from textveil.training.tagger import tag_set

        check_tags(test, getattr(model, "tags", None) or tag_set(data.targets), job.test)
    elif job.kind == "classifier":
        check_tags(Examples(lines=test.lines, targets=[[t] for t in test.targets]), sorted(set(data.targets)), job.test)
    return test


def _one_budget(job: TrainJob, model: PrivateModel, units: int) -> OneBudget | None:
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


def _make_words(model: Any, budget: OneBudget, data: Examples, checkpoint: Path | None) -> None:
    """Draw the vocabulary, once; the most frequent of the released words become the model's."""
    from textveil.training.vocabulary_words import Words

    kept = checkpoint / "words.json" if checkpoint is not None else None
    if kept is not None and kept.is_file():
        model.set_params(words=json.loads(kept.read_text(encoding="utf-8")), also=(budget.vocabulary_event,))
        return
    split = Words()
    units: dict[Any, list[str]] = {}
    for number, text in enumerate(data.inputs):
        units.setdefault(data.users[number] if data.users else number, []).extend(split(text))
    counts = budget.vocabulary.apply(list(units.values()), noise=source_for(model.seed))
    ranked = sorted(counts, key=lambda word: (-counts[word], word))[: model.size]
    if not ranked:
        raise BadInput("no word was frequent enough to be released", possible="more --vocab-epsilon, or a public list")
    if kept is not None:
        kept.write_text(json.dumps(ranked), encoding="utf-8")
    model.set_params(words=ranked, also=(budget.vocabulary_event,))


def _event(model: PrivateModel, plan: Plan, budget: OneBudget | None) -> Event:
    from dataclasses import replace

    own = model.event(plan)
    if budget is None or model.seed is not None:
        return own
    joint = budget.event()
    return replace(joint, mechanism=model.name, assumes=tuple(dict.fromkeys((*joint.assumes, *own.assumes))))


def _pay(job: TrainJob, key: bytes, event: Event, mark: str) -> tuple[str | None, Callable[[Event], None]]:
    """Charge the plan, unless the checkpoint folder shows that it was; and how steps done again are charged."""

    name = f"train {job.kind} {job.source.name}"

    def pay(asked: Event, note: str) -> str | None:
        return charge(job.ledger, key, asked, note, fingerprint=mark, other_data=job.other_data)

    def pay_again(asked: Event) -> None:
        pay(asked, f"{name}: steps done again")

    told = job.checkpoint / CHARGED if job.checkpoint is not None else None
    if told is not None and told.is_file():
        before = json.loads(told.read_text(encoding="utf-8"))
        if before["event"] != json.loads(json.dumps(event.to_json())):
            raise BadInput(
                "belongs to another plan", where=job.checkpoint, possible="the same settings, or another folder"
            )
        return before["entry"], pay_again
    entry = pay(event, name)
    if told is not None:
        told.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        told.write_text(json.dumps({"entry": entry, "event": event.to_json()}), encoding="utf-8")
    return entry, pay_again


def _fit(model: Any, data: Examples, engine: dict[str, Any]) -> None:
    model.fit(data.inputs, data.targets or None, data.users, **engine)


def _guarantee(model: Any, budget: OneBudget | None) -> Guarantee:
    """The promise of the run as it went: steps that were done again count twice."""
    promise, history = model.guarantee_, model.history_
    if not history.repeated or not isinstance(promise.loss, Approx):
        return promise
    events = [history.event, *((budget.vocabulary_event,) if budget else model.settings.also)]
    spent = price_together(events, model.delta).epsilon
    return Guarantee(Approx(spent, model.delta), promise.unit, promise.adjacency, promise.assumes, promise.source)


def _release(
    job: TrainJob,
    model: Any,
    event: Event,
    entry: str | None,
    budget: OneBudget | None,
    found: dict[str, Any],
    hidden: Path,
) -> Release:
    shown = {name: _shown(value) for name, value in model.get_params().items() if name not in ("seed", "also", "words")}
    shown["noise"] = model.plan_.noise
    policies = [
        f"{model.plan_.steps:,} updates, expected batch {model.plan_.batch:,} of {model.plan_.examples:,}, "
        f"noise {model.plan_.noise:.4g} times the clip {model.plan_.clip:g}",
        *score_lines(job.kind, found),
    ]
    if budget:
        policies.append("the vocabulary was drawn from the same texts, under the same promise")
    if found:
        policies.append("scores are of a test file that is taken to be public: they are outside the promise")
    facts = {"policies": policies, "scores": found, "plan": model.plan_.to_json()}
    stamp = Stamp.now(model.name, shown, draft=model.seed is not None, facts=facts)
    return Release(Payload(hidden / "model", "model"), event, _guarantee(model, budget), entry, stamp)


def _shown(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _result(
    job: TrainJob, model: Any, plan: Plan, release: Release, found: dict[str, Any], units: int
) -> dict[str, Any]:
    return {
        "out": str(job.out),
        "kind": job.kind,
        "units": units,
        "noise": plan.noise,
        "steps": plan.steps,
        "entry": release.entry,
        "draft": release.stamp.draft,
        "epsilon": getattr(release.guarantee.loss, "epsilon", None),
        "delta": model.delta,
        "promise": release.guarantee.loss.sentence(),
        "scores": found,
        "guarantee": release.guarantee.to_json(),
        "shared": {name: _shown(getattr(model, name)) for name in SHARED if name not in ("also", "seed")},
    }
