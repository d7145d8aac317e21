"""The same ServerApp and ClientApp on one machine: in this process, or on Flower's simulation (Ray), a few actors.

Where private text goes: each actor opens the data by itself, so no text lies in Ray's object store or in its folder; weights
and updates do, in shared memory and a folder for its owner only, which is removed at the end. One node per actor: a node per
user would cost about 130 ms a user, so a node gets a list of users instead.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textveil.core import BadInput
from textveil.core.params import needs

if TYPE_CHECKING:
    from flwr.clientapp import ClientApp
    from flwr.serverapp import Grid

PATIENCE = 300  # seconds
_PREFIX = "textveil-"
OBJECT_STORE_BYTES = 512 * 2**20
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
    "RAY_worker_niceness": "0",  # Ray's default is 15: on a busy machine its actors would starve
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
}


def simulate(run: Callable[[Grid], Any], client_app: ClientApp, workers: int) -> Any:
    """What `run(grid)` returns, with so many workers: 0 keeps everything in this process.

    Errors and Ctrl-C within `run` come out as they are, after Ray has ended.
    """
    needs("federated", "flwr", "torch")
    os.environ.update({name: value for name, value in _QUIET.items() if name not in os.environ})
    if workers == 0:
        from .in_process import InProcessGrid

        return run(InProcessGrid(client_app))
    return _on_ray(run, client_app, workers)


def _on_ray(run: Callable[[Grid], Any], client_app: ClientApp, workers: int) -> Any:
    needs("federated", "ray")
    from flwr.app import Context
    from flwr.serverapp import ServerApp

    outcome: dict[str, Any] = {}
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        try:
            _await_nodes(grid, workers)
            outcome["value"] = run(grid)
        except BaseException as error:  # a thread of Flower's would swallow Ctrl-C and wrap the rest
            outcome["error"] = error

    with _quiet(), _own_folder() as folder:
        from flwr.simulation import run_simulation

        config: Any = {"init_args": _start(workers, folder), "client_resources": {"num_cpus": 1, "num_gpus": 0}}
        run_simulation(app, client_app, num_supernodes=workers, backend_config=config)
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


def _await_nodes(grid: Grid, count: int) -> None:
    """Flower registers its nodes while the server begins: a round that is sent before goes to nobody."""
    end = time.monotonic() + PATIENCE
    while len(list(grid.get_node_ids())) < count:
        if time.monotonic() > end:
            raise BadInput(f"Flower's simulation did not start {count} nodes within {PATIENCE} seconds")
        time.sleep(0.05)


def _start(workers: int, folder: str) -> dict[str, Any]:
    return {
        "num_cpus": workers,
        "object_store_memory": OBJECT_STORE_BYTES,
        "include_dashboard": False,
        "log_to_driver": False,
        "logging_level": logging.ERROR,
        "_temp_dir": folder,
    }


@contextmanager
def _own_folder() -> Iterator[str]:
    """A folder for Ray that only its owner can read; its name is short, since sockets lie in it."""
    short = Path("/tmp") if os.access("/tmp", os.W_OK) else Path(tempfile.gettempdir())
    _sweep(short)
    folder = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=short)
    try:
        yield folder
    finally:
        import ray

        if ray.is_initialized():
            ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(place: Path) -> None:
    """Remove the folders of our own earlier processes that were killed: they could not do it."""
    for left in place.glob(f"{_PREFIX}*-*"):
        number = left.name.removeprefix(_PREFIX).partition("-")[0]
        if number.isdigit() and left.stat().st_uid == os.getuid() and not Path(f"/proc/{number}").exists():
            shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _quiet() -> Iterator[None]:
    """Flower's log lines belong to nobody here: progress and errors are told by the command."""
    loggers = [logging.getLogger(name) for name in ("flwr", "ray")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
