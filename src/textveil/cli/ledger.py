"""textveil ledger: make, show and check the account of one data set."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textveil.cli.output import print_json
from textveil.core.errors import BadInput

if TYPE_CHECKING:
    from textveil.accounting.ledger import Ledger

app = typer.Typer(
    help="The account of one data set: what was released from it, what that cost, what may still be spent.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

LedgerFile = Annotated[Path, typer.Argument(metavar="LEDGER", help="The ledger file, e.g. notes.ledger.")]
Epsilon = Annotated[float | None, typer.Option(help="Largest total epsilon.")]
Delta = Annotated[float, typer.Option(help="Largest total delta; 0 allows pure promises only.")]
UnitName = Annotated[
    str | None, typer.Option("--unit", help="word, term, example, document, user, client or party.", show_default=False)
]
MetricName = Annotated[
    str | None,
    typer.Option(
        "--metric",
        help="For metric privacy: hamming, euclidean ... (bounds all vectors of that name).",
        show_default=False,
    ),
]
AdjacencyName = Annotated[
    str | None,
    typer.Option(
        "--adjacency", help="add_remove, replace or zero_out; left out: all of them together.", show_default=False
    ),
]
Precision = Annotated[
    int | None,
    typer.Option("--precision", help="For counts: the distance N that epsilon is read at.", show_default=False),
]


@app.command("new")
def new(
    path: LedgerFile,
    unit: UnitName = None,
    epsilon: Epsilon = None,
    delta: Delta = 0.0,
    metric: MetricName = None,
    adjacency: AdjacencyName = None,
    precision: Precision = None,
) -> None:
    """textveil ledger new notes.ledger --unit word --metric hamming --epsilon 0.8

    Make a ledger. Without a unit it has no budget and only keeps track; with one it refuses whatever the budget does not
    cover.
    """
    from textveil.accounting.ledger import Ledger

    ledger = Ledger.new(
        path,
        unit=unit,
        epsilon=epsilon,
        delta=delta or None,
        metric=metric,
        adjacency=adjacency,
        precision=precision,
    )
    typer.echo(f"made {path} ({_sentence(ledger)})")


@app.command("allow")
def allow(
    path: LedgerFile,
    unit: Annotated[str, typer.Option("--unit", help="word, term, example, document, user, client or party.")],
    epsilon: Annotated[float, typer.Option(help="Largest total epsilon.")],
    delta: Delta = 0.0,
    metric: MetricName = None,
    adjacency: AdjacencyName = None,
    precision: Precision = None,
) -> None:
    """textveil ledger allow notes.ledger --unit user --epsilon 8 --delta 1e-6

    Add a budget, or replace the one for the same unit and metric. The old line stays in the chain, so that a raised budget
    can be seen.
    """
    ledger = _existing(path)
    budget = ledger.allow(
        unit=unit, epsilon=epsilon, delta=delta, metric=metric, adjacency=adjacency, precision=precision
    )
    typer.echo(f"{path} allows epsilon {budget.epsilon:g}, delta {budget.delta:g} ({budget.scope})")


@app.command("show")
def show(
    path: LedgerFile,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    delta: Annotated[
        float | None, typer.Option(help="Delta to read composed noise at (default: that of the budget, or 1e-6).")
    ] = None,
) -> None:
    """textveil ledger show notes.ledger

    Totals per unit, what is left of each budget, and the releases that no theorem prices.
    """
    state = _existing(path).state(delta)
    if as_json:
        print_json(state)
    else:
        _print_tables(state)


@app.command("verify")
def verify(
    path: LedgerFile,
    head: Annotated[str | None, typer.Option(help="A head (count:hash) that was kept elsewhere.")] = None,
) -> None:
    """textveil ledger verify notes.ledger

    Check the hash chain; names the first line that was altered, removed or moved. A file that was rewritten as a whole is
    noticed only with --head, the line that an earlier verify or export printed.
    """
    found = _existing(path).verify(head)
    typer.echo(f"{path}: all {found.partition(':')[0]} lines hold; head {found}")


@app.command("export")
def export(
    path: LedgerFile,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write (default: print).")] = None,
) -> None:
    """textveil ledger export notes.ledger -o notes-ledger.jsonl

    Every line as JSON, one per line, and the head at the end. The secret key of the ledger is not exported.
    """
    text = "".join(line + "\n" for line in _existing(path).export())
    if output is None:
        typer.echo(text, nl=False)
    else:
        _write_new(output, text)
        typer.echo(f"wrote {output}", err=True)


def _existing(path: Path) -> Ledger:
    from textveil.accounting.ledger import Ledger

    return Ledger(path, must_exist=True)


def _write_new(path: Path, text: str) -> None:
    """In one step, and never over something else."""
    if path.exists():
        raise BadInput("exists already", where=path, possible="a new name, or remove it first")
    hidden = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        hidden.write_text(text, encoding="utf-8")
        os.replace(hidden, path)
    except OSError as error:
        hidden.unlink(missing_ok=True)
        raise BadInput(f"cannot be written ({error.strerror or 'system error'})", where=path) from None


def _sentence(ledger: Ledger) -> str:
    budgets = ledger.budgets()
    if not budgets:
        return "no budget: it only keeps track"
    return "; ".join(f"epsilon {b.epsilon:g}, delta {b.delta:g}, {b.scope}" for b in budgets)


def _print_tables(state: dict[str, Any]) -> None:
    from rich.console import Console

    console = Console()
    console.print(_totals_table(state))
    for unit, joint in state["joint"].items():
        console.print(f"joint loss per {unit}: {joint} (each * distance in its own metric)", markup=False)
    if state["budgets"]:
        console.print(_budgets_table(state))
    else:
        console.print("no budget: this ledger only keeps track", markup=False)
    if state["unpriced"]:
        console.print(_unpriced_table(state))


def _totals_table(state: dict[str, Any]) -> Any:
    from textveil.core.losses import loss_from_json

    rows = [
        (t["unit"], t["adjacency"], _short(t["loss"]), str(t["charges"]), loss_from_json(t["loss"]).sentence())
        for t in state["totals"]
    ]
    return _table(f"totals of ledger '{state['ledger']}'", ("unit", "adjacency", "loss", "charges", "meaning"), rows)


def _budgets_table(state: dict[str, Any]) -> Any:
    rows = [
        (
            b["unit"],
            b.get("metric") or b.get("adjacency") or "any",
            f"{b['epsilon']:g}" + (f" at N = {b['precision']}" if "precision" in b else ""),
            f"{b['delta']:g}",
            _number(b["spent"]),
            _number(b["left"]),
        )
        for b in state["budgets"]
    ]
    return _table("budgets", ("unit", "metric or adjacency", "epsilon", "delta", "spent", "left"), rows)


def _unpriced_table(state: dict[str, Any]) -> Any:
    rows = [(u["id"], u["created"], u["mechanism"], u["unit"], u["label"], u["note"]) for u in state["unpriced"]]
    return _table(
        "releases without a price (never summed)", ("id", "created", "mechanism", "unit", "kind", "note"), rows
    )


def _table(title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    return table


def _short(loss: dict[str, Any]) -> str:
    shown = [f"epsilon {_number(loss['epsilon'])}"]
    if loss.get("delta"):
        shown.append(f"delta {_number(loss['delta'])}")
    if "metric" in loss:
        shown.append(loss["metric"] + (f" [{loss['metric_id'][:8]}]" if loss.get("metric_id") else ""))
    if "n" in loss:
        shown.append(f"at N = {loss['n']}")
    return ", ".join(shown)


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"
