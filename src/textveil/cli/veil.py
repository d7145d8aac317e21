"""`textveil veil`: replace the words of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from textveil.cli.choices import Engine
from textveil.cli.expected import UseToExpect
from textveil.cli.options import (
    PROMISE,
    RUNNING,
    AsJson,
    MechanismName,
    MechanismShape,
    Out,
    OwnParameters,
    Passing,
    Reading,
    Source,
    Spending,
    VectorFile,
    given,
    names_of,
    option,
    plain,
)
from textveil.cli.output import command_line, print_coverage, print_release
from textveil.cli.progress import bars

if TYPE_CHECKING:
    from textveil.recipes.pii.veil_mask import MaskBeforeVeil

EXPECTED = "The use to expect"


def veil(
    source: Source,
    out: Out,
    mechanism: MechanismName = "words.brr",
    vectors: VectorFile = "default",
    epsilon: Annotated[
        float | None,
        option(
            "How much a word may show, per step of distance to another; smaller hides more. words.brr: 0.3 to 0.8; others "
            "have scales of their own, so prefer --attack-success.",
            group=PROMISE,
        ),
    ] = None,
    stay: Annotated[
        float | None, option("Instead of --epsilon: how often words stay as they are, e.g. 0.3.", group=PROMISE)
    ] = None,
    attack_success: Annotated[
        float | None,
        option("Instead of --epsilon: how often the best attack may find a word, e.g. 0.3.", group=PROMISE),
    ] = None,
    kinds_epsilon: Annotated[
        float | None,
        option(
            "With --kinds: loss per tenth of a number's range, per 365 days of a date, per character of a code. Without: 1.",
            group=PROMISE,
        ),
    ] = None,
    label_field: Annotated[
        str | None,
        option("A field with a label: say how well it will be learnt from the release, for you alone.", group=EXPECTED),
    ] = None,
    max_words: Annotated[
        int | None,
        option(
            "No document has more words than this: lets the card state the loss of a whole document.", group=PROMISE
        ),
    ] = None,
    mask: Annotated[
        list[str] | None,
        option(
            "First mask personal data that this finds: patterns, presidio or the folder of a model (may be given several "
            "times). The promise then holds between texts that are masked at the same places.",
            metavar="NAME",
            group=PROMISE,
        ),
    ] = None,
    mask_labels: Annotated[
        str | None, option("With --mask: only these kinds, e.g. PERSON,EMAIL_ADDRESS.", group=PROMISE)
    ] = None,
    *,
    passing: Passing,
    reading: Reading,
    max_line_mb: Annotated[int, option("Longest line that is read, in MiB.", group="The input")] = 16,
    spending: Spending,
    shape: MechanismShape,
    parameters: OwnParameters = None,
    engine: Annotated[
        Engine, option("Who draws: processes of this machine, or a Ray cluster.", group=RUNNING)
    ] = Engine.LOCAL,
    workers: Annotated[int, option("Processes that draw side by side.", group=RUNNING)] = 1,
    address: Annotated[
        str | None, option("The Ray cluster to use; without it Ray runs on this machine.", group=RUNNING)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Replace each word of a text file by a word drawn near it.

    Makes the folder OUT: the veiled file, release.json, and card.html, which says what is promised. The use to expect of the
    setting is said before anything is charged.

    Example: textveil veil reviews.jsonl -o out --epsilon 0.5 --text-field text --only-text --ledger reviews.ledger
    """
    from textveil.recipes.words.keep_lists import words_to_keep
    from textveil.recipes.words.tune import with_epsilon
    from textveil.recipes.words.veil import VeilJob, veil_file

    from .words import make

    columns = passing.kept_columns()
    values = given(
        epsilon=epsilon, vectors=vectors, case=passing.case, oov=passing.oov, seed=spending.seed,
        keep=words_to_keep(passing.keep) if passing.keep else None, once=True if passing.once else None,
        kinds=True if passing.kinds else None, kinds_epsilon=kinds_epsilon,
    )  # fmt: skip
    word_mechanism, epsilon_note = with_epsilon(
        make(mechanism, shape, parameters, **values), epsilon, stay, attack_success
    )
    job = VeilJob(
        source=source, out=out, mechanism=word_mechanism, **plain(reading), columns=columns,
        ledger=spending.ledger, other_data=spending.other_data, unpriced=spending.unpriced,
        max_words=max_words, max_line_bytes=max_line_mb * 2**20, engine=engine.value, workers=workers, address=address,
        mask=_mask(mask, mask_labels),
    )  # fmt: skip
    if epsilon_note and not as_json:
        typer.echo(epsilon_note)
    expected = UseToExpect(job, label_field, quiet=as_json)
    result = veil_file(job, bar=bars(quiet=as_json), tell=print_coverage, foresee=expected.foresee)
    result |= {"epsilon": word_mechanism.epsilon, "expected": expected.shown}
    lines = [f"{result['records']:,} records, {result['words']:,} words veiled: {out}/"]
    print_release(result, out, lines, as_json=as_json, next=command_line("audit", out, "--truth", source))


def _mask(models: list[str] | None, labels: str | None) -> MaskBeforeVeil | None:
    """What masks before words are drawn."""
    from textveil.core import BadInput
    from textveil.recipes.pii.veil_mask import MaskBeforeVeil

    if not models:
        if labels is not None:
            raise BadInput("--mask-labels belongs to --mask", possible="--mask patterns")
        return None
    return MaskBeforeVeil(tuple(models), () if labels is None else names_of(labels))
