"""What the adversary of a hashed model holds: the table, the public way from text to slots, and words to ask about.

Terms. Those that were trained on are drawn from the training documents; the others from the public vocabulary of the
bundled vectors, without those that occur in the documents. The hash does not know which is which: nothing but training sets
their slots apart. Features of word clusters are left out, since terms share them, and each term is compared with one of its
cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from textveil.attacks.exposure import AnswersSeen, Labelled, Members
from textveil.attacks.hashed.seen import TableSeen
from textveil.attacks.hashed.table import TableView, Touched
from textveil.core import BadInput
from textveil.hashed.clusters import cluster_of
from textveil.hashed.corpus import Corpus, label_tokens
from textveil.hashed.extractor import Extractor
from textveil.hashed.features import folded, slots_of
from textveil.hashed.probe import covered, probe
from textveil.hashed.seal import centred
from textveil.hashed.segments import Tokens, tokenize
from textveil.noise import Source
from textveil.text.vectors import load as load_vectors

NEIGHBOURS = tuple("the of and to in or a any by be shall this such for as with , . ( )".split())
TEMPLATE = "This Agreement is subject to {term}."
TEMPLATES = (
    "{term}",
    "the {term} shall",
    "subject to {term} and",
    "governed by the laws of {term}.",
    "in accordance with the laws of the State of {term}, without regard to its rules.",
    "neither party may {term} this Agreement without the prior written consent of the other",
    "shall not exceed the {term} paid under this Agreement",
    "grants to {term} a non-exclusive license",
)
MOST_TERMS, RETRAINED, CONTEXTS, GUESSES, KNOWN = 300, 500, 6, 20, 40_000
LETTERS = 4  # shortest word that is asked about


class Documents:
    """The training documents, read again: words, where they occur, which are marked."""

    def __init__(self, model: Extractor, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, ...]]]):
        if not texts:
            raise BadInput("the original file holds no documents")
        self.plan = replace(model.plan, families=tuple(f for f in model.plan.families if f != "cluster") or ("word",))
        self.texts, self.spans = texts, spans
        self.clusters = model.plan.clusters or "default"
        self.tokens = [tokenize(text) for text in texts]
        self.words = [folded(tokens.words, self.plan) for tokens in self.tokens]
        self.sides = [
            label_tokens(t, [(*s, 1)[:3] for s in marked])  # type: ignore[misc]
            for t, marked in zip(self.tokens, spans, strict=True)
        ]

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(word for words in self.words for word in words)

    @cached_property
    def places(self) -> dict[str, list[tuple[int, int]]]:
        """Document and token of each word that may be asked about (some occurrences)."""
        found: dict[str, list[tuple[int, int]]] = {}
        for document, words in enumerate(self.words):
            for i, word in enumerate(words):
                if len(word) >= LETTERS and word.isalpha():
                    some = found.setdefault(word, [])
                    if len(some) < CONTEXTS:
                        some.append((document, i))
        return found

    def terms(self, most: int, rng: Source, marked: bool = False) -> list[str]:
        """Random terms of the documents; of their marked passages alone, if asked and if there are any."""
        able = sorted(self.places)
        inside = [t for t in able if any(self.sides[d][i] for d, i in self.places[t])] if marked else []
        able = inside or able
        return [able[i] for i in rng.permutation(len(able))[:most]]

    def others(self, like: Sequence[str], rng: Source) -> list[str]:
        """For each term a public word that the documents do not hold, of the same word cluster where there is one."""
        able = [w for w in load_vectors("default").words if len(w) >= LETTERS and w.isalpha() and w not in self.counts]
        if len(able) < len(like):
            raise BadInput("the documents hold nearly all public words, so there is nothing to compare with")
        able = [able[i] for i in rng.permutation(len(able))]
        by_cluster: dict[int, list[str]] = {}
        for word, cluster in zip(able, cluster_of(able, self.clusters).tolist(), strict=True):
            by_cluster.setdefault(cluster, []).append(word)
        wanted, found = cluster_of(list(like), self.clusters).tolist(), list[str]()
        for cluster in wanted:
            pool = by_cluster.get(cluster) or max(by_cluster.values(), key=len)
            found.append(pool.pop())
        return found

    def context(self, document: int, i: int) -> tuple[list[str], int]:
        """The sentence of a token, and the token's place in it."""
        sentences = self.tokens[document].sentences
        s = int(np.searchsorted(sentences, i, "right")) - 1
        begin, end = int(sentences[s]), int(sentences[s + 1])
        return self.words[document][begin:end], i - begin

    def touched(self, term: str, places: Sequence[tuple[int, int]]) -> Touched:
        """Slots of a term put into these places, each once, with the side it stood on."""
        slots, sides = [], []
        for document, i in places:
            words, at = self.context(document, i)
            own = row_of([*words[:at], term, *words[at + 1 :]], at, self.plan)
            slots.append(own)
            sides.append(np.full(len(own), self.sides[document][i] > 0, np.int64))
        every, first = np.unique(np.concatenate(slots), return_index=True)
        return Touched(every, np.concatenate(sides)[first])

    def known(self, rng: Source) -> Touched:
        """Slots of the text around: a sample of tokens of both sides."""
        slots, sides = [], []
        for document in rng.permutation(len(self.tokens)):
            rows = slots_of(self.tokens[document], self.plan)
            slots.append(rows.indices)
            sides.append(np.repeat(self.sides[document] > 0, np.diff(rows.starts)).astype(np.int64))
            if sum(map(len, slots)) > KNOWN * 5 and any(s.any() for s in sides):
                break
        every, first = np.unique(np.concatenate(slots), return_index=True)
        return Touched(every, np.concatenate(sides)[first])


