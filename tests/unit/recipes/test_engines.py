"""Engines give back the same parts in the same order, whatever happens to their workers."""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pytest
from waiting import wait_until

from textveil.accounting.account import PartNoise
from textveil.core import BadInput, UnknownName
from textveil.noise import seeded
from textveil.recipes.words import engines
from textveil.recipes.words.engines import TextPart, Workers, WorkersDied, open_engine
from textveil.text.vectors import from_arrays
from textveil.words import BRR

WORDS = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("ai", "eo", "iu")]


SECURE = PartNoise(None)


def mechanism(**parameters):
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 2**63, (len(WORDS), 2), dtype=np.uint64)
    return BRR(epsilon=0.1, **parameters).fit(from_arrays(WORDS, rng.normal(size=(len(WORDS), 4)), codes=codes))


def parts(count: int) -> list[TextPart]:
    return [TextPart(n, [" ".join(WORDS[n % 7 :]), f"{WORDS[n % 5]}!"]) for n in range(count)]


def test_a_draft_does_not_depend_on_the_number_of_workers():
    one, two = (open_engine(mechanism(seed=11), workers=workers) for workers in (1, 2))
    with one, two:
        assert list(one.veil(parts(12), PartNoise(11))) == list(two.veil(parts(12), PartNoise(11)))


def test_parts_of_a_draft_have_noise_of_their_own():
    with open_engine(mechanism(seed=11)) as engine:
        first, second = engine.veil([TextPart(0, [" ".join(WORDS)]), TextPart(1, [" ".join(WORDS)])], PartNoise(11))
    assert first.texts != second.texts
    assert first.words == second.words == len(WORDS)
    assert SECURE.of(0).seeded is False


def test_secure_workers_draw_differently():
    """Equal texts in 40 parts: the chance that any two agree is below 1e-30 (36 words, no word stays with odds above .5)."""
    with open_engine(mechanism(), workers=2) as engine:
        drawn = [part.texts[0] for part in engine.veil([TextPart(n, [" ".join(WORDS)]) for n in range(40)], SECURE)]
    assert len(set(drawn)) == 40


def test_parts_are_read_only_as_fast_as_they_are_veiled():
    taken = []

    def watched():
        for part in parts(60):
            taken.append(part.number)
            yield part

    with open_engine(mechanism(), workers=2) as engine:
        for done in engine.veil(watched(), SECURE):
            assert len(taken) <= done.number + engines.WAITING_PER_WORKER * 2 + 1
    assert taken == list(range(60))


def public_draw(mechanism) -> tuple[int, list[int]]:
    """Who answers, and what words become with noise that is no secret."""
    return os.getpid(), mechanism.draw(np.arange(len(WORDS)), seeded(3)).tolist()


def test_a_worker_answers_questions_about_the_mechanism():
    one, two = (open_engine(mechanism(), workers=workers) for workers in (1, 2))
    with one, two:
        (here, alone), (there, in_worker) = one.ask(public_draw), two.ask(public_draw)
    assert alone == in_worker and here == os.getpid() != there


def test_a_question_is_answered_although_the_workers_died():
    with open_engine(mechanism(), workers=2) as engine:
        engine.ask(public_draw)
        for child in active_children():
            os.kill(child.pid, signal.SIGKILL)
        assert len(engine.ask(public_draw)[1]) == len(WORDS)
        assert [part.number for part in engine.veil(parts(5), SECURE)] == list(range(5))


class Fatal(BRR):
    """Dies once, at the first part that holds the word it was told; the file remembers that it did."""

    def apply(self, data, *, noise):
        if any(self.deadly in text for text in data) and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().apply(data, noise=noise)


class AlwaysFatal(BRR):
    def apply(self, data, *, noise):
        os.kill(os.getpid(), signal.SIGKILL)


def fatal(cls, **attributes):
    made = mechanism(seed=2)
    made.__class__ = cls
    made.__dict__.update(attributes)
    return made


@pytest.fixture
def importable(monkeypatch):
    """Workers find the classes of this file."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import test_engines as known

    return known


def test_a_part_whose_worker_is_killed_is_drawn_again(tmp_path, importable):
    mark = tmp_path / "died"
    with open_engine(mechanism(seed=2)) as engine:
        expected = list(engine.veil([*parts(9), TextPart(9, ["zebulon"]), TextPart(10, ["baiai"])], PartNoise(2)))
    with Workers(fatal(importable.Fatal, deadly="zebulon", mark=mark), 2) as engine:
        found = list(engine.veil([*parts(9), TextPart(9, ["zebulon"]), TextPart(10, ["baiai"])], PartNoise(2)))
    assert mark.exists()
    assert found == expected


def test_workers_that_always_die_end_the_run(importable):
    with Workers(fatal(importable.AlwaysFatal), 2) as engine, pytest.raises(WorkersDied, match="3 times in a row"):
        list(engine.veil(parts(4), PartNoise(2)))


def test_a_worker_killed_from_outside():
    source = iter(parts(40))
    with open_engine(mechanism(seed=3), workers=2) as engine:
        done = engine.veil(source, PartNoise(3))
        first = next(done)
        os.kill(active_children()[0].pid, signal.SIGKILL)
        rest = list(done)
    assert [part.number for part in [first, *rest]] == list(range(40))
    with open_engine(mechanism(seed=3)) as engine:
        assert [first, *rest] == list(engine.veil(parts(40), PartNoise(3)))


def test_workers_end_with_the_engine():
    with open_engine(mechanism(), workers=2) as engine:
        next(engine.veil(parts(30), SECURE))
        assert active_children()
    assert wait_until(lambda: not active_children())


class Talkative(BRR):
    def apply(self, data, *, noise):
        if "zebulon" in data:
            raise ValueError(f"cannot veil {data}")
        return super().apply(data, noise=noise)


def test_an_error_crosses_without_its_message(importable):
    with Workers(fatal(importable.Talkative), 2) as engine, pytest.raises(RuntimeError) as caught:
        list(engine.veil([TextPart(0, ["zebulon"])], PartNoise(2)))
    assert str(caught.value) == "a worker met ValueError"
    assert "zebulon" not in str(caught.value.__cause__)


def test_words_are_counted():
    with open_engine(mechanism()) as engine:
        (done,) = engine.veil([TextPart(4, ["bai, deo.", "", "it's"])], SECURE)
    assert (done.number, len(done.texts), done.words) == (4, 3, 4)


def test_unknown_engines_and_counts_are_named():
    with pytest.raises(UnknownName, match="unknown engine 'spark'"):
        open_engine(mechanism(), engine="spark")
    with pytest.raises(BadInput, match="workers"):
        open_engine(mechanism(), workers=0)
    with pytest.raises(BadInput, match="--engine ray"):
        open_engine(mechanism(), address="ray://head:10001")


def test_ray_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BadInput, match=r"pip install -e '\.\[ray\]'"):
        open_engine(mechanism(), engine="ray")
