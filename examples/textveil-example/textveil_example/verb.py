"""textveil mentions: which notes mention a word, by randomized response."""

import json
import math
from typing import Annotated

import numpy as np

from textveil.cli.options import AsJson, Out, Reading, Source, Spending, option, plain
from textveil.cli.output import print_release
from textveil.core import Adjacency, Estimator, Event, Shape, Stated, Unit
from textveil.core.example import Example, Worlds
from textveil.core.params import positive
from textveil.recipes.publish import publish
from textveil.text import open_reader


class Mentions(Estimator):
    """Claim: each answer is kept with odds e^eps : 1, so a document's loss is at most eps (Warner 1965)."""

    name = "example.mentions"

    def __init__(self, word="bank", epsilon=1.0):
        self.word, self.epsilon = word, epsilon

    def event(self, shape):
        loss = Stated(positive("epsilon", self.epsilon))
        return Event(loss, Unit.DOCUMENT, Adjacency.REPLACE, source="Warner 1965", mechanism=self.name)

    def apply(self, data, *, noise):
        truth = np.array([self.word in text for text in data], dtype=bool)
        keep = noise.uniforms(len(truth)) < 1 / (1 + math.exp(-min(self.epsilon, 700.0)))
        return (truth == keep).tolist()

    @classmethod
    def example(cls):
        return Example(cls(), ["the bank called", "nothing new"], worlds=(Worlds(["a bank"], ["a tree"]),))


def mentions(
    source: Source,
    out: Out,
    word: Annotated[str, option("The word to look for.")],
    epsilon: Annotated[float, option("Loss of one note.")] = 1.0,
    *,
    reading: Reading,
    spending: Spending,
    as_json: AsJson = False,
) -> None:
    """Release which notes mention a word, each answer kept by a coin.

    Example: textveil mentions notes.csv -o out --word fever --epsilon 1 --text-field text --ledger notes.ledger
    """
    mechanism = Mentions(word, epsilon)
    with publish(out, f"mentions {source.name}", **plain(spending)) as publication:
        texts, fingerprint = [], publication.account.fingerprint()
        for record in open_reader(source, columns=(), **plain(reading)):
            texts.append(record.text)
            fingerprint.update(record.text)
        bound = publication.bound(source=str(source.absolute()), parameters=mechanism.public_params())
        paid = publication.account.charge(mechanism.event(Shape()), data=fingerprint.hexdigest(), binding=bound)
        answers = mechanism.apply(texts, noise=paid.noise())
        publication.file("data.json").write_text(json.dumps(answers) + "\n", encoding="utf-8")
        release = publication.finish(
            paid, mechanism.name, mechanism.public_params(), "data.json", passes=("the number and order of the notes",)
        )
    result = publication.result(release)
    print_release(result, out, [f"{len(answers):,} answers: {out}/data.json"], as_json=as_json)
