"""Parts veiled on Ray Data: several processes of this machine, or a cluster.

A reading task on this machine streams the parts (so only this machine needs the file), actors that hold the mechanism veil
them, and the results stream back in order. Ray restarts an actor that dies and gives its part to another one.

Where private text goes. Texts on their way lie in Ray's object store, which is shared memory; when that is full Ray writes
them to disk ("spilling"), so parts are small and few are under way. On this machine Ray gets a temporary folder that only
its owner can read, removed at the end. On a cluster (`address`) texts travel to its machines and lie in their object stores,
under its administrator's rules. Logs hold no text: errors of workers cross without their messages.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textveil.accounting.account import PartNoise
from textveil.core import BadInput
from textveil.core.params import install_hint
from textveil.recipes.words.engines import Engine, TextPart, VeiledPart, WorkersDied, veil_part, warm_up, without_values
from textveil.words.mechanism import WordMechanism

OBJECT_STORE_BYTES = 512 * 2**20
BLOCK_BYTES = 1 << 10  # less than any part: each part is a block, and goes to whichever worker is free
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_TQDM": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # lines to leave out: all of them
}


class RayEngine(Engine):
    """Ray is started (or joined) when the first part is asked for, and left when the engine is closed."""

    def __init__(self, mechanism: WordMechanism, workers: int, address: str | None):
        if importlib.util.find_spec("ray") is None or importlib.util.find_spec("pandas") is None:
            raise BadInput("engine 'ray' needs Ray Data, which is not installed", possible=install_hint("ray"))
        super().__init__(mechanism)
        self._workers, self._address = workers, address
        self._folder: Path | None = None
        self._joined = False

    def veil(self, parts: Iterable[TextPart], noise: PartNoise) -> Iterator[VeiledPart]:
        self._join()
        from ray.exceptions import RayActorError, RayError

        try:
            for row in self._data(parts, noise).iter_rows():
                yield VeiledPart(int(row["number"]), [str(text) for text in row["texts"]], int(row["words"]))
        except RayActorError:
            raise WorkersDied("workers died", possible="fewer --workers; the same command goes on") from None
        except RayError as error:
            raise _cause(error) from None

    def _data(self, parts: Iterable[TextPart], noise: PartNoise) -> Any:
        import ray.data
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        source = ray.data.read_datasource(
            _datasource(parts),
            override_num_blocks=1,
            ray_remote_args={"scheduling_strategy": here, "num_cpus": 0},
        )
        return source.map_batches(
            Veiler,
            fn_constructor_args=(self._mechanism, noise),
            batch_size=1,
            batch_format="pyarrow",
            concurrency=self._workers,
            num_cpus=1,
        )

    def _join(self) -> None:
        os.environ.update({name: value for name, value in _QUIET.items() if name not in os.environ})
        import ray
        import ray.data

        if not ray.is_initialized():
            with _hushed():
                ray.init(**self._start_options())
            self._joined = True
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
        context.target_max_block_size = BLOCK_BYTES
        logging.getLogger("ray.data").setLevel(logging.ERROR)

    def _start_options(self) -> dict[str, Any]:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": True}
        if self._address is not None:
            return options | {"address": self._address}
        self._folder = Path(tempfile.mkdtemp(prefix="veil-", dir=_short_folder()))
        return options | {
            "address": "local",
            "num_cpus": self._workers,
            "object_store_memory": OBJECT_STORE_BYTES,
            "include_dashboard": False,
            "_temp_dir": str(self._folder),
        }

    def close(self) -> None:
        if self._joined:
            import ray

            ray.shutdown()
            self._joined = False
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def _hushed() -> Iterator[None]:
    """Ray's core greets on the error stream, below Python; what goes wrong comes as an exception."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def _short_folder() -> str | None:
    """The name of a socket has at most 107 characters, of which Ray takes some 65 and our folder 15."""
    return None if len(tempfile.gettempdir()) < 25 else "/tmp"


class Veiler:
    """An actor: it gets the mechanism and its noise once, then parts."""

    def __init__(self, mechanism: WordMechanism, noise: PartNoise):
        self._mechanism, self._noise = mechanism, noise
        warm_up(mechanism)

    def __call__(self, table: Any) -> Any:
        parts = [TextPart(r["number"], r["texts"]) for r in table.to_pylist()]
        return _table([without_values(veil_part, self._mechanism, part, self._noise) for part in parts])


def _table(rows: list[Any]) -> Any:
    """Rows of named tuples as an arrow table."""
    import pyarrow as pa

    kinds = {"number": pa.int64(), "texts": pa.large_list(pa.large_string()), "words": pa.int64()}
    return pa.table({name: pa.array([getattr(r, name) for r in rows], kinds[name]) for name in rows[0]._fields})


def _datasource(parts: Iterable[TextPart]) -> Any:
    """A Ray data source that streams the parts from one task."""
    from ray.data import Datasource, ReadTask
    from ray.data.block import BlockMetadata

    class Stream(Datasource):
        def estimate_inmemory_data_size(self) -> None:
            return None

        def get_read_tasks(self, parallelism: int, *args: Any, **options: Any) -> list[ReadTask]:
            nothing_known = BlockMetadata(num_rows=None, size_bytes=None, exec_stats=None, input_files=None)
            return [ReadTask(lambda: (_table([part]) for part in parts), nothing_known)]

    return Stream()


def _cause(error: Exception) -> Exception:
    """Our own error inside Ray's, or Ray's name without its message."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, BadInput):
        return BadInput(str(cause))
    return RuntimeError(f"Ray stopped with {type(cause or error).__name__}")
