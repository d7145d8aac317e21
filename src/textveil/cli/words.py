"""`textveil words`: what a mechanism does to words, how to set it, and whether its promise is true."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.choices import Adversary, InferenceError, UtilityLoss, WordPrior
from textveil.cli.options import (
    AsJson,
    LedgerPath,
    MechanismName,
    MechanismShape,
    NoiseShape,
    OtherData,
    OwnParameters,
    Reading,
    VectorFile,
    given,
    option,
    parameters_of,
    plain,
)
from textveil.cli.output import percent, print_notices, print_result
from textveil.cli.progress import bar
from textveil.cli.verbs import Verbs
from textveil.core.errors import BadInput

app = Verbs("Word mechanisms: info, tune, compare, certify.")

PRIVATE_PRIOR = "With --prior empirical"
Epsilon = Annotated[float | None, option("Loss per step of distance. Without: the mechanism's own.")]


@app.command()
def info(
    word: Annotated[str, typer.Argument(metavar="WORD", help="Any word of the vocabulary.")],
    mechanism: MechanismName = "words.brr",
    epsilon: Epsilon = None,
    vectors: VectorFile = "default",
    draws: Annotated[int, option("How many draws to count.")] = 10_000,
    top: Annotated[int, option("How many substitutes to show.")] = 15,
    parameters: OwnParameters = None,
    as_json: AsJson = False,
) -> None:
    """Show what a word may become: its substitutes with their odds, the chance that it stays, the entropy.

    Example: textveil words info doctor --mechanism words.brr --epsilon 0.5
    """
    from textveil.recipes.words.info import word_info

    word_mechanism = make(mechanism, set=parameters, **given(vectors=vectors, epsilon=epsilon))
    if draws < 1:
        raise BadInput(f"draws must be 1 or more, not {draws}")
    result = word_info(word_mechanism, word, draws=draws)
    low, high = result["stay_interval"]
    lines = [
        f"{word}: stays itself with chance {percent(result['stay'])} [{percent(low)}, {percent(high)}], ",
        f"entropy {result['entropy']:.2f} bits, {result['distinct']:,} different words in {draws:,} draws",
        f"plausible deniability: N_w {result['N_w']:,} (stays), S_w {result['S_w']:,} (different words)",
        *(f"  {percent(odds):>7}  {substitute}" for substitute, odds in result["substitutes"][:top]),
    ]
    print_result(result, lines, as_json=as_json)


@app.command()
def tune(
    max_loss: Annotated[
        float, option("C: how much utility may be lost (--loss), 0 to 1 for 'changed'.", "--max-loss", "-C")
    ],
    mechanism: MechanismName = "words.vickrey",
    loss: Annotated[
        UtilityLoss, option("What counts as lost: words changed, how far they moved, or their sentiment.")
    ] = UtilityLoss.CHANGED,
    error: Annotated[
        InferenceError, option("What counts as an attacker's error: a wrong word, or how far it is off.")
    ] = InferenceError.CHANGED,
    adversary: Annotated[
        Adversary, option("Whose error decides: one who samples (as in the paper), or the best one.")
    ] = Adversary.SAMPLING,
    positive: Annotated[Path | None, option("Positive words, one a line, for --loss sentiment.")] = None,
    negative: Annotated[Path | None, option("Negative words, one a line, for --loss sentiment.")] = None,
    prior: Annotated[
        WordPrior, option("How frequent words are: as in public text, all alike, or counted in --data (charged).")
    ] = WordPrior.PUBLIC,
    start: Annotated[float | None, option("The first epsilon to try. Without: a 16th of the mechanism's own.")] = None,
    draws: Annotated[int, option("Draws per setting that is tried.")] = 20_000,
    vectors: VectorFile = "default",
    data: Annotated[Path | None, option("Private text to count words in.", group=PRIVATE_PRIOR)] = None,
    ledger: LedgerPath = None,
    max_words: Annotated[int | None, option("Declared cap: words counted per document.", group=PRIVATE_PRIOR)] = None,
    prior_epsilon: Annotated[float, option("What counting may cost each document.", group=PRIVATE_PRIOR)] = 1.0,
    other_data: OtherData = False,
    *,
    reading: Reading,
    shape: NoiseShape,
    as_json: AsJson = False,
) -> None:
    """Choose epsilon, and t of words.vickrey: the largest error of an attacker at a bounded loss of utility (Algorithm 2).

    Example: textveil words tune --mechanism words.vickrey --max-loss 0.7
    """
    from textveil.core.params import positive as above_zero
    from textveil.recipes.words import tune as words_tune

    above_zero("max-loss", max_loss)
    word_mechanism = make(mechanism, shape, vectors=vectors).fit()
    if (positive is None) != (negative is None):
        raise BadInput("a lexicon is two files", possible="--positive FILE --negative FILE")
    lexicon = (positive, negative) if positive and negative else None
    private = None
    if prior == WordPrior.EMPIRICAL and data and ledger and max_words:
        private = words_tune.PrivateText(data, ledger, prior_epsilon, max_words, other_data, **plain(reading))
    plan = words_tune.TunePlan(max_loss, loss.value, error.value, adversary.value, start, draws, lexicon)
    used = words_tune.prior_of(prior.value, word_mechanism.vectors_, private)
    with bar("tuning", None, unit="settings", quiet=as_json) as advance:
        result = words_tune.tune(word_mechanism, plan, used.odds, progress=lambda line: advance(1))
    result["notes"].insert(0, used.note)
    result["notices"] = list(used.notices)
    print_notices(result)
    print_result(result, _tune_lines(result, max_loss, adversary.value), as_json=as_json)


def _tune_lines(result: dict[str, Any], max_loss: float, adversary: str) -> Iterator[str]:
    yield f"{'epsilon':>9} {'t':>5}  {'L_M':<22} {'E_M sampling':<22} E_M optimal"
    for trial in result["trials"]:
        sampling, optimal = (_interval(trial["error"].get(name.value)) for name in Adversary)
        t = "" if trial["t"] is None else f"{trial['t']:.2f}"
        yield f"{trial['epsilon']:>9.4g} {t:>5}  {_interval(trial['loss']):<22} {sampling:<22} {optimal}".rstrip()
    chosen = f"epsilon {result['epsilon']:g}" + ("" if result["t"] is None else f", t {result['t']:g}")
    yield f"chosen: {chosen} (L_M <= {max_loss:g}, largest E_M of the {adversary} adversary)"
    yield from _note_lines(result["notes"])


@app.command()
def compare(
    mechanism: Annotated[
        list[str], option("Repeat it; the first is what the others are set against.", metavar="NAME")
    ] = [  # noqa: B006
        "words.laplace",
        "words.brr",
    ],
    attack_success: Annotated[
        float | None, option("Set each so that the best attack finds words this often, e.g. 0.4.")
    ] = None,
    stay: Annotated[float | None, option("Set each so that words stay this often, e.g. 0.3.")] = None,
    draws: Annotated[int, option("Draws per figure.")] = 40_000,
    vectors: VectorFile = "default",
    as_json: AsJson = False,
) -> None:
    """Compare mechanisms at equal attack success, or at an equal chance of staying; without either, at their own epsilon.

    Example: textveil words compare --mechanism words.laplace --mechanism words.brr --attack-success 0.4
    """
    from textveil.recipes.words import compare as words_compare

    if attack_success is not None and stay is not None:
        raise BadInput("give one of --attack-success and --stay, not both")
    axis = "attack-success" if attack_success is not None else "stay" if stay is not None else "epsilon"
    aim = words_compare.Aim(axis, attack_success if attack_success is not None else stay, draws)
    compared = [make(name, vectors=vectors) for name in mechanism]
    with bar("comparing", len(compared), unit="mechanisms", quiet=as_json) as advance:
        result = words_compare.compare(compared, aim, progress=lambda line: advance(1))
    print_result(result, _compare_lines(result), as_json=as_json)


def _compare_lines(result: dict[str, Any]) -> Iterator[str]:
    head = f"{'mechanism':<18} {'epsilon':>8}  {'stays':<20} {'attack succeeds':<20} {'entropy':>7}"
    yield f"{head}  distance of substitutes"
    for row in result["mechanisms"]:
        stays, attack = _interval(row["stay"]), _interval(row["attack_success"])
        figures = f"{row['mechanism']:<18} {row['epsilon']:>8.4g}  {stays:<20} {attack:<20}"
        yield f"{figures} {row['entropy']['value']:>7.2f}  {_interval(row['distance'])}"
    yield "privacy ratio against the first (Definition 5.1): epsilon of equal loss by average and by maximum distance"
    for row in result["privacy_ratio"]:
        yield (
            f"{row['mechanism']:<18} P_avg {row['average']:.4g}, P_max {row['maximum']:.4g}: "
            f"{row['by_average']['epsilon']:.4g} by average, {row['by_maximum']['epsilon']:.4g} by maximum"
        )
    yield from _note_lines(result["notes"])


@app.command()
def certify(
    mechanism: MechanismName = "words.brr",
    epsilon: Epsilon = None,
    words: Annotated[int | None, option("Only the first words. Without: as many as are feasible.")] = None,
    draws: Annotated[int, option("Draws per world, where only an audit is possible.")] = 60_000,
    level: Annotated[float, option("Confidence of the audit.")] = 0.99,
    angles: Annotated[int, option("Directions of the integration in two dimensions; more are more exact.")] = 1024,
    vectors: VectorFile = "default",
    *,
    shape: MechanismShape,
    parameters: OwnParameters = None,
    as_json: AsJson = False,
) -> None:
    """Check a promise: on the whole transition matrix where it can be had, by a two-world audit elsewhere.

    A verdict is a result: the exit code is 0 for "refuted" too.

    Example: textveil words certify --mechanism words.exponential --epsilon 3 --words 1000
    """
    from textveil.recipes.words.certify import certify_words

    word_mechanism = make(mechanism, shape, parameters, **given(epsilon=epsilon, vectors=vectors))
    result = certify_words(word_mechanism, words=words, angles=angles, draws=draws, level=level)
    print_result(result, _certify_lines(result), as_json=as_json)


def _certify_lines(result: dict[str, Any]) -> Iterator[str]:
    yield f"claim:   {result['claim']}"
    yield f"method:  {result['method']}, {result['words']:,} words"
    if result["at"] is not None:
        at = result["at"]
        worst = result["worst"] if isinstance(result["worst"], str) else f"{result['worst']:.6g}"
        yield f"worst:   log ratio - epsilon * distance = {worst} (numeric error {result['numeric_error']:.2g}),"
        yield f"         between '{at['first']}' and '{at['second']}' at the output '{at['output']}'"
    for one in result.get("pairs", []):
        floor = one["floor"] if isinstance(one["floor"], str) else f"{one['floor']:.3g}"
        yield (
            f"{one['pair']}: '{one['first']}' and '{one['second']}', {one['distance']:.3g} apart: loss at least {floor}, "
            f"allowed {one['allowed']:.3g}{', refuted' if one['refuted'] else ''}"
        )
        if "why" in one:
            yield f"  {one['why']}"
    yield f"verdict: {result['verdict']}"
    yield from _note_lines(result["notes"])


def make(name: str, shape: NoiseShape | None = None, set: Sequence[str] | None = None, **parameters: Any) -> Any:
    """A word mechanism, ours or another package's, from the options that were given."""
    from textveil.core import registry
    from textveil.words.mechanism import WordMechanism

    factory = registry.find("mechanism", name)
    if not (inspect.isclass(factory) and issubclass(factory, WordMechanism)):
        words = [known for known in registry.names("mechanism") if known.startswith("words.")]
        raise BadInput(f"{name} replaces no words (its class is no WordMechanism)", possible=", ".join(words))
    parameters |= parameters_of(set or ())
    own = {} if shape is None else given(**plain(shape))
    if not own.get("paper_mode", True):
        del own["paper_mode"]  # only one mechanism knows it
    return registry.make("mechanism", name, **own, **parameters)


def _interval(shown: dict[str, Any] | None) -> str:
    if shown is None:
        return ""
    return f"{shown['value']:.3f} [{shown['interval'][0]:.3f}, {shown['interval'][1]:.3f}]"


def _note_lines(notes: list[str]) -> list[str]:
    return [f"note: {note}" for note in notes]
