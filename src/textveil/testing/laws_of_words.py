"""Laws about words: unknown ones do not pass, kept ones are declared, and words at the same place are alike."""

from __future__ import annotations

import numpy as np

from ..accounting.prices import guarantee_of
from ..noise import secure
from .audits import two_worlds
from .designs import UNKNOWN, circle, word_names
from .laws import Case
from .laws_of_conduct import CELLS, TINY
from .readings import distances_between, veil_word

UNKNOWN_WORDS = "unknown words do not pass"
KEPT_WORDS = "kept words are declared"
TIED_WORDS = "tied words are alike"
LETTER_CASE = "letter case passes only where that is said"

NOT_WORDS = "it does not veil words, or cannot be fitted to other vectors"
_MOST_OWN_WORDS = 1024
_REPEATS = 12
_TWIN_CELLS = 8


def unknown_words_do_not_pass(case: Case) -> str | None:
    """Neither does such a word come out again, nor can two of them be told apart."""
    if not case.on_words:
        return NOT_WORDS
    design = circle(CELLS, case.blocks)
    mechanism = case.on(design)
    if _declares(mechanism, case, "outside the vocabulary", "unchanged"):
        return "its event declares that unknown words pass unchanged"
    for text in (w for u in UNKNOWN for w in (u, u.title(), u.upper(), u + "7", "7" + u)):
        out = mechanism.apply([f"{design.words[0]} {text}, {text}"], noise=secure())[0]
        if text.lower() in out.lower():
            raise case.broken(
                UNKNOWN_WORDS, "a word outside the vocabulary came out unchanged, and no assumption says so"
            )
    level = 1 - case.alpha / 8
    worlds = [veil_word(mechanism, design, word, case.tries // 4) for word in UNKNOWN]
    if two_worlds(*worlds, level=level).epsilon_floor(level) > 0:
        raise case.broken(UNKNOWN_WORDS, "two words outside the vocabulary can be told apart by what they become")
    return None


def kept_words_are_declared(case: Case) -> str | None:
    """With hardly any epsilon, on equal cells, a word that never changes is a kept one.

    A cell of the circle holds 1 of 64 or fewer of the draws, so that a drawn word stays twelve times with chance 64^-12.
    """
    if not case.on_words:
        return NOT_WORDS
    words = _own_words(case)
    mechanism = case.on(circle(words, case.blocks), **({"epsilon": TINY} if case.has("epsilon") else {}))
    texts = [" ".join(words)] * _REPEATS
    out = [text.lower().split() for text in mechanism.apply(texts, noise=secure())]
    if any(len(found) != len(words) for found in out):
        return "its words cannot be matched one by one"
    stayed = {words[i] for i in range(len(words)) if all(found[i] == words[i] for found in out)}
    declared = _declares(mechanism, case, "unchanged")
    undeclared = stayed - set(getattr(mechanism, "kept_", stayed)) if declared else stayed
    if undeclared:
        raise case.broken(KEPT_WORDS, f"{len(undeclared)} words always pass unchanged, and no assumption says so")
    return None


def tied_words_are_alike(case: Case) -> str | None:
    """Two words at the same place: the same law as inputs, and both possible as outputs."""
    if not case.on_words:
        return NOT_WORDS
    design = circle(_TWIN_CELLS, case.blocks).twins(0, 1)
    mechanism = case.on(design, **({"epsilon": 1.0} if case.has("epsilon") else {}))
    distance = distances_between(mechanism, (0, 1))
    guarantee = guarantee_of(mechanism.event(case.shape))
    if guarantee.label != "guarantee" or distance is None or distance[0, 1] > 0:
        return "it promises nothing about words at the same place"
    worlds = [veil_word(mechanism, design, design.words[i], case.tries // 2) for i in (0, 1)]
    level = 1 - case.alpha / 8
    if two_worlds(*worlds, level=level, distance=0.0, unit=guarantee.unit).refutes(guarantee, level):
        raise case.broken(TIED_WORDS, "two words at the same place can be told apart by what they become")
    counts = np.bincount(np.concatenate(worlds), minlength=len(design.words))
    if max(counts[:2]) >= 1000 and min(counts[:2]) == 0:
        raise case.broken(TIED_WORDS, "of two words at the same place one is never an output: ties are not drawn")
    return None


def letter_case_is_declared(case: Case) -> str | None:
    """With hardly any epsilon, capitals inside a sentence come out as they went in only where `passes()` says so."""
    if not case.on_words:
        return NOT_WORDS
    if not callable(getattr(case.mechanism, "passes", None)):
        return "it does not say what passes"
    design = circle(CELLS, case.blocks)
    mechanism = case.on(design, **({"epsilon": TINY} if case.has("epsilon") else {}))
    if any("case" in name for name in mechanism.passes()):
        return None
    first, word = design.words[0], design.words[1]
    texts = [" ".join([first, *[shown] * CELLS]) for shown in (word, word.title(), word.upper())]
    capitals = [sum(w != w.lower() for w in text.split()[1:]) for text in mechanism.apply(texts, noise=secure())]
    if len(set(capitals)) > 1:
        raise case.broken(LETTER_CASE, "capitals come out as they went in, and `passes()` does not say so")
    return None


def _own_words(case: Case) -> list[str]:
    """The mechanism's own words, those of the sample first, filled up with made-up ones."""
    own = [str(w) for w in case.mechanism.vectors_.words]
    lowered = {word for text in case.sample if isinstance(text, str) for word in text.lower().split()}
    ranked = sorted(own, key=lambda w: w not in lowered)[:_MOST_OWN_WORDS]
    plain = [word for word in ranked if word.isalpha() and word == word.lower()]
    return list(dict.fromkeys([*plain, *word_names(max(CELLS, 2 * CELLS - len(plain)))]))


def _declares(mechanism: object, case: Case, *phrases: str) -> bool:
    assumes = mechanism.event(case.shape).assumes  # type: ignore[attr-defined]
    return any(all(phrase in text for phrase in phrases) for text in assumes)
