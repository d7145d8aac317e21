"""Ctrl-C waits for the end of a step, once."""

from __future__ import annotations

import signal
import threading

import pytest

from textveil.training.interrupts import Interrupts


@pytest.fixture(autouse=True)
def usual_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_first_waits_and_the_second_does_not():
    with Interrupts() as interrupts:
        assert not interrupts.asked
        signal.raise_signal(signal.SIGINT)
        assert interrupts.asked
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_the_handler_of_somebody_else_is_left_alone():
    heard = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)
    assert heard == [signal.SIGINT]
    assert not interrupts.asked


def test_another_thread_holds_nothing_back():
    asked = []

    def enter() -> None:
        with Interrupts() as interrupts:
            asked.append(interrupts.asked)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert asked == [False]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
