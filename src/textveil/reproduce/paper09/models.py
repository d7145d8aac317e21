"""The recognisers of paper 09's study: each takes examples (words, tags) and gives a function from sentences to tags."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from textveil.pii.bio import OUTSIDE

from .data import LABELS

Example = tuple[list[str], list[str]]
Tag = Callable[[Sequence[Sequence[str]]], list[list[str]]]
OWNERS = frozenset(("his", "her", "their", "'s", "’s"))
KINSHIP = {
    word: kind
    for kind, words in {
        "parent": "father mother parents dad mom mum",
        "child": "son sons daughter daughters child children kids twins",
        "spouse": "wife husband spouse widow widower married marry marries marrying marriage wed fiancée divorced",
        "other": "brother sister brothers sisters uncle aunt cousin nephew niece grandfather grandmother grandson",
        "born": "born",
    }.items()
    for word in words.split()
}
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
    """Spelling of a word and its neighbours, the words of the last eight places, whether the title holds it, kinship."""
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
    _add_kinship(words, shapes, rows, bar + 1)
    return rows


def _add_kinship(words: Sequence[str], shapes: Sequence[str], rows: list[dict[str, Any]], start: int) -> None:
    """To each word, the last word of kinship among the twelve before it: its kind, "of" or "to" behind it, whose."""
    last = -1
    for place in range(start, len(words)):
        if last >= 0 and place - last <= 12:
            before = [word.lower() for word in words[max(start, last - 2) : last]]
            behind = words[last + 1].lower() if words[last + 1].lower() in ("of", "to") else "-"
            kin = f"{KINSHIP[words[last].lower()]} {behind} {'own' if OWNERS & {*before} else '-'}"
            rows[place][f"kin={kin}"] = rows[place][f"kin={kin} {shapes[place]}"] = 1.0
            rows[place][f"kin at={KINSHIP[words[last].lower()]} {min(6, (place - last) // 2)}"] = 1.0
        if words[place].lower() in KINSHIP:
            last = place


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