def row_of(words: list[str], at: int, plan: Any) -> np.ndarray:
    """The slots of one token of one sentence."""
    n = len(words)
    ends = np.array([0, n], np.int32)
    rows = slots_of(Tokens(words, np.zeros(n, np.int32), np.zeros(n, np.int32), ends, ends), plan)
    return rows.indices[rows.starts[at] : rows.starts[at + 1]].astype(np.int64)


def guessed(term: str, plan: Any) -> Touched:
    """Slots of a term for who knows no text: the word itself first, then pairs with the commonest words."""
    word = row_of([term], 0, plan)
    pairs = [row_of([a, term, b], 1, plan) for a, b in zip(NEIGHBOURS, reversed(NEIGHBOURS), strict=True)]
    return Touched(np.array([*word, *(np.setdiff1d(np.concatenate(pairs), word))], np.int64))


def table_view(model: Extractor, touched: Any) -> TableView:
    """The table of a folder; what an unsealed one leaves empty is seen."""
    table = model.table_
    return TableView(np.asarray(table.weights), touched, np.asarray(table.present) if table.is_open else None)


# ---- one exposure for each attack -----------------------------------------------------------------------------------


def table_exposure(model: Extractor, documents: Documents, rng: Source) -> TableSeen:
    """Terms trained on and others, asked of the table alone: look-up and membership."""
    inside, outside = _both(documents, rng, MOST_TERMS)
    view = table_view(model, lambda term, label: guessed(term, documents.plan))
    return TableSeen(view, Labelled(inside + outside, inside + outside), truth=Members.first(len(inside), len(outside)))


