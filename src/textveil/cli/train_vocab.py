"""`textveil train vocab`: a private WordPiece vocabulary."""

from __future__ import annotations

from typing import Annotated, Any

from textveil.cli.choices import TrainUnit, VocabMethod
from textveil.cli.options import (
    PROMISE,
    AllowLargeDelta,
    AsJson,
    Out,
    Reading,
    Source,
    Spending,
    UserField,
    option,
    plain,
)
from textveil.cli.output import percent, print_release
from textveil.cli.progress import bars


def vocab(
    source: Source,
    out: Out,
    epsilon: Annotated[float, option("The loss of one unit.", group=PROMISE)] = 1.0,
    delta: Annotated[
        float, option("Chance that the bound fails, shared by the noise and the threshold.", group=PROMISE)
    ] = 1e-6,
    unit: Annotated[
        TrainUnit, option("Whom it protects: one text, or all that one user wrote.", group=PROMISE)
    ] = TrainUnit.EXAMPLE,
    allow_large_delta: AllowLargeDelta = False,
    size: Annotated[int, option("Pieces of the vocabulary.")] = 8000,
    method: Annotated[
        VocabMethod,
        option("How words are chosen: policy finds most; paper protects one occurrence of one word only."),
    ] = VocabMethod.GAUSSIAN,
    distinct: Annotated[
        int | None, option("How many different words of a unit count. Without: 16; with --unit user: 512.")
    ] = None,
    public_words: Annotated[
        str, option("Fill free pieces with public words: default, none, or a file.", metavar="WORDS")
    ] = "default",
    compare: Annotated[bool, option("Print how it fits the private texts (for you, never released).")] = True,
    user_field: UserField = None,
    *,
    reading: Reading,
    spending: Spending,
    as_json: AsJson = False,
) -> None:
    """Make a WordPiece vocabulary of private texts that shows no unit's own words.

    Example: textveil train vocab letters.jsonl -o vocab --epsilon 1 --delta 1e-6 --method policy --ledger
    letters.ledger
    """
    from textveil.recipes.training.vocab import VocabJob, make_vocabulary
    from textveil.training.vocabulary import Vocabulary

    wanted = Vocabulary(epsilon, delta, unit.value, method.value, distinct)
    job = VocabJob(
        source, out, wanted, size, public_words, user_field, allow_large_delta=allow_large_delta, compare=compare,
        **plain(reading), **plain(spending),
    )  # fmt: skip
    result = make_vocabulary(job, bar=bars(quiet=as_json))
    noise = result["noise"]
    more = [
        f"protects: {result['protects']}",
        f"threshold: {noise['threshold']:.4g} (delta {noise['threshold_delta']:.3g})",
        *_private_lines(result.get("private_report")),
    ]
    lines = [f"{result['words']:,} words, {result['pieces']:,} pieces: {out}/model"]
    print_release(result, out, lines, as_json=as_json, more=more)


def _private_lines(fit: dict[str, Any] | None) -> list[str]:
    if fit is None:
        return []
    pieces = f"{fit['tokens_per_word']:.4f}, without privacy {fit['tokens_per_word_without_privacy']:.4f}"
    return [
        "private report (computed from the texts, not released, not charged: keep it with them)",
        f"  tokens a word {pieces} ({fit['ratio']:.3f} times)",
        f"  [UNK] {percent(fit['unknown'])}; words that are one piece {percent(fit['coverage'])}, "
        f"without privacy {percent(fit['coverage_without_privacy'])}",
    ]
