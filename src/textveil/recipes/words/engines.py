"""Who draws the words of a file: this process, several on this machine, or Ray.

The journey cuts a file into parts (consecutive records) and hands them to an engine, which gives them back veiled and in
order. Where the cuts are depends on the file alone, and a draft's seed is derived for each part, so an engine changes nothing
but the time it takes.

A worker that dies (killed, out of memory) takes its noise with it, and nothing of that part was released: the part is drawn
again by a new worker. The charge covers one release of each word, which is all there will be.
"""

from __future__ import annotations

import os
import signal
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process
from typing import Any, NamedTuple, Self, TypeVar

from textveil.accounting.account import PartNoise
from textveil.core import BadInput, TextveilError, UnknownName
from textveil.core.params import positive_integer
from textveil.noise import secure
from textveil.recipes.publish import StoppedRun
from textveil.text import tokens
from textveil.words.mechanism import Veiled, WordMechanism

Answer = TypeVar("Answer")

ENGINES = ("local", "ray")
WAITING_PER_WORKER = 3  # parts read ahead: enough to keep all busy, few enough to keep memory flat
MOST_DEATHS = 3  # in a row, without a part finished in between
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # a worker is one core's worth


class WorkersDied(StoppedRun):
    """New workers die as well. What is finished stays for the next run."""


class TextPart(NamedTuple):
    """The texts of consecutive records."""

    number: int
    texts: Sequence[str]


class VeiledPart(NamedTuple):
    """The same texts with their words drawn, and how many words there are."""

    number: int
    texts: list[str]
    words: int


def veil_part(mechanism: WordMechanism, part: TextPart, noise: PartNoise) -> VeiledPart:
    """Draw the words of one part."""
    veiled = mechanism.apply(part.texts, noise=noise.of(part.number))
    if isinstance(veiled, Veiled):
        return VeiledPart(part.number, list(veiled), veiled.words)
    return VeiledPart(part.number, veiled, sum(len(tokens.words(text)) for text in part.texts))


class Engine(ABC):
    """A context manager: what it started, it ends."""

    def __init__(self, mechanism: WordMechanism):
        self._mechanism = mechanism

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:  # noqa: B027 (not every engine has something to end)
        """End what was started."""

    def ask(self, question: Callable[[WordMechanism], Answer]) -> Answer:
        """Answer a question about the mechanism where its search is ready; it is public and sees no text."""
        return question(self._mechanism)

    @abstractmethod
    def veil(self, parts: Iterable[TextPart], noise: PartNoise) -> Iterator[VeiledPart]:
        """The parts veiled, in their order, taken from `parts` no faster than they are worked on."""


def open_engine(
    mechanism: WordMechanism, *, engine: str = "local", workers: int = 1, address: str | None = None
) -> Engine:
    """The engine of that name, starting up in the background where it has processes to start."""
    positive_integer("workers", workers)
    if engine not in ENGINES:
        raise UnknownName("engine", engine, ENGINES)
    if engine == "ray":
        from textveil.recipes.words.ray_engine import RayEngine

        return RayEngine(mechanism, workers, address)
    if address is not None:
        raise BadInput("an address is only for --engine ray")
    return InProcess(mechanism) if workers == 1 else Workers(mechanism, workers)


class InProcess(Engine):
    """One worker is this process itself."""

    def veil(self, parts: Iterable[TextPart], noise: PartNoise) -> Iterator[VeiledPart]:
        for part in parts:
            yield veil_part(self._mechanism, part, noise)


class Workers(Engine):
    """Several processes, each with the mechanism and a secure source of its own. Only texts travel."""

    def __init__(self, mechanism: WordMechanism, workers: int):
        super().__init__(mechanism)
        self._workers = workers
        self._pool = self._start()

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def ask(self, question: Callable[[WordMechanism], Answer]) -> Answer:
        """A worker answers: building the search a second time, here, would keep all workers waiting."""
        try:
            return self._pool.submit(_answer_here, question).result()
        except BrokenProcessPool:
            self._pool = self._start()
            return super().ask(question)

    def veil(self, parts: Iterable[TextPart], noise: PartNoise) -> Iterator[VeiledPart]:
        source, waiting = iter(parts), deque[tuple[TextPart, Future[VeiledPart]]]()
        deaths = 0
        while True:
            try:
                self._read_ahead(source, waiting, noise)
                if not waiting:
                    return
                done = waiting[0][1].result()
            except BrokenProcessPool:
                deaths += 1
                if deaths == MOST_DEATHS:
                    raise WorkersDied(
                        f"workers died {deaths} times in a row (killed, or out of memory)",
                        possible="fewer --workers; the same command goes on where this one ended",
                    ) from None
                waiting = self._start_again(waiting, noise)
                continue
            waiting.popleft()
            deaths = 0
            yield done

    def _read_ahead(
        self, source: Iterator[TextPart], waiting: deque[tuple[TextPart, Future[VeiledPart]]], noise: PartNoise
    ) -> None:
        while len(waiting) < WAITING_PER_WORKER * self._workers:
            part = next(source, None)
            if part is None:
                return
            waiting.append((part, Future()))  # noted first: a part is not lost when the pool turns out to be broken
            waiting[-1] = (part, self._pool.submit(_veil_here, part, noise))

    def _start(self) -> ProcessPoolExecutor:
        pool = ProcessPoolExecutor(
            self._workers, mp_context=get_context("spawn"), initializer=_begin, initargs=(self._mechanism,)
        )
        with _one_thread_each():
            pool.submit(_nothing)  # the first task starts all processes
        return pool

    def _start_again(
        self, waiting: deque[tuple[TextPart, Any]], noise: PartNoise
    ) -> deque[tuple[TextPart, Future[VeiledPart]]]:
        """A new pool for what the dead one did not finish. What it did finish stays as it is."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = self._start()

        def again(part: TextPart, old: Any) -> Future[VeiledPart]:
            return old if _succeeded(old) else self._pool.submit(_veil_here, part, noise)

        return deque((part, again(part, old)) for part, old in waiting)


def _succeeded(future: Future[VeiledPart]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started inside use one thread for matrix products, unless the user has said otherwise."""
    unset = [name for name in _ONE_THREAD if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield
    finally:
        for name in unset:
            del os.environ[name]


# ---- inside a worker ---------------------------------------------------------------------------------------------

_mechanism: WordMechanism


def _begin(mechanism: WordMechanism) -> None:
    """Keep the mechanism, get its search ready; leave Ctrl-C to the main process and end when that one ends."""
    global _mechanism
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _mechanism = mechanism
    warm_up(mechanism)


def warm_up(mechanism: WordMechanism) -> None:
    """Build the search and load its compiled code, with a public word."""
    mechanism.apply([str(mechanism.vectors_.words[0])], noise=secure())


def _nothing() -> None:
    """A task that only starts the workers."""


def _answer_here(question: Callable[[WordMechanism], Answer]) -> Answer:
    return question(_mechanism)


def _veil_here(part: TextPart, noise: PartNoise) -> VeiledPart:
    return without_values(veil_part, _mechanism, part, noise)


def without_values(work: Any, *arguments: Any) -> Any:
    """Call `work`; an unexpected error crosses to another process, and maybe into a log, without its message."""
    try:
        return work(*arguments)
    except TextveilError as error:
        raise BadInput(str(error)) from None  # other kinds lose their way back: pickle keeps only the sentence
    except Exception as error:
        raise RuntimeError(f"a worker met {type(error).__name__}") from None


def _end_with_parent() -> None:
    """A main process that is killed cannot end its workers: they watch it."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