def redacted_exposure(model: Extractor, documents: Documents, rng: Source) -> TableSeen:
    """Each term's gaps, filled with the right word and with others."""
    inside, outside = _both(documents, rng, MOST_TERMS // 2)
    texts, labels, truth = [], [], []
    for number, term in enumerate(inside):
        guesses = [outside[i] for i in rng.permutation(len(outside))[: GUESSES - 1]]
        texts += [term, *guesses]
        labels += [number] * (1 + len(guesses))
        truth += [1] + [0] * len(guesses)
    view = table_view(model, lambda term, number: documents.touched(term, documents.places[inside[number]]))
    return TableSeen(view, Labelled(texts, labels), documents.known(rng), truth=Members(np.array(truth)))


def probing_exposure(model: Extractor, documents: Documents, rng: Source, template: str = TEMPLATE) -> AnswersSeen:
    """Terms of the marked passages and others, in one sentence."""
    inside, outside = _both(documents, rng, MOST_TERMS, marked=True)

    def scores(texts: Sequence[str]) -> np.ndarray:
        return np.array([(answer.score, answer.extracted) for answer in probe(model, texts, template)])

    terms, truth = Labelled(inside + outside, inside + outside), Members.first(len(inside), len(outside))
    return AnswersSeen(terms, scores=scores, truth=truth)


def api_exposure(model: Extractor, documents: Documents, rng: Source) -> AnswersSeen:
    """The same terms in several sentences; only spans come back."""
    inside, outside = _both(documents, rng, MOST_TERMS, marked=True)
    terms = inside + outside
    probes = [f"{column} {term}" for column in range(len(TEMPLATES)) for term in terms]
    labels = terms * len(TEMPLATES)

    def query(texts: Sequence[str]) -> np.ndarray:
        found = covered(model, terms, TEMPLATES)
        number = {term: i for i, term in enumerate(terms)}
        asked = [text.split(" ", 1) for text in texts]
        return np.array([found[number[term], int(column)] for column, term in asked])

    truth = np.tile(Members.first(len(inside), len(outside)).ids, len(TEMPLATES))
    return AnswersSeen(Labelled(probes, labels), query=query, truth=Members(truth))


def retrain_exposure(model: Extractor, documents: Documents, rng: Source, seed: int | None = None) -> TableSeen:
    """The adversary trains twice: on the text with the right terms, and with a wrong one in the place of each.

    A wrong term's rows are compared in the slots that it would have had; all wrong ones are tried in one training,
    which changes nothing in the release they are compared with. `seed` is the adversary's own order, where training
    is shuffled.
    """
    inside, outside = _both(documents, rng, RETRAINED)
    pairs = dict(zip(inside, outside, strict=False))
    swapped = dict(zip(outside, inside, strict=False))
    tables = [
        _trained(model, documents, {}, seed),
        _trained(model, documents, pairs, None if seed is None else seed + 1),
    ]

    def retrain(term: str, label: Any) -> tuple[np.ndarray, np.ndarray]:
        wrong = term in swapped
        slots = documents.touched(term, documents.places[swapped.get(term, term)]).slots
        return slots, tables[wrong][slots]

    inside, outside = list(pairs), list(swapped)
    view = table_view(model, lambda term, label: guessed(term, documents.plan))
    terms, truth = Labelled(inside + outside, inside + outside), Members.first(len(inside), len(outside))
    return TableSeen(view, terms, retrain=retrain, truth=truth)


def _trained(model: Extractor, documents: Documents, swap: dict[str, str], seed: int | None) -> np.ndarray:
    """The weights of the adversary's own training, as the release's public settings would show them."""
    corpus = Corpus(model.plan)
    for tokens, words, sides in zip(documents.tokens, documents.words, documents.sides, strict=True):
        named = tokens
        if swap:
            named = tokens._replace(words=[swap.get(f, w) for f, w in zip(words, tokens.words, strict=True)])
        corpus.add_tokens(named, slots_of(named, model.plan), sides)
    own = Extractor(**{**model.get_params(), "shuffle": seed is not None, "seed": seed})
    weights = own.fit_corpus(corpus, model.table_.labels).table_.weights
    quiet = model.table_.facts.get("seal", {}).get("mode") == "quiet"
    return centred(weights) if quiet else weights


def _both(documents: Documents, rng: Source, most: int, marked: bool = False) -> tuple[list[str], list[str]]:
    inside = documents.terms(most, rng, marked)
    return inside, documents.others(inside, rng)
