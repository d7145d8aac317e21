"""The Bayes attack keeps every law; attacks that cheat are caught. False alarms: 1e-6 per check."""

from __future__ import annotations

import numpy as np
import pytest

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import AnswersSeen, OriginalWords, check_exposure
from textveil.attacks.words.bayes import BayesAttack
from textveil.attacks.words.seen import WordsSeen
from textveil.core import BadInput
from textveil.noise import secure
from textveil.testing import BrokenLaw, check_attack
from textveil.testing import attacks as laws

WORDS, RELEASED = 20, 2000


class Telling:
    def sample(self, ids, source):
        return np.array(ids)


class Silent:
    def sample(self, ids, source):
        return source.below(WORDS, len(ids))


class ExactlyTelling(Telling):
    def odds(self, ids):
        return np.eye(WORDS)[ids]


class ExactlySilent(Silent):
    def odds(self, ids):
        return np.full((len(ids), WORDS), 1 / WORDS)


def exposure(tells: str, truth: bool = True, exact: bool = False) -> WordsSeen:
    source = secure()
    secret = source.below(WORDS, RELEASED)
    kinds = {
        ("all", False): Telling,
        ("nothing", False): Silent,
        ("all", True): ExactlyTelling,
        ("nothing", True): ExactlySilent,
    }
    channel = kinds[tells, exact]()
    return WordsSeen(
        observed=channel.sample(secret, source),
        vocabulary=[f"w{i}" for i in range(WORDS)],
        prior=np.full(WORDS, 1 / WORDS),
        channel=channel,
        truth=OriginalWords(secret) if truth else None,
    )


@pytest.mark.parametrize("adversary", ["optimal", "sampling"])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("truth", [False, True])
def test_the_bayes_attack_keeps_every_law(adversary, exact, truth):
    attack = BayesAttack(adversary=adversary, draws=10_000)
    check_attack(attack, lambda tells: exposure(tells, truth, exact))


class Guess:
    """Guesses that the output is the input; the base of those that cheat."""

    name = "guess"
    sees = WordsSeen
    needs = ("observed",)

    def run(self, exposure, *, rng):
        check_exposure(self, exposure)
        if exposure.truth is None:
            raise BadInput("it can only be scored on the truth")
        return self.scored(self.guesses(exposure, rng), exposure)

    def guesses(self, exposure, rng):
        return exposure.observed

    def scored(self, guesses, exposure):
        hits, tries = int((guesses == exposure.truth.ids).sum()), len(exposure.truth)
        best = np.bincount(exposure.truth.ids).max() / tries
        return Evidence(self.name, "success", hits / tries, 1 / WORDS, hits, tries, best_prior=float(best))


class ReadsTheTruth(Guess):
    def guesses(self, exposure, rng):
        return exposure.truth.ids


class ReadsTheTruthWhenItHelps(Guess):
    """Silent channels are guessed fairly, so only the shuffled truth gives it away."""

    def guesses(self, exposure, rng):
        fair = isinstance(exposure.channel, Silent)
        return exposure.observed if fair else exposure.truth.ids


class FindsNothing(Guess):
    def guesses(self, exposure, rng):
        return rng.below(WORDS, len(exposure.observed))


class WrongName(Guess):
    def scored(self, guesses, exposure):
        hits = int((guesses == exposure.truth.ids).sum())
        return Evidence("other", "success", hits / len(guesses), 1 / WORDS, hits, len(guesses))


class WrongValue(Guess):
    def scored(self, guesses, exposure):
        hits = int((guesses == exposure.truth.ids).sum())
        return Evidence(self.name, "success", 0.5, 1 / WORDS, hits, len(guesses))


class NoEvidence(Guess):
    def scored(self, guesses, exposure):
        return 0.7


class NeedsTheTruth(Guess):
    needs = ("observed", "truth")


class NeedsNonsense(Guess):
    needs = ("the moon",)


class RunsWithout(Guess):
    needs = ("observed", "documents")

    def run(self, exposure, *, rng):
        return self.scored(self.guesses(exposure, rng), exposure)


class TakesAnything(Guess):
    """An exposure of another kind ends in an AttributeError, not in a sentence."""

    def run(self, exposure, *, rng):
        return self.scored(self.guesses(exposure, rng), exposure)


class NamesAnotherKind(Guess):
    sees = AnswersSeen


class NamesNoKind(Guess):
    sees = dict


class StumblesWithoutTruth(Guess):
    def run(self, exposure, *, rng):
        check_exposure(self, exposure)
        return self.scored(self.guesses(exposure, rng), exposure)


class Stumbles(Guess):
    """Without the released words it ends in a TypeError."""

    def run(self, exposure, *, rng):
        if not isinstance(exposure, WordsSeen):
            raise BadInput("takes words")
        return self.scored(self.guesses(exposure, rng)[:], exposure)


class OwnDice(Guess):
    def guesses(self, exposure, rng):
        return np.where(secure().uniforms(len(exposure.observed)) < 0.5, exposure.observed, 0)


class Scribbles(Guess):
    def guesses(self, exposure, rng):
        guesses = exposure.observed.copy()
        exposure.observed[0] = (exposure.observed[0] + 1) % WORDS
        return guesses


CHEATS = {
    ReadsTheTruth: laws.CHANCE,
    ReadsTheTruthWhenItHelps: laws.TRUTH,
    FindsNothing: laws.LEAK,
    WrongName: laws.EVIDENCE,
    WrongValue: laws.EVIDENCE,
    NoEvidence: laws.EVIDENCE,
    NeedsTheTruth: laws.NEEDS,
    NeedsNonsense: laws.NEEDS,
    RunsWithout: laws.NEEDS,
    TakesAnything: laws.NEEDS,
    NamesAnotherKind: laws.NEEDS,
    NamesNoKind: laws.NEEDS,
    StumblesWithoutTruth: laws.NEEDS,
    Stumbles: laws.NEEDS,
    OwnDice: laws.REPEATS,
    Scribbles: laws.REPEATS,
}


def test_a_plain_guess_keeps_every_law():
    check_attack(Guess(), exposure)


@pytest.mark.parametrize(("cheat", "law"), CHEATS.items(), ids=lambda value: getattr(value, "__name__", None))
def test_an_attack_that_cheats_is_caught(cheat, law):
    with pytest.raises(BrokenLaw) as caught:
        check_attack(cheat(), exposure)
    assert caught.value.law == law
