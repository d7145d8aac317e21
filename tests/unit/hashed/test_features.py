"""The kernel's rows are the definition's rows, hashed by mmh3."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from textveil.core import BadInput
from textveil.hashed import features
from textveil.hashed.clusters import cluster_of, clusters_id, make_clusters
from textveil.hashed.features import feature_keys, folded, slots_of, term_slots
from textveil.hashed.plan import FAMILIES, FeaturePlan
from textveil.hashed.segments import tokenize
from textveil.text.vectors import from_arrays, load

mmh3 = pytest.importorskip("mmh3")

TEXTS = [
    "",
    "One",
    "The Law of the State of New York governs; İstanbul, Straße and 漢字 do not. Σίσυφος agrees.",
    "_ _ _ _ _ _ _ . . . . . . a a a a a a a a",
    "First sentence here. Second one follows it!\n\nA paragraph of its own with fourteen words in it to reach beyond five.",
]
PLANS = [
    FeaturePlan(),
    FeaturePlan(bits=6),
    FeaturePlan(bits=28, fold=False),
    FeaturePlan(families=("bigram",)),
    FeaturePlan(families=("word", "skip"), clusters=None),
]


def rows_by_definition(text, plan):
    tokens = tokenize(text)
    words = folded(tokens.words, plan)
    clusters = cluster_of(words) if plan.clusters else [-1] * len(words)
    rows = []
    for begin, end in zip(tokens.sentences, tokens.sentences[1:], strict=False):
        for i in range(begin, end):
            keys = feature_keys(words, clusters, i, begin, end, plan)
            rows.append(list(dict.fromkeys(mmh3.hash(k.encode(), signed=False) % plan.slots for k in keys)))
    return rows


@pytest.mark.parametrize("plan", PLANS, ids=lambda p: f"{p.bits} {'+'.join(p.families)}")
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize("kernel", [True, False], ids=["numba", "plain"])
def test_rows(text, plan, kernel, monkeypatch):
    if kernel:
        pytest.importorskip("numba")
    monkeypatch.setattr(features, "has_numba", lambda: kernel)
    found = slots_of(tokenize(text), plan)
    assert found.indices.dtype == np.uint32 and found.starts.dtype == np.int64
    rows = [found.indices[a:b].tolist() for a, b in zip(found.starts, found.starts[1:], strict=False)]
    assert rows == rows_by_definition(text, plan)
    assert all(len(set(row)) == len(row) for row in rows), "each slot once per token"


def test_murmur_equals_mmh3_at_every_length():
    pytest.importorskip("numba")
    from textveil.hashed.pair_kernel import murmur3

    rng = np.random.default_rng(3)
    for size in range(70):
        data = rng.integers(0, 256, size + 3).astype(np.uint8)
        assert int(murmur3(data, size)) == mmh3.hash(data[:size].tobytes(), signed=False)


def test_a_token_has_at_most_twelve_features_and_pairs_stay_in_their_sentence():
    plan = FeaturePlan(bits=28)
    long = tokenize("one two three four five six seven eight nine ten eleven twelve thirteen")
    widths = np.diff(slots_of(long, plan).starts)
    assert widths.max() == 12 and widths[0] == 7
    split, alone = slots_of(tokenize("we pay. They owe."), plan), slots_of(tokenize("They owe."), plan)
    assert np.array_equal(split.indices[split.starts[3] :], alone.indices)


def test_the_slots_of_a_term_are_those_that_vanish_without_it():
    plan = FeaturePlan(bits=28)
    with_it = set(slots_of(tokenize("the laws of Texas govern this"), plan).indices.tolist())
    touched = set(term_slots("Texas", ["the laws of Texas govern this"], plan).tolist())
    keys = [
        "w|texas",
        f"c|{cluster_of(['texas'])[0]}",
        "b|of|texas",
        "b|texas|govern",
        "s|laws|texas",
        "s|the|texas",
        "s|texas|this",
    ]
    assert touched == {mmh3.hash(k, signed=False) % plan.slots for k in keys} and touched <= with_it
    assert len(term_slots(["New", "York"], ["no such words"], plan)) == 0


def test_without_numba_and_mmh3_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(features, "has_numba", lambda: False)
    monkeypatch.setitem(sys.modules, "mmh3", None)
    monkeypatch.setattr("textveil.core.params.find_spec", lambda name: None)
    with pytest.raises(BadInput, match=r"pip install -e '\.\[hashed\]'"):
        slots_of(tokenize("a b"), FeaturePlan())


@pytest.mark.parametrize(
    "bad", [{"bits": 3}, {"bits": 29}, {"bits": True}, {"families": ()}, {"families": ("trigram",)}]
)
def test_a_bad_plan_is_refused(bad):
    with pytest.raises(BadInput):
        FeaturePlan(**bad)


def test_a_plan_survives_json():
    for plan in PLANS:
        assert FeaturePlan.from_json(plan.to_json()) == plan
    with pytest.raises(BadInput, match="lacks a value"):
        FeaturePlan.from_json({"bits": 3})
    assert set(FAMILIES) == set(FeaturePlan().families)


def test_the_kept_clusters_are_what_the_code_makes():
    """One round from the kept groups' centres moves few words: they are a near fixed point of k-means on these vectors."""
    vectors = load("default").head(3000)
    groups = cluster_of(list(vectors.words))
    points = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    full = load("default")
    every = cluster_of(list(full.words))
    unit = full.matrix / np.linalg.norm(full.matrix, axis=1, keepdims=True)
    centres = np.zeros((256, unit.shape[1]))
    np.add.at(centres, every, unit)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    assert ((points @ centres.T).argmax(axis=1) == groups).mean() > 0.97


def test_clusters_of_other_vectors(tmp_path):
    rng = np.random.default_rng(0)
    matrix = np.concatenate([rng.normal([5, 0], 0.1, (20, 2)), rng.normal([0, 5], 0.1, (20, 2))])
    vectors = from_arrays([f"w{i}" for i in range(40)], matrix)
    groups = make_clusters(vectors, clusters=2)
    assert len(set(groups[:20])) == 1 and len(set(groups[20:])) == 1 and groups[0] != groups[20]
    vectors.save(tmp_path / "v.npz")
    source = str(tmp_path / "v.npz")
    assert clusters_id(source) not in (None, clusters_id("default")) and clusters_id(None) is None
    assert (cluster_of(["w3", "zzz"], source) >= 0).tolist() == [True, False]
