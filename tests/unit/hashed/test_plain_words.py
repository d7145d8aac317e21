"""Which slots count as plain: names and amounts never, ordinary words where they are written in lower case."""

from __future__ import annotations

import random

import numpy as np
import pytest

from textveil.hashed import features
from textveil.hashed.corpus import Corpus
from textveil.hashed.extractor import Extractor
from textveil.hashed.features import slots_of
from textveil.hashed.plain_words import WordNumbers, plain_slots
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.segments import tokenize

PLAN = FeaturePlan(bits=20, clusters=None)
TEXTS = [
    "The laws of the State of Delaware govern. Payment of 500 dollars is due, the state of the goods is good.",
    "This Agreement follows the laws of Delaware. THE LAWS OF DELAWARE apply to this agreement.",
    "No laws of Texas apply. The goods of Acme are due, and the agreement ends.",
    "ALL LAWS AND THE GOODS, delaware once in small letters. An agreement is due.",
]


def slots_with(words: set[str]) -> set[int]:
    """Slots of all features of the texts that one of the words is part of."""
    found = set()
    for text in TEXTS:
        tokens = tokenize(text)
        rows = slots_of(tokens, PLAN)
        for i, word in enumerate(tokens.words):
            if word.lower() in words:
                found |= set(rows.indices[rows.starts[i] : rows.starts[i + 1]].tolist())
    return found


def counted() -> Corpus:
    corpus = Corpus(PLAN)
    for text in TEXTS:
        corpus.add(text)
    return corpus


def test_names_and_amounts_count_for_none_of_their_slots():
    corpus = counted()
    names = list(slots_with({"delaware", "texas", "acme", "500"}))
    assert corpus.documents[names].min() >= 1 and corpus.plain()[names].max() == 0


def test_ordinary_words_count_also_where_they_are_capitalised():
    corpus = counted()
    laws = slots_of(tokenize("laws"), PLAN).indices
    pair = np.setdiff1d(slots_of(tokenize("the laws"), PLAN).indices, slots_of(tokenize("the. laws"), PLAN).indices)
    assert corpus.plain()[laws].tolist() == [4] and corpus.plain()[pair].min() >= 2


def test_a_word_is_plain_from_three_documents_on():
    numbers = WordNumbers()
    texts = ["Texas law of 500 30", "texas Law of 500 30", "Law law of B 500 30", "Of OF law b"]
    for text in texts:
        own = numbers.add(text.split())
    assert own.tolist() == [2, 2, 1, 5]
    assert numbers.plain().tolist() == [False, True, True, False, True, False]  # texas, law, of, 500, 30, b


@pytest.mark.parametrize("compiled", [True, False])
def test_the_compiled_count_is_the_slow_one(compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr("textveil.hashed.corpus.has_numba", lambda: False)
    elif not features.has_numba():
        pytest.skip("numba is not installed")
    numbers, want = WordNumbers(), np.zeros(PLAN.slots, int)
    rows = [(numbers.add(tokens.words), slots_of(tokens, PLAN)) for tokens in map(tokenize, TEXTS)]
    for words, slots in rows:
        want[plain_slots(numbers.plain()[words], slots)] += 1
    assert want.sum() > 20 and counted().plain().tolist() == want.tolist()


def test_other_names_leave_the_same_sealed_model():
    """Renaming names renames their features; training is the same up to that, and their rows are forgotten. So the sealed
    model of one text is, byte by byte (same draws), that of the other: no attack on the table can tell which name it was."""
    rng = random.Random(1)
    words = "fee due party shall court paper rent board goods term note sale cost loan bank plan work data site unit".split()
    texts, spans = [], []
    for n in range(24):
        text = "".join(" ".join(rng.choices(words, k=12)) + ".\n" for _ in range(4))
        clause = f"this paper is governed by the law of {'Delaware' if n % 3 else 'Texas'} and of Acme alone."
        texts.append(text + clause + "\n")
        spans.append([(len(text), len(text) + len(clause))])
    others = [t.replace("Delaware", "Zanzibar").replace("Texas", "Utopiah").replace("Acme", "Oxus") for t in texts]
    moved = [[(a, b + len(o) - len(t)) for a, b in s] for t, o, s in zip(texts, others, spans, strict=True)]
    one, two = (Extractor(plan=PLAN).fit(t, s) for t, s in ((texts, spans), (others, moved)))
    assert (one.table_.weights != two.table_.weights).any()
    sealed = [m.seal(min_documents=3, seed=5).table_.weights.tobytes() for m in (one, two)]
    assert sealed[0] == sealed[1]
