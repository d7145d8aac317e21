"""`textveil fragments make`: cut a parallel text into loose phrase pairs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textveil.cli.choices import Aligner, Cut, DropBy, Symmetry, Tokens
from textveil.cli.options import INPUT, PROMISE, AllowLargeDelta, AsJson, Encoding, Header, Out, Spending, option, plain
from textveil.cli.output import command_line, print_release
from textveil.cli.progress import bars

if TYPE_CHECKING:
    from textveil.text.pairs import PairFile

POLICY, ALIGNING, NAMES = "What leaves", "Word alignment", "Names"

PairSource = Annotated[
    Path,
    typer.Argument(
        metavar="IN",
        help="Parallel text: tmx, xliff, jsonl, csv, tsv, parquet, or the source of two files; also .gz, .bz2, .xz.",
    ),
]
PairTarget = Annotated[
    Path | None, typer.Argument(metavar="[TARGET]", help="The target of two files that run line by line.")
]


@dataclass(frozen=True)
class PairReading:
    """How parallel text is read."""

    source_field: Annotated[
        str | None, option("jsonl, csv, tsv, parquet: the field of the source sentence.", group=INPUT)
    ] = None
    target_field: Annotated[str | None, option("The field of its translation.", group=INPUT)] = None
    source_language: Annotated[
        str | None, option("tmx: the source language, e.g. de. Without: what the file says.", group=INPUT)
    ] = None
    target_language: Annotated[
        str | None, option("tmx: the target language. Without: the first other one.", group=INPUT)
    ] = None
    format: Annotated[
        str | None,
        option("Where the name does not tell: tmx, xliff, jsonl, csv, tsv, parquet, parallel.", group=INPUT),
    ] = None
    encoding: Encoding = None
    header: Header = None
    delimiter: Annotated[str | None, option("csv and tsv: the sign that divides columns.", group=INPUT)] = None

    def file(self, path: Path, target: Path | None = None) -> PairFile:
        """What recipes take."""
        from textveil.text.pairs import PairFile

        return PairFile(path, target, **plain(self))


def make(
    source: PairSource,
    out: Out,
    target: PairTarget = None,
    *,
    longest: Annotated[int, option("Words of the longest phrase, in both languages.", group=POLICY)] = 4,
    shortest: Annotated[int, option("Words of the shortest phrase.", group=POLICY)] = 1,
    cut: Annotated[
        Cut,
        option(
            "overlapping: all phrases, as in the paper. apart: no word of a sentence stands in two phrases, which is much "
            "harder to put together again.",
            group=POLICY,
        ),
    ] = Cut.OVERLAPPING,
    drop: Annotated[float, option("Share of the phrases that is left out at random.", group=POLICY)] = 0.5,
    drop_by: Annotated[
        DropBy,
        option("Leave out single occurrences, or phrase pairs with all their occurrences.", group=POLICY),
    ] = DropBy.OCCURRENCE,
    unique: Annotated[bool, option("Take each sentence pair once.", "--unique", group=POLICY)] = False,
    tags: Annotated[bool, option("Put <P> and </P> around each phrase.", "--tags", group=POLICY)] = False,
    decoys: Annotated[float, option("Add made-up phrase pairs, as a share of the real ones.", group=POLICY)] = 0.0,
    names: Annotated[
        list[str] | None,
        option(
            "Leave out phrases with a name or number that this recogniser finds: patterns, presidio, or the folder of a "
            "model that pii train made. May be given several times.",
            group=NAMES,
            metavar="MODEL",
        ),
    ] = None,
    glossary: Annotated[
        Path | None, option("Terms that may pass, one a line: neither filtered nor dropped.", group=NAMES)
    ] = None,
    epsilon: Annotated[
        float | None,
        option(
            "Show only phrase pairs that many sentence pairs have, under differential privacy: the loss of one sentence "
            "pair. Needs --align-on or --alignment. Without: no promise.",
            group=PROMISE,
        ),
    ] = None,
    delta: Annotated[float, option("With --epsilon: chance that the bound fails.", group=PROMISE)] = 1e-6,
    distinct: Annotated[
        int, option("With --epsilon: how many different phrase pairs of a sentence pair count.", group=PROMISE)
    ] = 8,
    allow_large_delta: AllowLargeDelta = False,
    alignment: Annotated[
        Path | None,
        option(
            "Links of words that you have already, a line a sentence pair: 0-0 1-2 (Pharaoh format).", group=ALIGNING
        ),
    ] = None,
    align_on: Annotated[
        Path | None,
        option("Public parallel text that the aligner learns from; read with the same options as IN.", group=ALIGNING),
    ] = None,
    symmetry: Annotated[
        Symmetry, option("How the alignments of the two directions are joined.", group=ALIGNING)
    ] = Symmetry.UNION,
    aligner: Annotated[
        Aligner,
        option(
            "built-in: links near the diagonal. hmm: built in too; each link near the one before, which takes up to half "
            "as long again and finds words that have moved. eflomal: where you have installed it.",
            group=ALIGNING,
        ),
    ] = Aligner.BUILT_IN,
    tokens: Annotated[
        Tokens | None,
        option(
            "Words are divided at blanks (tokenised text), or punctuation is cut off too. Without: words for tmx and xliff, "
            "else blanks.",
            group=INPUT,
        ),
    ] = None,
    reading: PairReading,
    spending: Spending,
    as_json: AsJson = False,
) -> None:
    """Cut a parallel text into loose phrase pairs, shuffled, with a share left out.

    The phrases leave in clear and can partly be put together again: run `fragments risk` on the result. With --epsilon only
    frequent phrase pairs leave, and which ones they are is protected for each sentence pair.

    Example: textveil fragments make memory.tmx -o pieces --cut apart --longest 3
    """
    from textveil.fragments.mechanism import Fragments
    from textveil.recipes.fragments.make import FragmentsJob, make_fragments
    from textveil.recipes.pii.recogniser_choice import RecogniserChoice

    file = reading.file(source, target)
    by_format = "blanks" if file.kind == "lines" else "words"
    wanted = Fragments(
        longest, shortest, None, cut.value, drop, drop_by.value, unique, tags, decoys, epsilon, delta, distinct,
        tokens=by_format if tokens is None else tokens.value,
    )  # fmt: skip
    job = FragmentsJob(
        file, out, wanted, symmetry.value, alignment, None if align_on is None else reading.file(align_on), aligner.value,
        RecogniserChoice(tuple(names)) if names else None, glossary, allow_large_delta, **plain(spending),
    )  # fmt: skip
    result = make_fragments(job, bar=bars(quiet=as_json))
    lines = [f"{result['released']:,} phrase pairs: {out}/data.jsonl"]
    more = [
        f"private:  {result['pairs']:,} sentence pairs gave {result['phrases']:,} phrases (for you, not in the release)"
    ]
    if names:
        more.append(f"names:    {result['with_names']:,} phrases with a recognised name or number were left out")
    again = command_line("fragments", "risk", out, "--truth", source)
    print_release(result, out, lines, as_json=as_json, more=more, next=again)
