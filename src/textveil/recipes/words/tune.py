"""Choose a mechanism's parameters by what they do: Algorithm 2, or the epsilon at which an attack succeeds as wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textveil.accounting.ledger import Ledger
from textveil.attacks.evidence import Evidence
from textveil.attacks.words.bayes import BayesAttack
from textveil.attacks.words.posterior import CountedPosterior
from textveil.attacks.words.seen import WordsSeen
from textveil.core import BadInput
from textveil.core.params import choice, open_fraction, positive_integer
from textveil.noise import Source, secure, seeded
from textveil.recipes.use.channel import drawn_prior
from textveil.recipes.words.channel import WordChannel
from textveil.text import readers
from textveil.text.vectors import Vectors
from textveil.words import tuning
from textveil.words.codes_only import PublicWords
from textveil.words.mechanism import WordMechanism
from textveil.words.priors import PrivatePrior
from textveil.words.tuning import Estimate, Loss

LOSSES = ("changed", "euclidean", "sentiment")
ERRORS = ("changed", "euclidean")
ADVERSARIES = ("sampling", "optimal")
PRIORS = ("public", "uniform", "empirical")
_PUBLIC_SEED = 0  # of draws that touch public things only
_CANDIDATES = 64  # guesses that the optimal adversary weighs per output, for the Euclidean error


@dataclass(frozen=True)
class TunePlan:
    """What to tune for. `lexicon` holds the files of positive and negative words for the loss "sentiment"."""

    limit: float
    loss: str = "changed"
    error: str = "changed"
    adversary: str = "sampling"
    start: float | None = None
    draws: int = 20_000
    lexicon: tuple[Path, Path] | None = None


def tune(
    mechanism: WordMechanism, plan: TunePlan, prior: np.ndarray, *, progress: Callable[[str], None] = lambda line: None
) -> dict[str, Any]:
    """Run Algorithm 2 and describe what it chose."""
    choice("loss", plan.loss, LOSSES)
    choice("error", plan.error, ERRORS)
    choice("adversary", plan.adversary, ADVERSARIES)
    if positive_integer("draws", plan.draws) < 10:
        raise BadInput(f"draws must be 10 or more, not {plan.draws}")
    mechanism._ready()
    notes = []
    loss, inputs = _loss_of(plan, mechanism.vectors_)
    if inputs is not None:
        prior = np.where(inputs, prior, 0.0)
        if prior.sum() <= 0:
            raise BadInput("no word of the lexicon has a chance under the prior")
        prior = prior / prior.sum()
        notes.append(f"inputs are the {int(np.count_nonzero(prior)):,} words of the lexicon that are in the vocabulary")
    distance = tuning.changed if plan.error == "changed" else tuning.euclidean(mechanism.vectors_.matrix)
    noise = secure()
    rows = tuning.rows_from(prior, plan.draws, noise)

    def measure(tried: WordMechanism, with_errors: bool) -> tuple[Estimate, dict[str, Estimate]]:
        progress(f"epsilon {tried.epsilon:g}" + (f", t {tried.get_params()['t']:g}" if tuning.has_t(tried) else ""))
        outputs = tried.draw(rows, noise).astype(np.int64)
        found = tuning.mean_of(loss(rows, outputs))
        return found, inference_errors(
            rows, outputs, prior, distance, plan.error, mechanism.vectors_, noise
        ) if with_errors else {}

    start = type(mechanism)().epsilon / 16 if plan.start is None else plan.start
    tuned = tuning.algorithm_2(mechanism, plan.limit, measure, start=start, adversary=plan.adversary)
    notes.append("the optimal adversary learns from half of the draws: its true error is at most the one shown")
    return {
        "mechanism": mechanism.name,
        "epsilon": tuned.best.epsilon,
        "t": tuned.best.t,
        "limit": plan.limit,
        "loss": plan.loss,
        "error": plan.error,
        "adversary": plan.adversary,
        "draws": plan.draws,
        "best": tuned.best.to_json(),
        "trials": [trial.to_json() for trial in tuned.trials],
        "notes": notes,
    }


def inference_errors(
    inputs: np.ndarray,
    outputs: np.ndarray,
    prior: np.ndarray,
    distance: Loss,
    kind: str,
    vectors: PublicWords,
    noise: Source,
) -> dict[str, Estimate]:
    """E_M of both adversaries: the posterior is learnt from one half of the draws and scored on the other."""
    half = len(inputs) // 2
    posterior = CountedPosterior(inputs[:half], outputs[:half], prior)
    seen, true = outputs[half:], inputs[half:]
    best = (
        posterior.best(seen) if kind == "changed" else _medians(inputs[:half], outputs[:half], posterior, vectors)[seen]
    )
    guesses = {"sampling": posterior.draw(seen, noise), "optimal": best}
    return {name: tuning.mean_of(distance(guess, true)) for name, guess in guesses.items()}


def _medians(inputs: np.ndarray, outputs: np.ndarray, posterior: CountedPosterior, vectors: PublicWords) -> np.ndarray:
    """For each output the guess with the smallest mean distance to the inputs that gave it, among these."""
    guess = posterior.best(np.arange(len(vectors)))
    order = np.argsort(outputs, kind="stable")
    matrix = vectors.matrix.astype(np.float64)
    for group in np.split(order, np.flatnonzero(np.diff(outputs[order])) + 1):
        output = outputs[group[0]]
        words, counts = np.unique(inputs[group], return_counts=True)
        common = words[np.argsort(-counts)[:_CANDIDATES]]
        candidates = np.unique(np.append(common, guess[output]))
        apart = np.linalg.norm(matrix[candidates][:, None] - matrix[words], axis=2)
        guess[output] = candidates[int((apart @ counts).argmin())]
    return guess


# ---- the epsilon at which an attack succeeds ------------------------------------------------------------------------------


def bayes_success(mechanism: WordMechanism, prior: np.ndarray, draws: int, noise: Source) -> Evidence:
    """The success of the optimal Bayes attack, learnt on one half of the draws and scored on the other: a lower bound."""
    exposure = WordsSeen(list(mechanism.vectors_.words), prior, WordChannel(mechanism, prior))
    return BayesAttack(draws=draws, bound_draws=0).run(exposure, rng=noise)


def epsilon_for_attack(
    mechanism: WordMechanism,
    success: float,
    *,
    prior: np.ndarray | None = None,
    draws: int = 40_000,
    noise: Source | None = None,
) -> float:
    """The epsilon at which the optimal Bayes attack succeeds with chance `success`, under a public prior; three digits."""
    open_fraction("attack-success", success)
    if positive_integer("draws", draws) < 10:
        raise BadInput(f"draws must be 10 or more, not {draws}")
    mechanism._ready()
    law = np.asarray(mechanism.vectors_.prior if prior is None else prior)
    if success <= law.max():
        raise BadInput(
            f"a guess of the commonest word succeeds with chance {law.max():.3g} already",
            possible=f"--attack-success above {law.max():.3g}",
        )
    source = noise or secure()

    def measure(candidate: WordMechanism, effort: float) -> float:
        return bayes_success(candidate, law, max(10, int(effort * draws)), source).value

    return tuning.epsilon_for(mechanism, success, measure, "the attack succeeds with a chance")


def with_epsilon(
    mechanism: WordMechanism, epsilon: float | None, stay: float | None, attack_success: float | None
) -> tuple[WordMechanism, str]:
    """The mechanism with its epsilon as given, or found from the wanted effect; and a sentence about how it was found.

    Only public things are looked at, so this costs nothing and needs no secret randomness: with draws from a fixed seed
    the same command finds the same epsilon again, and a run that was stopped can be resumed.
    """
    given = [value for value in (epsilon, stay, attack_success) if value is not None]
    usual = "--epsilon E (0.3 to 0.8 for words.brr, 5 to 15 for words.laplace), --stay P, --attack-success P"
    if not given:
        raise BadInput("epsilon is missing", possible=usual)
    if len(given) > 1:
        raise BadInput("epsilon, stay and attack-success exclude each other", possible="exactly one of " + usual)
    if epsilon is not None:
        return mechanism, ""
    prior = drawn_prior(mechanism)  # over words that are drawn: kept ones stay anyway, and are found anyway
    if stay is not None:
        open_fraction("stay", stay)
        found = tuning.epsilon_for_stay(mechanism, stay, prior=prior, noise=seeded(_PUBLIC_SEED))
        told = f"epsilon {found:g}: a word stays with a chance of about {stay:g}, over the public prior"
    else:
        found = epsilon_for_attack(mechanism, float(attack_success or 0), prior=prior, noise=seeded(_PUBLIC_SEED))
        told = f"epsilon {found:g}: the best attack on single words succeeds with a chance of about {attack_success:g}"
    return tuning.at(mechanism, epsilon=found), told


# ---- priors and lexicons --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PrivateText(readers.FileOptions):
    """Private text from which a prior is learnt, and the ledger that is charged for it."""

    source: Path
    ledger: Path
    epsilon: float
    cap: int
    other_data: bool = False


class PriorUsed(NamedTuple):
    """The prior over words, a sentence about it, and what nobody may miss."""

    odds: np.ndarray
    note: str
    notices: tuple[str, ...] = ()


def prior_of(kind: str, vectors: Vectors, private: PrivateText | None = None) -> PriorUsed:
    """The prior of that name; the empirical one is charged."""
    choice("prior", kind, PRIORS)
    if kind == "uniform":
        return PriorUsed(np.full(len(vectors), 1 / len(vectors)), "uniform prior over the vocabulary")
    if kind == "public":
        return PriorUsed(np.asarray(vectors.prior), "public prior of the vectors")
    if private is None:
        raise BadInput(
            "an empirical prior needs private text and a ledger to charge",
            possible="--data IN --ledger L --max-words N",
        )
    return charged_prior(vectors, private)


def charged_prior(vectors: Vectors, private: PrivateText) -> PriorUsed:
    """A prior learnt under document-level DP: counted, charged on disk, then noised."""
    mechanism = PrivatePrior(vectors, private.epsilon, private.cap)
    texts = [record.text for record in readers.open_reader(private.source, columns=(), **private.reading())]
    ledger = Ledger(private.ledger)
    release = ledger.release(mechanism, texts, note=f"prior from {private.source.name}", other_data=private.other_data)
    note = (
        f"empirical prior: noised counts of at most {private.cap} words a document, epsilon {private.epsilon:g} per "
        f"document, charged as {release.entry}"
    )
    return PriorUsed(release.value, note, ledger.notices)


def _loss_of(plan: TunePlan, vectors: PublicWords) -> tuple[Loss, np.ndarray | None]:
    """d_L, and which words are inputs (None: all)."""
    if plan.loss == "changed":
        return tuning.changed, None
    if plan.loss == "euclidean":
        return tuning.euclidean(vectors.matrix), None
    if plan.lexicon is None:
        raise BadInput("the loss 'sentiment' needs a lexicon", possible="--positive FILE --negative FILE")
    signs = np.zeros(len(vectors), dtype=np.int64)
    for sign, path in zip((1, -1), plan.lexicon, strict=True):
        rows = [row for word in read_lexicon(path) if (row := vectors.index(word)) is not None]
        if not rows:
            raise BadInput("holds no word of the vocabulary", where=path)
        signs[rows] += sign  # a word in both lists counts for neither
    return tuning.flipped(signs), signs != 0


def read_lexicon(path: Path) -> list[str]:
    """One word a line; empty lines and lines that begin with ';' are left out. Latin-1 is read where UTF-8 fails."""
    from textveil.text import tokens

    try:
        raw = path.read_bytes()
    except OSError:
        raise BadInput("does not exist or cannot be read", where=path) from None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    lines = (line.strip() for line in text.splitlines())
    return [tokens.fold(line) for line in lines if line and not line.startswith(";")]
