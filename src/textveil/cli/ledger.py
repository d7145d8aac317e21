"""textveil ledger: make, show and check the account of one data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textveil.cli.choices import BudgetAdjacency
from textveil.cli.options import AsJson, option, value_of
from textveil.cli.output import print_json
from textveil.cli.verbs import Verbs
from textveil.core.errors import BadInput
from textveil.core.files import write_whole
from textveil.core.units import Unit

if TYPE_CHECKING:
    from textveil.accounting.ledger import Ledger

app = Verbs("The account of one data set: what was released from it, what that cost, what may still be spent.")

LedgerFile = Annotated[Path, typer.Argument(metavar="LEDGER", help="The ledger file, e.g. notes.ledger.")]
Epsilon = Annotated[float | None, option("Largest total epsilon that may be spent.")]
Delta = Annotated[float, option("Largest total delta; 0 allows pure promises only.")]
UnitName = Annotated[Unit | None, option("Whom the budget protects. Without: no budget, it only keeps track.")]
MetricName = Annotated[
    str | None,
    option(
        "For releases of veil: the distance that epsilon is counted per step of.",
        metavar="[hamming|euclidean|angular|mahalanobis]",
    ),
]
AdjacencyName = Annotated[
    BudgetAdjacency | None,
    option("Only promises that compare such worlds; without it all of them together."),
]
Precision = Annotated[int | None, option("For releases of counts: the N that epsilon is read at.", metavar="N")]


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
    """Make a ledger.

    Without a unit it has no budget and only keeps track; with one it refuses whatever the budget does not cover.

    Example: textveil ledger new notes.ledger --unit word --metric hamming --epsilon 0.8
    """
    from textveil.accounting.ledger import Ledger

    ledger = Ledger.new(
        path,
        unit=value_of(unit),
        epsilon=epsilon,
        delta=delta or None,
        metric=metric,
        adjacency=value_of(adjacency),
        precision=precision,
    )
    typer.echo(f"made {path} ({_sentence(ledger)})")


@app.command("allow")
def allow(
    path: LedgerFile,
    unit: Annotated[Unit, option("Whom the budget protects.")],
    epsilon: Annotated[float, option("Largest total epsilon that may be spent.")],
    delta: Delta = 0.0,
    metric: MetricName = None,
    adjacency: AdjacencyName = None,
    precision: Precision = None,
) -> None:
    """Add a budget, or replace the one for the same unit and metric.

    The old line stays in the chain, so that a raised budget can be seen.

    Example: textveil ledger allow notes.ledger --unit user --epsilon 8 --delta 1e-6
    """
    ledger = _existing(path)
    budget = ledger.allow(
        unit=unit.value, epsilon=epsilon, delta=delta, metric=metric, adjacency=value_of(adjacency), precision=precision
    )
    typer.echo(f"{path} allows epsilon {budget.epsilon:g}, delta {budget.delta:g} ({budget.scope})")


@app.command("show")
def show(
    path: LedgerFile,
    delta: Annotated[
        float | None,
        option("Noise of several releases is added up at this delta. Without: that of the budget, or 1e-6."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show totals per unit, what is left of each budget, and every release with its date and what it cost by itself.

    The single costs may come to more than the total: noise of several trainings costs less together.

    Example: textveil ledger show notes.ledger
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
    release: Annotated[
        Path | None,
        typer.Option(help="A release folder: the ledger must still hold its charge and all lines before it."),
    ] = None,
) -> None:
    """Check the hash chain; names the first line that was altered, removed or moved.

    A file that was cut short or rewritten as a whole is noticed only against something kept elsewhere: a release that was
    charged to it (--release), or a head that an earlier verify or export printed (--head).

    Example: textveil ledger verify notes.ledger
    """
    ledger = _existing(path)
    verified_head = ledger.verify(head)
    if release is not None:
        release_head, entry = _anchor_of(release)
        ledger.verify(release_head, entry=entry)
    typer.echo(f"{path}: all {verified_head.partition(':')[0]} lines hold; head {verified_head}")


@app.command("export")
def export(
    path: LedgerFile,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write (default: print).")] = None,
) -> None:
    """Write every line as JSON, one per line, and the head at the end. The secret key of the ledger is not exported.

    Example: textveil ledger export notes.ledger -o notes-ledger.jsonl
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


