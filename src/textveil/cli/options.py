"""Options that several verbs have, declared once, and groups of them that a verb takes as one value.

    app = Verbs("Counts of words.")

    @app.command()
    def count(source: Source, out: Out, *, reading: Reading, spending: Spending, as_json: AsJson = False) -> None: ...

`spread` (called by Verbs, verbs.py) turns the groups into their options for the command line; the verb receives the
filled group. The help shows each group under its own title.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from textveil.cli.choices import Case, Distance, Nulls, Oov, Quotes
from textveil.cli.streams import with_streams
from textveil.core.errors import BadInput

PROMISE, SHAPE, INPUT, PASSING, SPENDING, MODEL, TRAINING, RUNNING, PRINTING = (
    "The promise",
    "Parameters of some mechanisms only",
    "The input",
    "What may pass unprotected",
    "Ledger and randomness",
    "The model",
    "Training",
    "Speed",
    "Output",
)


def option(help: str, *names: str, group: str | None = None, metavar: str | None = None) -> Any:
    """An option with its sentence; an off-by-default flag is given its one name, so that it has no --no- form."""
    return typer.Option(*names, help=help, rich_help_panel=group, metavar=metavar)


Source = Annotated[
    Path,
    typer.Argument(
        metavar="IN",
        help="A file: csv, tsv, txt, json, jsonl, parquet or conll, also .gz, .bz2, .xz; or - and --format.",
    ),
]
Out = Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="The release folder to make; must not exist.")]
PrivateOut = Annotated[
    Path,
    typer.Option("-o", "--out", metavar="OUT", help="The folder to make; must not exist. It is as private as IN."),
]
AsJson = Annotated[bool, option("Print one JSON result instead of lines for people.", "--json", group=PRINTING)]
TextField = Annotated[
    str | None, option("The field or column that holds the text. Without: 'text', or the only one.", group=INPUT)
]
Format = Annotated[
    str | None,
    option(
        "Format of the input where its name does not tell: csv, tsv, txt, json, jsonl, parquet, conll.", group=INPUT
    ),
]
Header = Annotated[
    bool | None,
    option("csv and tsv: whether the first line names the columns. Asked for where it is unclear.", group=INPUT),
]
IdField = Annotated[
    str | None,
    option("The field that names a record in the output. Without: `id` in jsonl, else its number.", group=INPUT),
]
UserField = Annotated[str | None, option("The field that says who wrote a text, for --unit user.", group=INPUT)]
LabelField = Annotated[str, option("The field or column that holds the label.", group=INPUT)]
LedgerPath = Annotated[
    Path | None,
    option("Record what this costs in this ledger file (one per data set; made if it is missing).", group=SPENDING),
]
OtherData = Annotated[
    bool, option("Charge the ledger although it belongs to another data set.", "--other-data", group=SPENDING)
]
Unpriced = Annotated[
    bool,
    option("Allow a release that has no price although the ledger has budgets.", "--unpriced", group=SPENDING),
]
Seed = Annotated[
    int | None,
    option("Draw from this seed, to try things out: makes a draft that protects nobody.", group=SPENDING),
]
AllowLargeDelta = Annotated[
    bool,
    option(
        "Allow a delta of 1 / units or more, at which publishing one whole record would keep the promise.",
        "--allow-large-delta",
        group=PROMISE,
    ),
]
VectorFile = Annotated[str, option("Public word vectors: 'default' (30,000 English words) or a vector file.")]
Half = Annotated[bool, option("Store weights in 16 bits instead of 32.", "--half", group=PRINTING)]
SAMPLINGS = "[poisson|fixed]"  # not an enum: the room says why other ways to sample have no price
MECHANISMS = "words.brr, words.laplace, words.mahalanobis, words.vickrey, words.exponential or words.tem"
MechanismName = Annotated[
    str, option(f"How words are replaced: {MECHANISMS}, or one of another package.", metavar="NAME")
]
OwnParameters = Annotated[
    list[str] | None,
    option(
        "A parameter of a mechanism of another package, by its own name; repeat for several.",
        "--set",
        group=SHAPE,
        metavar="NAME=VALUE",
    ),
]


Encoding = Annotated[
    str | None, option("E.g. cp1252 or utf-16-le. Without: UTF-8, or what the file shows.", group=INPUT)
]


@dataclass(frozen=True)
class Reading:
    """How the input is read."""

    text_field: TextField = None
    format: Format = None
    header: Header = None
    delimiter: Annotated[
        str | None,
        option("csv and tsv: the sign that divides columns, e.g. ';' or tab. Without: read off the file.", group=INPUT),
    ] = None
    quotes: Annotated[
        Quotes | None,
        option(
            'csv and tsv: quotes inside of quotes are "" or \\", or nothing is quoted. Without: read off.', group=INPUT
        ),
    ] = None
    encoding: Encoding = None
    nulls: Annotated[
        Nulls, option("A record without a text (null): keep it as it is, or refuse the file.", group=INPUT)
    ] = Nulls.KEEP


@dataclass(frozen=True)
class Spending:
    """What is charged where, and what the noise is drawn from."""

    ledger: LedgerPath = None
    other_data: OtherData = False
    unpriced: Unpriced = False
    seed: Seed = None


@dataclass(frozen=True)
class Passing:
    """What of the input may leave as it is."""

    case: Annotated[
        Case,
        option(
            "Capitals: only where a sentence starts, none at all, or as in the input (then they are not protected).",
            group=PASSING,
        ),
    ] = Case.SENTENCE
    keep: Annotated[
        list[str] | None,
        option(
            "Words that pass unchanged and are not protected: a file, one word a line, or 'function-words' for the list that "
            "ships (the, of, she ...). May be given twice.",
            group=PASSING,
            metavar="FILE|function-words",
        ),
    ] = None
    once: Annotated[
        bool,
        option(
            "Draw each distinct word of a text once: repeats cannot be averaged, but it shows which places hold equal words.",
            "--once",
            group=PASSING,
        ),
    ] = False
    kinds: Annotated[
        bool,
        option(
            "Draw numbers, dates and codes within their kind (it shows which words they are, and their form).",
            "--kinds",
            group=PASSING,
        ),
    ] = False
    oov: Annotated[
        Oov,
        option(
            "A word outside the vocabulary: draw a word for it, or put one sign for all such words (it then shows that they "
            "are outside).",
            group=PASSING,
        ),
    ] = Oov.DRAW
    columns: Annotated[
        str | None,
        option("Only these other columns or fields leave with the text, e.g. id,date. Without: all do.", group=PASSING),
    ] = None
    only_text: Annotated[
        bool, option("No other column, field or metadata leaves with the text.", "--only-text", group=PASSING)
    ] = False

    def kept_columns(self) -> tuple[str, ...] | None:
        """Which columns leave with the text; None: all.

        >>> Passing(columns="id, date").kept_columns(), Passing(only_text=True).kept_columns()
        (('id', 'date'), ())
        """
        if self.only_text and self.columns is not None:
            raise BadInput("--only-text and --columns exclude each other", possible="one of them")
        if self.only_text:
            return ()
        return None if self.columns is None else names_of(self.columns)


@dataclass(frozen=True)
class NoiseShape:
    """Parameters of some word mechanisms that say what their noise is like; None: the mechanism's own."""

    lam: Annotated[
        float | None,
        option("words.mahalanobis: shape of the noise, 0 (round) to 1 (like the words).", "--lambda", group=SHAPE),
    ] = None
    distance: Annotated[
        Distance | None, option("words.exponential, words.tem: how the distance of words is measured.", group=SHAPE)
    ] = None
    gamma: Annotated[
        float | None, option("words.tem: beyond this distance all words are equally likely.", group=SHAPE)
    ] = None


