"""`textveil pii find` and `pii policy`: where personal data stands, and which kinds of it are looked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textveil.cli.options import AsJson, IdField, Reading, Source, names_of, option, plain
from textveil.cli.output import print_result
from textveil.cli.progress import bars

if TYPE_CHECKING:
    from textveil.recipes.pii.recogniser_choice import RecogniserChoice

RECOGNISERS = "Recognisers"
MODELS = (
    "patterns (rules with checksums), presidio (where it is installed), or the folder of a model that pii train made"
)


@dataclass(frozen=True)
class Recognising:
    """Which recognisers are used, and for which kinds."""

    model: Annotated[
        list[str] | None,
        option(f"{MODELS}. May be given several times: the surest finding stays.", metavar="NAME", group=RECOGNISERS),
    ] = None
    labels: Annotated[
        str | None, option("Only these kinds, e.g. PERSON,EMAIL_ADDRESS. Without: all.", group=RECOGNISERS)
    ] = None
    policy: Annotated[
        str | None, option("Only the kinds that this policy names: hipaa.", metavar="NAME", group=RECOGNISERS)
    ] = None
    thresholds: Annotated[
        str | None,
        option("The least score of some kinds, e.g. PHONE_NUMBER=0.7,AGE=0.9. Without: 0.5.", group=RECOGNISERS),
    ] = None

    def choice(self, by_default: tuple[str, ...] = ("patterns",)) -> RecogniserChoice:
        """The choice as recipes take it."""
        from textveil.recipes.pii.recogniser_choice import RecogniserChoice, thresholds_of

        labels = () if self.labels is None else names_of(self.labels)
        return RecogniserChoice(tuple(self.model or by_default), labels, self.policy, thresholds_of(self.thresholds))


def find(
    source: Source,
    out: Annotated[
        Path,
        typer.Option("-o", "--out", metavar="SPANS", help="The jsonl file to make; must not exist. As private as IN."),
    ],
    *,
    recognising: Recognising,
    reading: Reading,
    id_field: IdField = None,
    as_json: AsJson = False,
) -> None:
    """Find personal data in documents: one line a finding, with its place, kind, score, rule and the words that counted.

    Example: textveil pii find letters.jsonl -o spans.jsonl --model patterns
    """
    from textveil.recipes.new_documents import NewDocuments
    from textveil.recipes.pii.find import FindJob, find_spans

    documents = NewDocuments(source, id_field, **plain(reading))
    result = find_spans(FindJob(documents, out, recognising.choice()), bar=bars(quiet=as_json))
    kinds = ", ".join(f"{count:,} {label}" for label, count in result["labels"].items()) or "nothing"
    lines = [
        f"{result['spans']:,} findings in {result['documents']:,} documents "
        f"({result['words_per_second']:,.0f} words a second)",
        f"found:   {kinds}",
        f"{out} tells about your texts: only you can read it",
    ]
    print_result(result, lines, as_json=as_json)


def policy(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A policy: hipaa.")],
    model: Annotated[list[str] | None, option(f"{MODELS}. May be given several times.", metavar="NAME")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the types of identifiers that a policy names, and which are found by rule, by model, or not at all.

    Example: textveil pii policy hipaa
    """
    from textveil.recipes.pii.recogniser_choice import policy_table

    chosen, rows = policy_table(name, model or ("patterns",))
    lines = [
        chosen.title,
        *(f"{row['found']:<22} {row['type']}{'; ' if row['note'] else ''}{row['note']}" for row in rows),
    ]
    print_result({"policy": chosen.name, "title": chosen.title, "types": rows}, lines, as_json=as_json)
