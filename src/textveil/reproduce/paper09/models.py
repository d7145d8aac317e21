"""The recognisers of paper 09's study: each takes examples (words, tags) and gives a function from sentences to tags."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from textveil.pii.bio import OUTSIDE

from .data import LABELS

Example = tuple[list[str], list[str]]
Tag = Callable[[Sequence[Sequence[str]]], list[list[str]]]
TAGS = [OUTSIDE, *(f"{mark}-{label}" for label in LABELS for mark in "BI")]


def transformer(
    data: Path, examples: list[Example], *, epochs: int, batch: int, rate: float, pieces: int, seed: int
) -> Tag:
    """The MiniLM with a linear layer over its last states; its upper three of six layers learn, for speed."""
    from textveil.nets.encoder import Encoder, encoder_folder
    from textveil.nets.fit import own_randomness
    from textveil.nets.plain_fit import fit_plainly

    with own_randomness(seed):
        net = Encoder(encoder_folder("minilm"), "tagger", TAGS, max_pieces=pieces, layers=3)
    fit_plainly(net, examples, epochs=epochs, batch=batch, rate=rate, seed=seed)
    return net.tag


def bilstm(data: Path, examples: list[Example], *, epochs: int, batch: int, rate: float, pieces: int, seed: int) -> Tag:
    """Our BiLSTM with a CRF over frozen GloVe vectors, affixes and spelling."""
    from textveil.nets.fit import own_randomness
    from textveil.nets.plain_fit import fit_plainly
    from textveil.nets.tagger import BiLSTMTagger
    from textveil.reproduce.datasets import embedding

    with own_randomness(seed):
        net = BiLSTMTagger.of(TAGS, embedding(data, "glove"))
    fit_plainly(net, [(w[:pieces], t[:pieces]) for w, t in examples], epochs=epochs, batch=batch, rate=rate, seed=seed)
    return lambda sentences: net.tag([list(s) for s in sentences])


def crf(data: Path, examples: list[Example], *, epochs: int, batch: int, rate: float, pieces: int, seed: int) -> Tag:
    """A linear-chain CRF (python-crfsuite, L-BFGS with both penalties) over spelling and neighbours."""
    import tempfile

    import pycrfsuite

    trainer = pycrfsuite.Trainer("lbfgs", verbose=False)
    for words, tags in examples:
        trainer.append(features(words), tags)
    trainer.set_params({"max_iterations": epochs, "c1": 0.05, "c2": 0.05, "feature.possible_transitions": True})
    tagger = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "crf"
        trainer.train(str(model))
        content = model.read_bytes()
    tagger.open_inmemory(content)

    def tag(sentences: Sequence[Sequence[str]], kept: bytes = content) -> list[list[str]]:
        """`kept` holds on to the model: the tagger only points at it."""
        return [tagger.tag(features(list(words))) if len(words) else [] for words in sentences]

    return tag


def features(words: Sequence[str]) -> list[dict[str, Any]]:
    """Spelling of a word and its neighbours, the words of the last eight places, and whether the title holds it."""
    bar = words.index("|") if "|" in words else -1
    title = {word.lower() for word in words[:bar]} if bar > 0 else set()
    shapes = [shape(word) for word in words]
    rows = []
    for place, word in enumerate(words):
        row: dict[str, Any] = {"bias": 1.0, f"w={word.lower()}": 1.0, f"s={shapes[place]}": 1.0}
        row[f"p={word[:3].lower()}"] = row[f"e={word[-3:].lower()}"] = 1.0
        if word.lower() in title:
            row["in title"] = 1.0
        for step in (-3, -2, -1, 1, 2):
            if 0 <= place + step < len(words):
                row[f"w{step}={words[place + step].lower()}"] = 1.0
                row[f"s{step}={shapes[place + step]}"] = 1.0
        for other in words[max(0, place - 8, bar + 1) : place]:
            row[f"near={other.lower()}"] = 1.0
        row[f"first={min(12, max(0, place - bar - 1))}"] = 1.0
        rows.append(row)
    return rows


def shape(word: str) -> str:
    """
    >>> shape("1952"), shape("Anna"), shape("(")
    ('dddd', 'Xx', '(')
    """
    if word.isdigit():
        return "d" * min(5, len(word))
    if word[:1].isupper():
        return "XX" if word.isupper() and len(word) > 1 else "Xx"
    return "x" if word.isalpha() else word[:2]


MODELS: dict[str, Callable[..., Tag]] = {"transformer": transformer, "bilstm": bilstm, "crf": crf}