@dataclass(frozen=True)
class MechanismShape(NoiseShape):
    """All parameters that only some word mechanisms have."""

    t: Annotated[
        float | None,
        option(
            "words.vickrey: how often the second nearest word is taken, 0 (never) to 1 (always).", "--t", group=SHAPE
        ),
    ] = None
    k: Annotated[int | None, option("words.vickrey: how many near words it chooses among.", "--k", group=SHAPE)] = None
    bits: Annotated[int | None, option("words.brr: length of a word's code, 64 to 512.", group=SHAPE)] = None
    paper_mode: Annotated[
        bool, option("words.vickrey as printed in its paper: carries no promise.", "--paper-mode", group=SHAPE)
    ] = False


def names_of(listed: str) -> tuple[str, ...]:
    """Names divided by commas.

    >>> names_of("id, date")
    ('id', 'date')
    """
    return tuple(name.strip() for name in listed.split(",") if name.strip())


def parameters_of(settings: Sequence[str]) -> dict[str, Any]:
    """Values by name: numbers, true and false, lists in JSON; whatever is no JSON is a string.

    >>> parameters_of(["share=0.3", "near=true", "by=sound"])
    {'share': 0.3, 'near': True, 'by': 'sound'}
    """
    values: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.isidentifier():
            raise BadInput(f"--set takes NAME=VALUE, not '{setting}'", possible="--set share=0.3")
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    return values


def plain(group: Any) -> dict[str, Any]:
    """The options of a group by name, choices as plain strings.

    >>> plain(Reading(nulls=Nulls.REFUSE))["nulls"]
    'refuse'
    """
    return {name: value_of(value) for name, value in asdict(group).items()}


def given(**options: Any) -> dict[str, Any]:
    """Those options that were given (not None), choices as plain strings.

    >>> given(text_field=None, nulls=Nulls.KEEP)
    {'nulls': 'keep'}
    """
    return {name: value_of(value) for name, value in options.items() if value is not None}


def value_of(value: Any) -> Any:
    """The plain value of a choice; everything else as it is."""
    return value.value if isinstance(value, StrEnum) else value


def spread(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb as the command line sees it: the options of a group in place of the group."""
    parameters = list(inspect.signature(verb, eval_str=True).parameters.values())
    groups: dict[str, Any] = {p.name: p.annotation for p in parameters if is_dataclass(p.annotation)}

    @wraps(verb)
    def flat(**options: Any) -> None:
        options = with_streams(options)
        for name, group in groups.items():
            options[name] = group(**{f.name: options.pop(f.name) for f in fields(group)})
        verb(**options)

    shown = [one for p in parameters for one in (_options_of(p.annotation) if p.name in groups else [p])]
    shown = [p.replace(kind=p.KEYWORD_ONLY) for p in shown]
    flat.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    flat.__annotations__ = {p.name: p.annotation for p in shown} | {"return": None}
    return flat


def _options_of(group: type) -> list[inspect.Parameter]:
    kinds = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=kinds[f.name])
        for f in fields(group)
    ]
