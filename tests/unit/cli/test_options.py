"""Shared options: groups become options, choices are those of the rooms, defaults are those of the estimators."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer.main
from typer.testing import CliRunner

from textveil.cli import app, choices
from textveil.cli.choices import Case
from textveil.cli.options import AsJson, MechanismShape, NoiseShape, Passing, Reading, Spending, given, option, plain
from textveil.cli.verbs import Verbs
from textveil.cli.words import make
from textveil.core import BadInput, Shape


@dataclass(frozen=True)
class Colours:
    """A group for these tests."""

    shade: Annotated[Case, option("A shade.", group="Colours")] = Case.DROP
    depth: Annotated[int, option("A depth.")] = 3


def test_a_group_becomes_options_and_comes_back_as_one_value():
    received = []
    verbs = Verbs("Some verbs.")

    @verbs.command()
    def paint(name: str, *, colours: Colours, spending: Spending, as_json: AsJson = False) -> None:
        """Paint."""
        received.append((name, colours, spending, as_json))

    @verbs.command()
    def other() -> None:
        """Another verb, so that the first keeps its name."""

    runner = CliRunner()
    result = runner.invoke(verbs, ["paint", "wall", "--shade", "keep", "--ledger", "l", "--unpriced", "--json"])
    assert result.exit_code == 0, result.output
    assert received == [("wall", Colours(Case.KEEP), Spending(Path("l"), unpriced=True), True)]
    assert "Colours:" in runner.invoke(verbs, ["paint", "--help"]).output
    assert runner.invoke(verbs, ["paint", "wall", "--shade", "pink"]).exit_code == 2


def test_values_are_plain():
    assert plain(Reading())["nulls"] == "keep" and type(plain(Reading())["nulls"]) is str
    assert given(a=None, b=Case.KEEP, c=0) == {"b": "keep", "c": 0}


def test_columns_and_only_text_exclude_each_other():
    assert Passing().kept_columns() is None
    assert Passing(columns="id,date").kept_columns() == ("id", "date")
    assert Passing(only_text=True).kept_columns() == ()
    with pytest.raises(BadInput, match="exclude each other"):
        Passing(columns="id", only_text=True).kept_columns()


def test_options_of_other_mechanisms_are_left_out():
    assert make("words.brr", MechanismShape(bits=128)).bits == 128
    assert make("words.vickrey", MechanismShape(paper_mode=True)).paper_mode is True
    assert make("words.mahalanobis", NoiseShape(lam=0.5)).lam == 0.5


def values(kind) -> tuple[str, ...]:
    return tuple(member.value for member in kind)


@pytest.mark.torch
def test_choices_are_those_of_the_rooms():
    from textveil.accounting import thresholds
    from textveil.accounting.accountants import ACCOUNTANTS
    from textveil.attacks.training.canaries import FORMS
    from textveil.counts.grouping import METHODS as GROUPINGS
    from textveil.fragments.aligner import SYMMETRY
    from textveil.hashed import seal, sound_plan
    from textveil.mpc import inputs as mpc_inputs
    from textveil.mpc import train as mpc_train
    from textveil.mpc import trust
    from textveil.pii.masking import operators
    from textveil.pii.tagger import tagger as pii_tagger
    from textveil.recipes.fragments.linking import ALIGNERS
    from textveil.recipes.training.canaries import KINDS
    from textveil.recipes.words import engines, tune
    from textveil.training import optimisers, vocabulary
    from textveil.words.exponential import METRICS

    pairs = [
        (choices.TrustName, tuple(trust.TRUSTS)), (choices.ClassifierKind, tuple(mpc_train.KINDS)),
        (choices.ClassifierInputs, mpc_inputs.KINDS),
        (choices.MaskHow, operators.HOWS), (choices.TaggerKind, pii_tagger.KINDS), (choices.LabelNoise, pii_tagger.NOISES),
        (choices.Grouping, GROUPINGS), (choices.SealMode, seal.MODES), (choices.SealLaw, seal.LAWS),
        (choices.SoundMethod, sound_plan.METHODS), (choices.SoundUnit, tuple(sound_plan.UNITS)),
        (choices.Distance, METRICS), (choices.Engine, engines.ENGINES), (choices.UtilityLoss, tune.LOSSES),
        (choices.InferenceError, tune.ERRORS), (choices.Adversary, tune.ADVERSARIES), (choices.WordPrior, tune.PRIORS),
        (choices.Optimiser, optimisers.OPTIMISERS),
        (choices.VocabMethod, thresholds.METHODS), (choices.TrainUnit, vocabulary.UNITS),
        (choices.ModelKind, KINDS), (choices.CanaryForm, FORMS),
        (choices.Aligner, ALIGNERS), (choices.Symmetry, SYMMETRY),
    ]  # fmt: skip
    assert set(values(choices.Accountant)) == set(ACCOUNTANTS)
    for kind, known in pairs:
        assert values(kind) == tuple(known), kind.__name__


@pytest.mark.parametrize("kind", [choices.Case, choices.Oov])
@pytest.mark.parametrize("name", ["words.brr", "words.laplace"])
def test_choices_of_words_are_accepted_by_the_mechanisms(name, kind):
    for value in values(kind):
        assert make(name, **{kind.__name__.lower(): value}).fit().event()


@pytest.mark.parametrize("kind, argument", [(choices.Grouping, "method"), (choices.BudgetRule, "budget")])
def test_choices_of_counts_are_accepted_by_the_mechanism(kind, argument):
    from textveil.counts import LimitedPrecision

    for value in values(kind):
        assert LimitedPrecision(compress=5, **{argument: value}).event(Shape(vocabulary=10))


MIRRORED = {
    ("counts",): ("textveil.counts", "LimitedPrecision"),
    ("train", "vocab"): ("textveil.training.vocabulary", "Vocabulary"),
    ("train", "tagger"): ("textveil.training.tagger", "Tagger"),
    ("train", "classifier"): ("textveil.training.classifier", "Classifier"),
    ("train", "lm"): ("textveil.training.language_model", "LanguageModel"),
}
DIFFERS = {
    "epsilon",
    "seed",
    "prior",
    "vectors",
    "columns",
    "words",
}  # must be said, or mean a file on the command line


@pytest.mark.parametrize("path", MIRRORED, ids=[" ".join(p) for p in MIRRORED])
def test_defaults_are_those_of_the_estimators(path):
    """An option without a default leaves it to the estimator; one that states a default states the estimator's."""
    import importlib

    module, name = MIRRORED[path]
    estimator = getattr(importlib.import_module(module), name)
    command = typer.main.get_command(app)
    for part in path:
        command = command.commands[part]
    own = inspect.signature(estimator).parameters
    for parameter in command.params:
        if parameter.name in own and parameter.name not in DIFFERS and parameter.default is not None:
            assert parameter.default == own[parameter.name].default, parameter.name
