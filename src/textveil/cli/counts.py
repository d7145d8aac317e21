"""`textveil counts`: release word counts per document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.choices import BudgetRule, CountsPrior, Grouping
from textveil.cli.options import (
    PASSING,
    PROMISE,
    AsJson,
    Out,
    Reading,
    Spending,
    VectorFile,
    given,
    option,
    plain,
)
from textveil.cli.output import command_line, print_release
from textveil.cli.progress import bars
from textveil.core.errors import BadInput
from textveil.core.losses import upward

WORDS = "Words and groups"


def counts(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="Texts, in any format that veil reads, or counts: .npz, .mtx.")
    ],
    out: Out,
    epsilon: Annotated[
        float | None,
        option("Total loss between two documents that differ in N counts; 0.5 to 5 is usual.", group=PROMISE),
    ] = None,
    precision: Annotated[
        int, option("N: how many counts the promise hides; a whole document is not hidden.", group=PROMISE)
    ] = 10,
    budget: Annotated[
        BudgetRule,
        option("total: epsilon is all that is spent; paper: its rule as printed, which spends more.", group=PROMISE),
    ] = BudgetRule.TOTAL,
    prior_share: Annotated[
        float, option("Share of epsilon that goes to noisy counts of the whole corpus.", group=PROMISE)
    ] = 0.1,
    compress: Annotated[
        int | None,
        option("K: sum the words into K groups before the noise; far less noise, coarser counts.", group=WORDS),
    ] = None,
    method: Annotated[
        Grouping,
        option("How words are put into groups: at random, by frequency, near ones together or apart.", group=WORDS),
    ] = Grouping.FREQUENCY,
    prior: Annotated[
        CountsPrior,
        option("How frequent words are: noisy counts (charged), all alike, or the public vectors'.", group=WORDS),
    ] = CountsPrior.NOISY,
    decompress: Annotated[bool, option("Deal the noisy count of a group out to its words.", group=WORDS)] = True,
    clamp: Annotated[bool, option("Turn negative noisy counts into 0.", group=WORDS)] = True,
    vocabulary: Annotated[
        str | None, option("The public words to count: 'default', or a file, one a line.", group=WORDS)
    ] = None,
    vocabulary_size: Annotated[int | None, option("Only the first so many of these words.", group=WORDS)] = None,
    choose: Annotated[
        int | None, option("Keep the M words with the largest noisy counts (charged).", group=WORDS, metavar="M")
    ] = None,
    without: Annotated[
        str | None,
        option(
            "Words that are not counted: 'function-words' (the, of, and ...), or a file, one a line. Topics read better.",
            group=WORDS,
            metavar="WORDS",
        ),
    ] = None,
    vectors: VectorFile = "default",
    id_field: Annotated[
        str | None, option("The field whose values leave with the rows, to tell them apart.", group=PASSING)
    ] = None,
    label_field: Annotated[
        str | None, option("The field whose values leave with the rows, to learn from.", group=PASSING)
    ] = None,
    *,
    reading: Reading,
    spending: Spending,
    as_json: AsJson = False,
) -> None:
    """Release noisy word counts per document, for topics and classifiers.

    Example: textveil counts letters.jsonl -o out --epsilon 1 --precision 10 --compress 100 --ledger letters.ledger
    """
    from textveil.recipes.counts.release import CountsJob, count_file

    if epsilon is None:
        raise BadInput(
            "epsilon is missing", possible="--epsilon E (0.5 to 5, for documents --precision N counts apart)"
        )
    parameters: dict[str, Any] = given(
        epsilon=epsilon, precision=precision, compress=compress, method=method, budget=budget, prior=prior,
        prior_share=prior_share, columns=choose, clamp=clamp, decompress=decompress, seed=spending.seed,
    )  # fmt: skip
    job = CountsJob(
        source, out, parameters, vocabulary, vocabulary_size, vectors, without, id_field, label_field, **plain(reading),
        ledger=spending.ledger, other_data=spending.other_data, unpriced=spending.unpriced,
    )  # fmt: skip
    result = count_file(job, bar=bars(quiet=as_json))
    form = "sparse" if result["sparse"] else "dense"
    lines = [f"{result['documents']:,} documents x {result['columns']:,} columns ({form}): {out}/data.npz"]
    audit = command_line("audit", out, "--truth", source)
    print_release(result, out, lines, as_json=as_json, more=_spent_lines(result), next=audit)


def _spent_lines(result: dict[str, Any]) -> list[str]:
    spent = result["spending"]
    lines = [
        f"spent:   {upward(spent['counts'])} on counts, {upward(spent['corpus_counts'])} on corpus counts; "
        "delta 0 (exact draws)"
    ]
    if result["true_epsilon"] > result["asked_epsilon"]:
        lines.append(
            f"beware:  asked for {result['asked_epsilon']:g}, the true total is {upward(result['true_epsilon'])}"
        )
    return lines
