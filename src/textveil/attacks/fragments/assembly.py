"""Put fragments together by what they share: an overlap graph, greedy chains, then a beam along its edges.

A fragment p is followed by q when the last words of p are the first of q (Galle and Tealdi 2015 do this for n-grams
of one length, as paths of a de Bruijn graph). How much such an overlap says is counted in bits: words that are rare
in the release say much, frequent ones little. Phrase pairs bring a second witness: where q goes on from p, the
translation of the words they share stands in both target sides, so a run of words that both have adds its bits. Where
a single word is shared, public text breaks ties: how much more often the three words around it follow each other than
chance has it. Fragments that share no word are joined where both languages make it likely (`neighbours`).

    greedy    the surest join first; each fragment has one follower and follows one
    beam      from the end of each chain along the graph, also into fragments of other chains, while the best way on is
              likely enough; at most as many words as were released

The greedy assembly of one language, longest overlap first, is `assemble(..., witness=False, beam=0)`: what others did
before.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from textveil.attacks.exposure import Ids
from textveil.attacks.fragments.neighbours import add_neighbours
from textveil.attacks.fragments.ngrams import Ngrams
from textveil.attacks.fragments.seen import Sentences

PER_NODE = 6
_MOST = 400  # fragments that begin alike; more choices than that are no lead
_DEPTH = 12


class Graph(NamedTuple):
    """For each fragment its best followers, their scores in bits (-inf: none) and how many words they share."""

    nodes: Ids
    scores: np.ndarray
    overlaps: Ids


def assemble(
    own: Sentences,
    other: Sentences,
    counts: Ids,
    public: tuple[Sentences, Sentences] | None = None,
    *,
    witness: bool = True,
    beam: int = 4,
) -> Sentences:
    """Texts put together from fragments; each has at least the words of one of them.

    `public`: text in the two languages, in the order of `own` and `other`.
    """
    nodes = maximal(own)
    own, other = own.take(nodes), other.take(nodes)
    graph = overlap_graph(own, other, np.asarray(counts)[nodes], None if public is None else public[0], witness=witness)
    if witness:
        add_neighbours(own, other, public, *graph)
    following, shared = greedy_chains(graph, len(own), by_bits=witness)
    chains = chains_of(following)
    return _texts(own, chains, shared, _extensions(own, graph, chains, beam) if beam else {})


def maximal(own: Sentences) -> Ids:
    """The fragments that do not lie inside of a longer one (or of an equal one before them)."""
    inside = set[bytes]()
    words, starts = np.asarray(own.words, np.int64), np.asarray(own.starts)
    order = np.argsort(-own.lengths(), kind="stable")
    kept = list[int]()
    for place in order.tolist():
        text = words[starts[place] : starts[place + 1]]
        if not len(text) or text.tobytes() in inside:
            continue
        kept.append(place)
        for i in range(len(text)):
            for j in range(i + 1, len(text) + 1):
                inside.add(text[i:j].tobytes())
    return np.array(sorted(kept), np.int64)


def bits_of(texts: Sentences, counts: Ids) -> np.ndarray:
    """What each word says: -log2 of its share of all words."""
    words = np.asarray(texts.words)
    weights = np.repeat(np.asarray(counts, np.float64), texts.lengths())
    totals = np.bincount(words, weights, minlength=int(words.max(initial=0)) + 1)
    return np.asarray(-np.log2(np.maximum(totals, 1.0) / max(totals.sum(), 1.0)))


def overlap_graph(
    own: Sentences, other: Sentences, counts: Ids, public: Sentences | None = None, *, witness: bool = True
) -> Graph:
    """The best joins of each fragment, over all lengths of overlap."""
    from textveil.attacks.fragments import join_kernel as kernel

    size, longest = len(own), int(own.lengths().max(initial=1))
    info = bits_of(own, counts) if witness else np.ones(int(np.max(own.words, initial=0)) + 1)
    other_info = bits_of(other, counts)
    nodes, overlaps = np.full((size, PER_NODE), -1, np.int64), np.zeros((size, PER_NODE), np.int64)
    scores = np.full((size, PER_NODE), -np.inf)
    for overlap in range(longest - 1, 0, -1):
        prefix, suffix = _edge_hashes(own, overlap)
        order = np.flatnonzero(own.lengths() > overlap)
        order = order[np.argsort(prefix[order], kind="stable")]
        low, high = (np.searchsorted(prefix[order], suffix, side) for side in ("left", "right"))
        kernel.best_joins(
            own.words, own.starts, other.words, other.starts, info, other_info, order, low, high, overlap, witness, _MOST,
            nodes, scores, overlaps,
        )  # fmt: skip
    graph = Graph(nodes, scores, overlaps)
    return graph if public is None or not witness else _with_public(own, graph, public)


def _edge_hashes(own: Sentences, size: int) -> tuple[np.ndarray, np.ndarray]:
    """A number of the first and of the last `size` words of each text that has more."""
    from textveil.attacks.fragments import join_kernel as kernel

    long = own.lengths() > size
    prefix, suffix = np.zeros(len(own), np.uint64), np.zeros(len(own), np.uint64)
    for out, first in ((prefix, np.asarray(own.starts)[:-1]), (suffix, np.asarray(own.starts)[1:] - size)):
        places = (first[long][:, None] + np.arange(size)).ravel()
        edges = Sentences(np.asarray(own.words)[places], np.arange(long.sum() + 1) * size)
        hashes = np.zeros(int(long.sum()), np.uint64)
        kernel.gram_hashes(edges.words, edges.starts, size, hashes)
        out[long] = hashes
    return prefix, suffix


def _with_public(own: Sentences, graph: Graph, public: Sentences) -> Graph:
    """Break ties of joins that share one word by the three words around it, as public text has them."""
    words, starts = np.asarray(own.words), np.asarray(own.starts)
    p, slot = np.nonzero((graph.overlaps == 1) & (graph.nodes >= 0))
    q = graph.nodes[p, slot]
    long = (own.lengths()[p] > 1) & (own.lengths()[q] > 1)
    p, slot, q = p[long], slot[long], q[long]
    triples = np.stack([words[starts[p + 1] - 2], words[starts[p + 1] - 1], words[starts[q] + 1]], axis=1)
    size = int(max(words.max(initial=0), np.max(public.words, initial=0))) + 1
    scores = graph.scores.copy()
    scores[p, slot] += surprise(public, triples, size)
    order = np.argsort(-scores, axis=1, kind="stable")
    return Graph(*(np.take_along_axis(a, order, 1) for a in (graph.nodes, scores, graph.overlaps)))


def surprise(public: Sentences, triples: np.ndarray, size: int) -> np.ndarray:
    """log2 of how much more often a b c stands in public text than a b and b c would have it, smoothed by one."""
    known = Ngrams.of([public], size)
    a, b, c = triples.T.astype(np.int64)

    def counted(keys: np.ndarray, counts: np.ndarray, asked: np.ndarray) -> np.ndarray:
        if not len(keys):
            return np.zeros(len(asked))
        at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        return np.where(keys[at] == asked, counts[at], 0)

    pairs = (counted(known.pairs, known.pair_counts, pair) for pair in (a * size + b, b * size + c))
    triple = counted(known.triples, known.triple_counts, (a * size + b) * size + c)
    expected = np.prod([*pairs], axis=0) / np.maximum(known.words[b], 1)
    return np.log2((triple + 1.0) / (expected + 1.0))


def greedy_chains(graph: Graph, size: int, *, by_bits: bool = True) -> tuple[Ids, Ids]:
    """The follower of each fragment (-1: none) and how many words they share: the surest joins first."""
    from textveil.attacks.fragments import join_kernel as kernel

    p, slot = np.nonzero(graph.nodes >= 0)
    order = np.argsort(-graph.scores[p, slot] if by_bits else -graph.overlaps[p, slot], kind="stable")
    following, before, shared = np.full(size, -1, np.int64), np.full(size, -1, np.int64), np.zeros(size, np.int64)
    p, slot = p[order], slot[order]
    kernel.link_greedily(p, graph.nodes[p, slot], graph.overlaps[p, slot], size, following, shared, before)
    return following, shared


def chains_of(following: Ids) -> list[list[int]]:
    """Fragments in the order in which they follow each other."""
    followers = np.asarray(following)
    is_first = np.ones(len(followers), bool)
    is_first[followers[followers >= 0]] = False
    step, chains = followers.tolist(), list[list[int]]()
    for place in np.flatnonzero(is_first).tolist():
        chain = [place]
        while step[chain[-1]] >= 0:
            chain.append(step[chain[-1]])
        chains.append(chain)
    return chains


def _extensions(own: Sentences, graph: Graph, chains: list[list[int]], width: int) -> dict[int, list[tuple[int, int]]]:
    """The likeliest way on from the end of each chain, as (fragment, shared words); by the number of the chain."""
    nodes, overlaps = graph.nodes.tolist(), graph.overlaps.tolist()
    chances = _chances(graph.scores)
    left = int(own.lengths().sum())  # words that a guess may have in all
    lengths, ways = own.lengths().tolist(), dict[int, list[tuple[int, int]]]()
    for number, chain in enumerate(chains):
        best: list[tuple[float, list[tuple[int, int]], int]] = [(1.0, [], chain[-1])]
        kept: list[tuple[int, int]] = []
        for _ in range(_DEPTH):
            ahead = [
                (chance * chances[at][k], [*way, (nodes[at][k], overlaps[at][k])], nodes[at][k])
                for chance, way, at in best
                for k in range(PER_NODE)
                if nodes[at][k] >= 0 and all(nodes[at][k] != n for n, _ in way)
            ]
            if not ahead:
                break
            best = sorted(ahead, key=lambda state: -state[0])[:width]
            if best[0][0] < 0.25:
                break
            kept = best[0][1]
        left -= sum(lengths[node] - shared for node, shared in kept)
        if left < 0:
            break
        if kept:
            ways[number] = kept
    return ways


def _chances(scores: np.ndarray) -> list[list[float]]:
    top = np.where(np.isfinite(scores[:, :1]), scores[:, :1], 0.0)
    odds = np.exp2(np.minimum(scores - top, 0.0))
    odds[~np.isfinite(scores)] = 0.0
    shown: list[list[float]] = (odds / np.maximum(odds.sum(axis=1, keepdims=True), 1e-300)).tolist()
    return shown


def _texts(own: Sentences, chains: list[list[int]], shared: Ids, ways: dict[int, list[tuple[int, int]]]) -> Sentences:
    words, starts, common = np.asarray(own.words).tolist(), np.asarray(own.starts).tolist(), np.asarray(shared).tolist()
    flat, sizes = list[int](), list[int]()
    for number, chain in enumerate(chains):
        before = len(flat)
        flat += words[starts[chain[0]] : starts[chain[0] + 1]]
        for p, q in pairwise(chain):
            flat += words[starts[q] + common[p] : starts[q + 1]]
        for node, overlap in ways.get(number, ()):
            flat += words[starts[node] + overlap : starts[node + 1]]
        sizes.append(len(flat) - before)
    return Sentences(np.array(flat, np.int64), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def certain_runs(own: Sentences, context: int = 2) -> Sentences:
    """Texts that go on from a fragment for as long as there is one way only.

    After the last `context` words every fragment that has these words, and more after them, must go on with the same
    word.
    """
    words, starts = np.asarray(own.words).tolist(), np.asarray(own.starts).tolist()
    following = dict[tuple[int, ...], int]()
    for a, b in pairwise(starts):
        for i in range(a, b - context):
            key = tuple(words[i : i + context])
            held = following.setdefault(key, words[i + context])
            if held != words[i + context]:
                following[key] = -1
    flat, sizes = list[int](), list[int]()
    for a, b in pairwise(starts):
        text, known = words[a:b], set[tuple[int, ...]]()
        while len(text) >= context:
            key = tuple(text[len(text) - context :])
            word = following.get(key, -1)
            if word < 0 or key in known:
                break
            known.add(key)
            text.append(word)
        flat += text
        sizes.append(len(text))
    return Sentences(np.array(flat, np.int64), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


__all__ = ["assemble", "bits_of", "certain_runs", "chains_of", "greedy_chains", "maximal", "overlap_graph", "surprise"]
