"""`textveil pii annotate` and `pii infobox`: marks from records, and records from pages of Wikipedia."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.choices import AnnotationOutput
from textveil.cli.options import AsJson, Format, Header, Source, TextField, option
from textveil.cli.output import print_result
from textveil.cli.progress import bars

PrivateFile = Annotated[
    Path, typer.Option("-o", "--out", metavar="FILE", help="The file to make; must not exist. As private as IN.")
]


def annotate(
    source: Source,
    records: Annotated[
        Path, option("What is known of the people: jsonl or csv, one row a document or person, with its id.")
    ],
    out: PrivateFile,
    output: Annotated[
        AnnotationOutput, option("One object a span, or a token and its tag a line (CoNLL).", "--output")
    ] = AnnotationOutput.SPANS,
    field: Annotated[
        list[str] | None,
        option(
            "How a field is marked, e.g. mother=PR:person, or notes=- to leave it out. May be repeated.", metavar="RULE"
        ),
    ] = None,
    model: Annotated[
        str | None,
        option(
            "A recogniser (the folder of a tagger, names, presidio) whose people and organisations are candidates too.",
            metavar="MODEL",
        ),
    ] = None,
    threshold: Annotated[float, option("The least chance at which a span is kept, 0 to 1.")] = 0.5,
    text_field: TextField = None,
    id_field: Annotated[str, option("The field that names a document.")] = "id",
    format: Format = None,
    header: Header = None,
    as_json: AsJson = False,
) -> None:
    """Mark in documents what records say about their people: names, dates, schools, places and other values.

    Records that name unknown documents are refused. The file that is made is as private as the documents.

    Example: textveil pii annotate letters.jsonl --records records.jsonl -o spans.jsonl
    """
    from textveil.core.params import fraction
    from textveil.pii.annotate.fields import parse_rules
    from textveil.recipes.pii.annotate import AnnotateJob, annotate_file

    fraction("threshold", threshold)
    rules = parse_rules(field or ())
    job = AnnotateJob(source, records, out, output.value, rules, threshold, text_field, id_field, format, header, model)
    result = annotate_file(job, bars(quiet=as_json))
    by_label = ", ".join(f"{label} {count:,}" for label, count in result["labels"].items()) or "none"
    lines = [f"{result['spans']:,} spans in {result['documents']:,} documents: {by_label}"]
    if result["documents_without_record"]:
        lines.append(f"{result['documents_without_record']:,} documents have no record, so nothing is marked in them")
    lines.append(f"look at them: textveil pii review STORE --documents {source} --spans {out}")
    print_result(result, lines, as_json=as_json)


def infobox(
    pages: Annotated[Path, typer.Argument(metavar="PAGES", help="jsonl: id, and a page as HTML or wikitext.")],
    out: PrivateFile,
    page_field: Annotated[
        str | None, option("The field that holds the page. Without: 'text', or the only one.")
    ] = None,
    title_field: Annotated[str | None, option("The field that holds the title: a further name of the person.")] = None,
    as_json: AsJson = False,
) -> None:
    """Read the infoboxes of Wikipedia pages into records that pii annotate takes. The birthplace is left out.

    Example: textveil pii infobox pages.jsonl -o records.jsonl
    """
    from textveil.recipes.pii.infobox import infobox_records

    result = infobox_records(pages, out, page_field=page_field, title_field=title_field)
    lines = [f"{result['pages']:,} records, {result['pages_without_values']:,} of them without a value: {out}"]
    print_result(result, lines, as_json=as_json)
