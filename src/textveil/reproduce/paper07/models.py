"""Paper 07: vocabulary, encoder, continued training, tagging. Two layers of width 128; all of it learns."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.noise.source import seeded
from textveil.recipes.training.vocab import tokenizer_from
from textveil.reproduce.paper07.data import Sentence
from textveil.training.one_budget import OneBudget, one_budget
from textveil.training.plan import TrainingPlan
from textveil.training.vocabulary import Vocabulary
from textveil.training.vocabulary_public import public_frequencies

DELTA = 1e-6
LONGEST = 40  # pieces of an example that are read
RATE, PRIVATE_RATE, TAGGER_RATE = 1e-3, 1e-3, 2e-3
CLIP = 0.1


@dataclass(frozen=True)
class Coded:
    """A tokenizer, and texts as piece numbers."""

    made: Any

    def texts(self, examples: Sequence[Sequence[str]]) -> list[list[int]]:
        return [e.ids[:LONGEST] for e in self._encode(examples)]

    def sentences(self, sentences: Sequence[Sentence]) -> list[tuple[list[list[int]], list[str]]]:
        found = []
        for words, tags in sentences:
            pieces = [self.made.encode(w, add_special_tokens=False).ids or [1] for w in words]
            found.append((pieces, list(tags)))
        return found

    def _encode(self, examples: Sequence[Sequence[str]]) -> list[Any]:
        return self.made.encode_batch([" ".join(words) for words in examples], add_special_tokens=False)


def private_vocabulary(vocabulary: Vocabulary, units: Sequence[Sequence[str]], size: int, seed: int) -> Coded:
    """Drawn with a seed, since a study must repeat itself; no release is made of it."""
    counts = vocabulary.apply(units, noise=seeded(seed))
    return Coded(tokenizer_from(counts, vocabulary.noising(), size=size, public=public_frequencies("default")))


def plain_vocabulary(units: Sequence[Sequence[str]], size: int) -> Coded:
    """Without privacy, from the true counts."""
    from collections import Counter

    from textveil.training.vocabulary_wordpiece import wordpiece

    return Coded(wordpiece(Counter(word for unit in units for word in unit), size))


def from_scratch(coded: Coded, public: Sequence[Sequence[str]], seed: int) -> Any:
    """An encoder that has read public text once."""
    from textveil.nets.fit import own_randomness
    from textveil.nets.small_encoder import SmallEncoder

    with own_randomness(seed):
        net = SmallEncoder(coded.made.get_vocab_size(), longest=LONGEST)
    return continued(net, coded.texts(public), epochs=1, seed=seed)


def continued(net: Any, examples: Sequence[Any], *, epochs: int, seed: int) -> Any:
    """A copy that went on without privacy."""
    from textveil.nets.plain_fit import fit_plainly

    further = copy.deepcopy(net)
    fit_plainly(further, examples, epochs=epochs, batch=64, rate=RATE, seed=seed)
    return further


def continued_privately(
    net: Any, examples: Sequence[Any], plan: TrainingPlan, *, seed: int, rate: float = PRIVATE_RATE
) -> Any:
    """A copy that went on under a plan."""
    from textveil.nets.fit import own_randomness
    from textveil.training.engine import PrivateTrainer

    further = copy.deepcopy(net)
    trainer = PrivateTrainer(
        further, plan, rate=rate, rate_schedule="linear", source=seeded(seed), micro_batch=128, delta=DELTA
    )
    with own_randomness(seed):
        trainer.fit(examples)
    return further


def shared_budget(epsilon: float, examples: int, batch: int, steps: int, vocab_epsilon: float) -> OneBudget:
    """Vocabulary and training in one promise."""
    return one_budget(
        epsilon,
        DELTA,
        batch=batch,
        examples=examples,
        steps=steps,
        vocab_epsilon=vocab_epsilon,
        method="policy",
        clip=CLIP,
    )


def folds_f1(net: Any, coded: Coded, sentences: Sequence[Sentence], folds: int, epochs: int, seed: int) -> list[float]:
    """Entity-level F1 of each fold: four fifths to learn from, one fifth to test on."""
    from textveil.nets.entity_scores import entity_score
    from textveil.nets.fit import own_randomness
    from textveil.nets.plain_fit import fit_plainly

    labels = sorted({t for _, tags in sentences for t in tags}, key=lambda t: (t != "O", t))
    pieces = coded.sentences(sentences)
    found = []
    for fold in range(folds):
        test = list(range(fold, len(pieces), 5))
        train = [p for i, p in enumerate(pieces) if i % 5 != fold]
        with own_randomness(seed + fold):
            tagger = copy.deepcopy(net).tagger(labels)
        fit_plainly(tagger, train, epochs=epochs, batch=16, rate=TAGGER_RATE, seed=seed + fold)
        answered = tagger.tag([pieces[i][0] for i in test])
        found.append(float(entity_score([pieces[i][1] for i in test], answered).f1))
    return found


def known_pieces(coded: Coded) -> list[int]:
    """Pieces that are whole words of three letters or more: what a secret is drawn from."""
    pieces = coded.made.get_vocab()
    return sorted(n for piece, n in pieces.items() if len(piece) > 2 and piece.isalpha() and piece.isascii())


def data_of(data: Path | None) -> Path:
    assert data is not None
    return data
