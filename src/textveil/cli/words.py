"""`textveil words`: what a mechanism does to words, how to set it, and whether its promise is true."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.output import percent, print_json
from textveil.cli.progress import bar
from textveil.core.errors import BadInput

app = typer.Typer(help="Word mechanisms: info, tune, compare, certify.", no_args_is_help=True)

MechanismName = Annotated[str, typer.Option(help="words.brr, words.laplace, ...")]
Epsilon = Annotated[float | None, typer.Option(help="Default: the mechanism's own.")]
VectorFile = Annotated[str, typer.Option(help="'default' or a vector file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON result.")]
T = Annotated[float | None, typer.Option("--t", help="words.vickrey: 0 (nearest) to 1 (second nearest).")]
K = Annotated[int | None, typer.Option("--k", help="words.vickrey: neighbours to choose from.")]
Lam = Annotated[float | None, typer.Option("--lambda", help="words.mahalanobis: 0 (round) to 1 (like the words).")]
PaperMode = Annotated[bool, typer.Option("--paper-mode", help="words.vickrey as printed: carries no promise.")]
Distance = Annotated[str | None, typer.Option(help="words.exponential, words.tem: euclidean | angular | hamming.")]
Gamma = Annotated[float | None, typer.Option(help="words.tem: beyond this distance all words are alike.")]
Bits = Annotated[int | None, typer.Option(help="words.brr: code length, 64 to 512.")]


@app.command()
def info(
    word: Annotated[str, typer.Argument(metavar="WORD")],
    mechanism: MechanismName = "words.brr",
    epsilon: Epsilon = None,
    vectors: VectorFile = "default",
    draws: Annotated[int, typer.Option(help="How many draws to count.")] = 10_000,
    top: Annotated[int, typer.Option(help="How many substitutes to show.")] = 15,
    as_json: AsJson = False,
) -> None:
    """Show what a word may become: its substitutes with their odds, the chance that it stays, the entropy.

    Example: textveil words info doctor --mechanism words.brr --epsilon 0.5
    """
    from textveil.core import registry
    from textveil.recipes.words_info import word_info

    parameters = {"vectors": vectors} | ({} if epsilon is None else {"epsilon": epsilon})
    made = registry.make("mechanism", mechanism, **parameters)
    if draws < 1:
        raise BadInput(f"draws must be 1 or more, not {draws}")
    result = word_info(made, word, draws=draws)
    if as_json:
        print_json(result)
        return
    low, high = result["stay_interval"]
    typer.echo(f"{word}: stays itself with chance {percent(result['stay'])} [{percent(low)}, {percent(high)}], ")
    typer.echo(f"entropy {result['entropy']:.2f} bits, {result['distinct']:,} different words in {draws:,} draws")
    typer.echo(f"plausible deniability: N_w {result['N_w']:,} (stays), S_w {result['S_w']:,} (different words)")
    for substitute, odds in result["substitutes"][:top]:
        typer.echo(f"  {percent(odds):>7}  {substitute}")


@app.command()
def tune(
    max_loss: Annotated[float, typer.Option("--max-loss", "-C", help="C, the largest utility loss L_M allowed.")],
    mechanism: MechanismName = "words.vickrey",
    loss: Annotated[str, typer.Option(help="d_L: changed | euclidean | sentiment.")] = "changed",
    error: Annotated[str, typer.Option(help="d_E: changed | euclidean.")] = "changed",
    adversary: Annotated[
        str, typer.Option(help="Whose error decides: sampling (as the paper) | optimal.")
    ] = "sampling",
    positive: Annotated[Path | None, typer.Option(help="Positive words, one a line, for --loss sentiment.")] = None,
    negative: Annotated[Path | None, typer.Option(help="Negative words, one a line.")] = None,
    prior: Annotated[str, typer.Option(help="public | uniform | empirical (from --data, charged).")] = "public",
    data: Annotated[Path | None, typer.Option(help="Private text for the empirical prior.")] = None,
    text_field: Annotated[str | None, typer.Option(help="The field or column that holds the text.")] = None,
    ledger: Annotated[Path | None, typer.Option(help="The ledger that the empirical prior is charged to.")] = None,
    max_words: Annotated[int | None, typer.Option(help="Declared cap: words counted per document.")] = None,
    prior_epsilon: Annotated[float, typer.Option(help="Loss per document of the empirical prior.")] = 1.0,
    other_data: Annotated[bool, typer.Option(help="Charge a ledger that belongs to another data set.")] = False,
    start: Annotated[
        float | None, typer.Option(help="The first epsilon; default: a 16th of the mechanism's own.")
    ] = None,
    draws: Annotated[int, typer.Option(help="Draws per setting.")] = 20_000,
    lam: Lam = None,
    distance: Distance = None,
    gamma: Gamma = None,
    vectors: VectorFile = "default",
    as_json: AsJson = False,
) -> None:
    """Choose epsilon, and t of words.vickrey: the largest inference error at a bounded utility loss (Algorithm 2).

    Example: textveil words tune --mechanism words.vickrey --max-loss 0.7
    """
    from textveil.core.params import positive as above_zero
    from textveil.recipes import words_tune

    above_zero("max-loss", max_loss)
    made = make(mechanism, vectors=vectors, lam=lam, distance=distance, gamma=gamma).fit()
    if (positive is None) != (negative is None):
        raise BadInput("a lexicon is two files", possible="--positive FILE --negative FILE")
    lexicon = (positive, negative) if positive and negative else None
    private = None
    if prior == "empirical" and data and ledger and max_words:
        private = words_tune.PrivateText(data, ledger, prior_epsilon, max_words, text_field, other_data)
    plan = words_tune.Plan(max_loss, loss, error, adversary, start, draws, lexicon)
    law, told = words_tune.prior_of(prior, made.vectors_, private)
    with bar("tuning", None, unit="settings", quiet=as_json) as advance:
        result = words_tune.tune(made, plan, law, progress=lambda line: advance(1))
    result["notes"].insert(0, told)
    if as_json:
        print_json(result)
        return
    typer.echo(f"{'epsilon':>9} {'t':>5}  {'L_M':<22} {'E_M sampling':<22} E_M optimal")
    for trial in result["trials"]:
        errors = [_interval(trial["error"].get(name)) for name in words_tune.ADVERSARIES]
        t = "" if trial["t"] is None else f"{trial['t']:.2f}"
        typer.echo(
            f"{trial['epsilon']:>9.4g} {t:>5}  {_interval(trial['loss']):<22} {errors[0]:<22} {errors[1]}".rstrip()
        )
    chosen = f"epsilon {result['epsilon']:g}" + ("" if result["t"] is None else f", t {result['t']:g}")
    typer.echo(f"chosen: {chosen} (L_M <= {max_loss:g}, largest E_M of the {adversary} adversary)")
    _echo_notes(result["notes"])


@app.command()
def compare(
    mechanism: Annotated[list[str], typer.Option(help="Repeat it; the first is what the others are set against.")] = [  # noqa: B006
        "words.laplace",
        "words.brr",
    ],
    attack_success: Annotated[float | None, typer.Option(help="Make the optimal attack succeed this often.")] = None,
    stay: Annotated[float | None, typer.Option(help="Make words stay this often.")] = None,
    draws: Annotated[int, typer.Option(help="Draws per figure.")] = 40_000,
    vectors: VectorFile = "default",
    as_json: AsJson = False,
) -> None:
    """Compare mechanisms at equal attack success, or at an equal chance of staying; without either, at their own epsilon.

    Example: textveil words compare --mechanism words.laplace --mechanism words.brr --attack-success 0.4
    """
    from textveil.recipes import words_compare

    if attack_success is not None and stay is not None:
        raise BadInput("give one of --attack-success and --stay, not both")
    axis = "attack-success" if attack_success is not None else "stay" if stay is not None else "epsilon"
    aim = words_compare.Aim(axis, attack_success if attack_success is not None else stay, draws)
    made = [make(name, vectors=vectors) for name in mechanism]
    with bar("comparing", len(made), unit="mechanisms", quiet=as_json) as advance:
        result = words_compare.compare(made, aim, progress=lambda line: advance(1))
    if as_json:
        print_json(result)
        return
    typer.echo(
        f"{'mechanism':<18} {'epsilon':>8}  {'stays':<20} {'attack succeeds':<20} {'entropy':>7}  distance of substitutes"
    )
    for row in result["mechanisms"]:
        stays, attack = _interval(row["stay"]), _interval(row["attack_success"])
        typer.echo(
            f"{row['mechanism']:<18} {row['epsilon']:>8.4g}  {stays:<20} {attack:<20} {row['entropy']['value']:>7.2f}  "
            f"{_interval(row['distance'])}"
        )
    typer.echo(
        "privacy ratio against the first (Definition 5.1): epsilon of equal loss by average and by maximum distance"
    )
    for row in result["privacy_ratio"]:
        typer.echo(
            f"{row['mechanism']:<18} P_avg {row['average']:.4g}, P_max {row['maximum']:.4g}: "
            f"{row['by_average']['epsilon']:.4g} by average, {row['by_maximum']['epsilon']:.4g} by maximum"
        )
    _echo_notes(result["notes"])


@app.command()
def certify(
    mechanism: MechanismName = "words.brr",
    epsilon: Epsilon = None,
    words: Annotated[int | None, typer.Option(help="Only the first words; default: as many as are feasible.")] = None,
    draws: Annotated[int, typer.Option(help="Draws per world, where only an audit is possible.")] = 60_000,
    level: Annotated[float, typer.Option(help="Confidence of the audit.")] = 0.99,
    angles: Annotated[int, typer.Option(help="Directions of the integration in two dimensions.")] = 1024,
    t: T = None,
    k: K = None,
    lam: Lam = None,
    paper_mode: PaperMode = False,
    distance: Distance = None,
    gamma: Gamma = None,
    bits: Bits = None,
    vectors: VectorFile = "default",
    as_json: AsJson = False,
) -> None:
    """Check a promise: on the whole transition matrix where it can be had, by a two-world audit elsewhere.

    A verdict is a result: the exit code is 0 for "refuted" too.

    Example: textveil words certify --mechanism words.exponential --epsilon 3 --words 1000
    """
    from textveil.recipes.words_certify import certify_words

    shape = {"t": t, "k": k, "lam": lam, "distance": distance, "gamma": gamma, "bits": bits}
    made = make(mechanism, epsilon=epsilon, vectors=vectors, paper_mode=paper_mode or None, **shape)
    result = certify_words(made, words=words, angles=angles, draws=draws, level=level)
    if as_json:
        print_json(result)
        return
    typer.echo(f"claim:   {result['claim']}")
    typer.echo(f"method:  {result['method']}, {result['words']:,} words")
    if result["at"] is not None:
        at = result["at"]
        worst = result["worst"] if isinstance(result["worst"], str) else f"{result['worst']:.6g}"
        typer.echo(f"worst:   log ratio - epsilon * distance = {worst} (numeric error {result['numeric_error']:.2g}),")
        typer.echo(f"         between '{at['first']}' and '{at['second']}' at the output '{at['output']}'")
    for one in result.get("pairs", []):
        floor = one["floor"] if isinstance(one["floor"], str) else f"{one['floor']:.3g}"
        typer.echo(
            f"{one['pair']}: '{one['first']}' and '{one['second']}', {one['distance']:.3g} apart: loss at least {floor}, "
            f"allowed {one['allowed']:.3g}{', refuted' if one['refuted'] else ''}"
        )
        if "why" in one:
            typer.echo(f"  {one['why']}")
    typer.echo(f"verdict: {result['verdict']}")
    _echo_notes(result["notes"])


def make(name: str, **parameters: Any) -> Any:
    """A mechanism from the options that were given."""
    from textveil.core import registry

    return registry.make("mechanism", name, **{key: value for key, value in parameters.items() if value is not None})


def _interval(shown: dict[str, Any] | None) -> str:
    if shown is None:
        return ""
    return f"{shown['value']:.3f} [{shown['interval'][0]:.3f}, {shown['interval'][1]:.3f}]"


def _echo_notes(notes: list[str]) -> None:
    for note in notes:
        typer.echo(f"note: {note}")
