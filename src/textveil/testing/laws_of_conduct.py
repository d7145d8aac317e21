"""Laws about what `apply` does: it edits nothing, draws from the given source, copes with every size and every epsilon."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..accounting.prices import guarantee_of
from ..core import BadInput
from ..noise import secure, seeded
from . import values
from .audits import two_worlds
from .designs import circle
from .laws import Case
from .readings import distances_between, veil_word

IN_PLACE = "nothing is edited in place"
SOURCE = "noise comes from the given source"
SIZES = "every size works"
LIMITS = "the limits of epsilon hold"

CELLS = 64  # words on the circle
HUGE, TINY = 1e6, 1e-3
_BLOCKS = (256, 1000, 1024, 4096, 5000, 8192, 10_000, 16_384, 32_768)


def nothing_is_edited(case: Case) -> str | None:
    data, before = case.sample, values.keep(case.sample)
    fitted, parameters = values.fitted_arrays(case.mechanism), values.keep(_plain(case.parameters))
    out = case.mechanism.apply(data, noise=secure())
    if not values.same(data, before):
        raise case.broken(IN_PLACE, "the data that it was given changed")
    if isinstance(out, (np.ndarray, list, dict)) and (
        out is data or (isinstance(out, np.ndarray) and isinstance(data, np.ndarray) and np.shares_memory(out, data))
    ):
        raise case.broken(IN_PLACE, "its output is the data that it was given, not a new value")
    if values.fitted_arrays(case.mechanism) != fitted or not values.same(_plain(case.parameters), parameters):
        raise case.broken(IN_PLACE, "applying it changed what it had been fitted or set to")
    return None


def noise_comes_from_the_source(case: Case) -> str | None:
    mechanism, data, runs = _lively(case)
    states = np.random.get_state(), random.getstate()
    outputs = [_runs(mechanism, data, seeded(seed), runs, case.seen) for seed in (1, 1, 2)]
    if not values.same(list(np.random.get_state()), list(states[0])) or random.getstate() != states[1]:
        np.random.set_state(states[0])
        random.setstate(states[1])
        raise case.broken(SOURCE, "it draws from a generator of the whole process (numpy.random or random)")
    if values.same(outputs[0], outputs[2]):
        raise case.broken(SOURCE, "two different sources gave the same output: a seed is reused, or nothing is drawn")
    if case.repeatable and not values.same(outputs[0], outputs[1]):
        raise case.broken(SOURCE, "a source with the same seed gave other output: some randomness comes from elsewhere")
    if all(values.same(outputs[0][0], again) for again in outputs[0][1:]):
        raise case.broken(SOURCE, "applied again with the same source it repeats its noise")
    if case.on_words:
        _no_noise_is_used_twice(case, mechanism, data)
    return None


def every_size_works(case: Case) -> str | None:
    if case.on_words:
        return _sizes_of_text(case)
    sample = case.sample
    if not (isinstance(sample, list) or (isinstance(sample, np.ndarray) and sample.ndim > 0)):
        return f"a {type(sample).__name__} has no sizes that the suite knows"
    times = max(1, 50_000 // max(1, sample.size if isinstance(sample, np.ndarray) else len(sample)))
    many = sample * times if isinstance(sample, list) else np.concatenate([sample] * times)
    for name, data in (("empty", sample[:0]), ("single", sample[:1]), ("huge", many)):
        try:
            case.mechanism.apply(data, noise=secure())
        except BadInput as error:
            if name != "empty":  # no data may be refused, in one sentence
                raise case.broken(SIZES, f"{name} data was refused ({error})") from error
        except Exception as error:
            raise case.broken(SIZES, f"{name} data ended in a {type(error).__name__}") from error
    return None


def the_limits_hold(case: Case) -> str | None:
    if not case.has("epsilon"):
        return "it has no parameter 'epsilon'"
    if case.on_words:
        return _limits_on_words(case)
    loud = case.fresh(epsilon=HUGE)
    first, second = (case.seen(loud.apply(case.sample, noise=secure())) for _ in range(2))
    if not values.alike(first, second):
        raise case.broken(LIMITS, f"at epsilon {HUGE:g} two runs still differ: the noise does not shrink")
    return None


def _limits_on_words(case: Case) -> str | None:
    design = circle(CELLS, case.blocks)
    loud = case.on(design, epsilon=HUGE)
    text = " ".join(design.words)
    out = loud.apply([text], noise=secure())[0].lower().split()
    place = {word: i for i, word in enumerate(design.words)}
    moved = [
        np.linalg.norm(design.matrix[i] - design.matrix[place[w]]) if w in place else 2.0 for i, w in enumerate(out)
    ]
    if len(out) != CELLS or np.mean(np.array(moved) <= 0.5) < 0.99:  # a quarter of the circle's diameter
        raise case.broken(LIMITS, f"at epsilon {HUGE:g} words still turn into distant ones")
    design = replace(design, matrix=0.05 / TINY * design.matrix)  # so far apart that a floor under epsilon would show
    quiet = case.on(design, epsilon=TINY)
    guarantee = guarantee_of(quiet.event(case.shape))
    distance = distances_between(quiet, design.inputs)
    if guarantee.label != "guarantee" or distance is None:
        return "it promises nothing that could be compared at a small epsilon"
    worlds = [veil_word(quiet, design, design.words[i], case.tries // 2) for i in design.inputs]
    level = 1 - case.alpha / 8
    found = two_worlds(*worlds, level=level, unit=guarantee.unit, distance=float(distance[0, 1]))
    if found.refutes(guarantee, level):
        raise case.broken(LIMITS, f"at epsilon {TINY:g} the output still depends on the input")
    return None


def _lively(case: Case) -> tuple[Any, Any, int]:
    """A mechanism and data whose outputs cannot agree by chance, and how many runs that takes."""
    if not case.on_words:
        return case.mechanism, case.sample, 40 if case.see is None else 2
    design = circle(CELLS, case.blocks)
    mechanism = case.on(design, epsilon=TINY) if case.has("epsilon") else case.on(design)
    return mechanism, [" ".join(design.words)] * 2, 3


def _runs(mechanism: Any, data: Any, noise: Any, runs: int, see: Callable[[Any], Any]) -> list[Any]:
    return [see(mechanism.apply(data, noise=noise)) for _ in range(runs)]


def _no_noise_is_used_twice(case: Case, mechanism: Any, data: list[str]) -> None:
    first, second = mechanism.apply(data, noise=secure())
    if first == second:
        raise case.broken(SOURCE, "two equal texts of one call got the same noise: a seed is reused")
    word = data[0].split()[0]
    drawn = np.array(mechanism.apply([" ".join([word] * (2 * _BLOCKS[-1]))], noise=secure())[0].lower().split())
    if len(set(drawn.tolist())) == 1:
        raise case.broken(SOURCE, "a word that occurs many times is drawn once: its occurrences share their noise")
    for block in _BLOCKS:
        if np.mean(drawn[:block] == drawn[block : 2 * block]) > 0.9:
            raise case.broken(SOURCE, f"the noise repeats itself after {block} words: a seed is reused")


def _sizes_of_text(case: Case) -> str | None:
    design = circle(CELLS, case.blocks)
    mechanism = case.on(design)
    word = design.words[0]
    line = ", ".join(design.words)
    texts = {
        "no text": [],
        "an empty text": [""],
        "a text without words": [" ...\n"],
        "one word": [word],
        "many short texts": [word, "", line] * 1000,
        "a text of 200,000 words": ["\n".join([line] * (200_000 // CELLS))],
    }
    for name, given in texts.items():
        try:
            out = mechanism.apply(given, noise=secure())
        except Exception as error:
            raise case.broken(SIZES, f"{name} ended in a {type(error).__name__}") from error
        if not isinstance(out, list) or [_gaps(t) for t in out] != [_gaps(t) for t in given]:
            raise case.broken(SIZES, f"{name} came back with another number of texts or words")
    return None


def _gaps(text: str) -> list[str]:
    return re.split(r"\w+", text)


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in parameters.items() if isinstance(v, (int, float, str, list, tuple, dict, type(None)))}
