"""The ServerApp: Flower's entry to the round loop, in a simulation and in a deployment alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .book import Book
from .rounds import Federation, Roster, run_rounds
from .state import RoundState

if TYPE_CHECKING:
    from flwr.app import Context
    from flwr.serverapp import Grid, ServerApp


def make_server_app(
    federation: Federation,
    book: Book,
    *,
    roster: Callable[[Grid], Roster] = Roster.anywhere,
    finished: Callable[[RoundState], None] = lambda state: None,
    **more: Any,
) -> ServerApp:
    """A Flower ServerApp that runs the rounds; `more`: watch, tap, progress, stop of `run_rounds`. `finished` gets the
    last state, since a ServerApp returns nothing."""
    from flwr.serverapp import ServerApp

    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        finished(run_rounds(grid, federation, book, roster=roster(grid), **more))

    return app