def _anchor_of(folder: Path) -> tuple[str, str]:
    """The full head and the id of the charge that a release keeps."""
    from textveil.core.release import read_manifest

    manifest = read_manifest(folder)
    head, entry = manifest.get("head"), manifest.get("entry")
    if not isinstance(head, str) or not isinstance(entry, str):
        raise BadInput("keeps no head of a ledger", where=folder, possible="a release that was charged to a ledger")
    return head, entry


def _write_new(path: Path, text: str) -> None:
    """In one step, and never over something else."""
    if path.exists():
        raise BadInput("exists already", where=path, possible="a new name, or remove it first")
    try:
        write_whole(path, text)
    except OSError as error:
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
    for sentence in dict.fromkeys(note for total in state["totals"] for note in total["notes"]):
        console.print(f"note: {sentence}", markup=False)
    for sentence in state["unconverted"]:
        console.print(f"note: {sentence}", markup=False)
    for unit, joint in state["joint"].items():
        console.print(f"joint loss per {unit}: {joint} (each * distance in its own metric)", markup=False)
    if state["budgets"]:
        console.print(_budgets_table(state))
    else:
        console.print("no budget: this ledger only keeps track", markup=False)
    if state["releases"]:
        console.print(_releases_table(state))


def _totals_table(state: dict[str, Any]) -> Any:
    from textveil.core.losses import loss_from_json

    rows = [
        (t["unit"], t["adjacency"], _short(t["loss"]), _charges(t), loss_from_json(t["loss"]).sentence())
        for t in state["totals"]
    ]
    return _table(f"totals of ledger '{state['ledger']}'", ("unit", "adjacency", "loss", "charges", "meaning"), rows)


def _charges(total: dict[str, Any]) -> str:
    larger = total["from_larger"]
    return f"{total['charges']}" + (f" ({larger} for larger units)" if larger else "")


def _budgets_table(state: dict[str, Any]) -> Any:
    from textveil.core.losses import downward

    rows = [
        (
            b["unit"],
            b.get("metric") or b.get("adjacency") or "any",
            f"{b['epsilon']:g}" + (f" at N = {b['precision']}" if "precision" in b else ""),
            f"{b['delta']:g}",
            _upward(b["spent"]),
            downward(b["left"], 6),
        )
        for b in state["budgets"]
    ]
    return _table("budgets", ("unit", "metric or adjacency", "epsilon", "delta", "spent", "left"), rows)


def _releases_table(state: dict[str, Any]) -> Any:
    rows = [(r["created"][:10], r["note"], r["mechanism"], r["unit"], _cost(r), r["id"]) for r in state["releases"]]
    return _table("releases, and what each cost by itself", ("date", "what", "mechanism", "unit", "cost", "line"), rows)


def _cost(row: dict[str, Any]) -> str:
    """Its own price; what has none is in no sum."""
    return _short(row["loss"]) if row["label"] == "guarantee" else f"no price ({row['label']}), in no sum"


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
    shown = [f"epsilon {_upward(loss['epsilon'])}"]
    if loss.get("delta"):
        shown.append(f"delta {_upward(loss['delta'])}")
    if "metric" in loss:
        shown.append(loss["metric"] + (f" [{loss['metric_id'][:8]}]" if loss.get("metric_id") else ""))
    if "n" in loss:
        shown.append(f"at N = {loss['n']}")
    return ", ".join(shown)


def _upward(value: float | str) -> str:
    from textveil.core.losses import upward

    return value if isinstance(value, str) else upward(value, 6)
