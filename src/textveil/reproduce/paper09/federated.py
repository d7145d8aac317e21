"""Paper 09, federated half: a tagger trained where the data lie. Figure 4 (loss), Table 6 (exact F1), Figure 5 (workers).

    central            all sentences in one place, shuffled
    federated/central  workers send batches by turns, the operator trains: the operator sees the text
    federated/remote   the model is passed from worker to worker and never averaged: each worker sees the model of the last
    fedavg             weights are averaged after every pass (not in the paper)

The paper guesses that remote training is worse because weights are compressed on the way: `half` sends them as 16-bit
numbers. Another cause would be that each worker begins its optimiser afresh, and that the last worker has the last word.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from textveil.federated.local import LocalTraining, LocalUpdate
from textveil.federated.plan import RoundPlan
from textveil.federated.task import NetTask
from textveil.federated.weights import flat_of, layout_of, put_into
from textveil.noise.source import seeded
from textveil.pii.scores.intervals import sums_of
from textveil.pii.scores.rewards import Scheme
from textveil.reproduce.datasets import embedding

from .data import Sentence, automatic, documents
from .models import TAGS, Example
from .scored import scored

CONLL = "conll2003"
SETTINGS = ("central", "federated/central", "federated/remote", "federated/remote, half", "fedavg")
SHARDS = 10


def conll(data: Path, part: str) -> list[Sentence]:
    """Sentences of CoNLL-2003, each a document of its own."""
    from textveil.text.examples import read_tagged

    tagged = read_tagged(data / CONLL / f"eng.{part}.gz", format="conll")
    pairs = zip(tagged.inputs, tagged.targets, strict=True)
    return [Sentence(str(n), 0, tuple(words), tuple(tags)) for n, (words, tags) in enumerate(pairs)]


def read(data: Path, dataset: str) -> tuple[list[Sentence], list[Sentence]]:
    """Sentences to train on and to test on."""
    if dataset == "conll":
        return conll(data, "train"), conll(data, "testa")
    train, test = automatic(data, repair=False)
    return [s for s in train if s.has_entity], [s for s in test if s.has_entity]


def new_net(data: Path, model: str, tags: Sequence[str], seed: int) -> Any:
    """A tagger that has learnt nothing of the task."""
    from textveil.nets.fit import own_randomness

    with own_randomness(seed):
        if model == "transformer":
            from textveil.nets.encoder import Encoder, encoder_folder

            return Encoder(encoder_folder("minilm"), "tagger", list(tags), max_pieces=50, layers=3)
        from textveil.nets.tagger import BiLSTMTagger

        return BiLSTMTagger.of(list(tags), embedding(data, "glove"))


@dataclass
class Watched:
    """The loss of every batch that a net was trained on, in order."""

    losses: list[float] = field(default_factory=list)

    @contextmanager
    def of(self, net: Any) -> Iterator[Any]:
        """Within, the net writes down its losses."""
        original = net.losses

        def losses(batch: Any) -> Any:
            found = original(batch)
            self.losses.append(float(found.detach().mean()))
            return found

        net.losses = losses
        try:
            yield net
        finally:
            del net.losses

    def curve(self, points: int = 40) -> list[float]:
        """Means of so many stretches of equal length."""
        parts = np.array_split(np.array(self.losses), min(points, max(1, len(self.losses))))
        return [round(float(part.mean()), 4) for part in parts]


@dataclass(frozen=True)
class WatchedStep:
    """A local step whose batches are watched; `half` sends 16-bit weights on."""

    inner: LocalTraining
    watched: Watched
    half: bool = False

    name: str = "watched"

    def __call__(self, net: Any, examples: Sequence[Any], *, seed: int, part: int) -> LocalUpdate:
        before = flat_of(net)
        with self.watched.of(net):
            found = self.inner(net, examples, seed=seed, part=part)
        if not self.half:
            return found
        sent = (before + found.update).astype(np.float16).astype(np.float32)
        return LocalUpdate(sent - before, found.loss, found.steps)


def trained(
    net: Any, workers: list[list[Example]], setting: str, local: LocalTraining, epochs: int, seed: int
) -> tuple[Any, list[float]]:
    """A copy trained in one of the settings, and its loss curve."""
    net, watched = copy.deepcopy(net), Watched()
    if setting == "central":
        with watched.of(net):
            _central(net, [e for worker in workers for e in worker], local, epochs, seed)
    elif setting == "federated/central":
        with watched.of(net):
            _sent_batches(net, workers, local, epochs, seed)
    else:
        step = WatchedStep(local, watched, half=setting.endswith("half"))
        _rounds(net, workers, step, epochs, seed, cycle=setting != "fedavg")
    return net.eval(), watched.curve()


def _central(net: Any, examples: list[Example], local: LocalTraining, epochs: int, seed: int) -> None:
    from textveil.nets.plain_fit import fit_plainly

    fit_plainly(net, examples, epochs=epochs, batch=local.batch, rate=local.rate, decay=False, seed=seed)


def _sent_batches(net: Any, workers: list[list[Example]], local: LocalTraining, epochs: int, seed: int) -> None:
    from textveil.federated import ClientSetup, Federation, FreeBook, InProcessGrid, Roster, make_client_app
    from textveil.federated.central import run_central

    task = NetTask("tagger", lambda: copy.deepcopy(net))
    grid = InProcessGrid(make_client_app(ClientSetup(task, lambda: workers, local, sends_examples=True)))
    plan = RoundPlan(users=len(workers), per_round=len(workers), rounds=epochs, unit="client")
    federation = Federation(plan, layout_of(net), flat_of(net), apart=True)
    steps = -(-max(map(len, workers)) // local.batch)
    book, roster = FreeBook(seeded(seed)), Roster.anywhere(grid)
    state = run_central(grid, federation, book, net, local, steps=steps, roster=roster)
    put_into(net, state.weights)


def _rounds(net: Any, workers: list[list[Example]], step: WatchedStep, epochs: int, seed: int, *, cycle: bool) -> None:
    from textveil.federated import ClientSetup, Federation, FreeBook, InProcessGrid, make_client_app, run_rounds

    original = copy.deepcopy(net)
    task = NetTask("tagger", lambda: copy.deepcopy(original))
    grid = InProcessGrid(make_client_app(ClientSetup(task, lambda: workers, step)))
    count = len(workers)
    plan = RoundPlan(
        users=count,
        per_round=1 if cycle else count,
        rounds=epochs * (count if cycle else 1),
        sampling="cycle" if cycle else "fixed",
        unit="client",
    )
    state = run_rounds(grid, Federation(plan, layout_of(net), flat_of(net)), FreeBook(seeded(seed)))
    put_into(net, state.weights)


def dealt(examples: Sequence[Example], workers: int, seed: int) -> list[list[Example]]:
    """Shuffled, in equal parts."""
    order = seeded(120_000 + seed).permutation(len(examples)).tolist()
    return [[examples[i] for i in order[w::workers]] for w in range(workers)]


def tested(net: Any, sentences: Sequence[Sentence]) -> dict[str, Any]:
    """The four scores of the paper, with intervals over documents."""
    inputs = [s.example(True)[0] for s in sentences]
    tagged = [
        out[len(words) - len(s.words) :] for out, words, s in zip(net.tag(inputs), inputs, sentences, strict=True)
    ]
    return scored(sums_of(documents(sentences, tagged), Scheme.PAPER))


def setting_cell(
    data: Path, *, dataset: str, setting: str, workers: int, model: str, epochs: int, batch: int, rate: float, seed: int
) -> dict[str, Any]:
    """Table 6 and Figure 4: one data set in one setting."""
    train, test = read(data, dataset)
    tags = sorted({t for s in train for t in s.tags}, key=lambda t: (t != "O", t)) if dataset == "conll" else TAGS
    net = new_net(data, model, tags, seed)
    parts = dealt([s.example(True) for s in train], workers, seed)
    found, curve = trained(net, parts, setting, LocalTraining("adam", rate=rate, batch=batch), epochs, seed)
    scores = {name: score["value"] for name, score in tested(found, test).items()}
    return {**scores, "curve": curve, "final_loss": curve[-1], "sentences": len(train)}


def workers_cell(
    data: Path, *, workers: int, model: str, epochs: int, batch: int, rate: float, seed: int
) -> dict[str, Any]:
    """Figure 5: ten shards of WikiPII's stand-in, of which so many take part, federated/central."""
    train, test = read(data, "wikipii")
    parts = dealt([s.example(True) for s in train], SHARDS, seed)[:workers]
    net = new_net(data, model, TAGS, seed)
    local = LocalTraining("adam", rate=rate, batch=batch)
    found, _ = trained(net, parts, "federated/central", local, epochs, seed)
    scores = {name: score["value"] for name, score in tested(found, test).items()}
    return {**scores, "sentences": sum(map(len, parts))}
