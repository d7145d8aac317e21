"""Paper 08, federated half: CoNLL-2003 dealt to n clients in equal parts, one round (Tables 3 and 5) or an aggregation after
every tenth of the data (Tables 4 and 6), with DP-SGD at the clients or without.

Each client's epsilon is its own: DP-SGD there samples from the client's N / n sentences. The paper prints .688 for every n.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from textveil.core import Unit
from textveil.federated.local import LocalTraining, LocalUpdate
from textveil.federated.plan import RoundPlan
from textveil.federated.server_step import ServerStep
from textveil.federated.task import NetTask
from textveil.federated.weights import flat_of, layout_of, put_into
from textveil.nets.entity_scores import entity_score, token_score
from textveil.noise.source import Source, seeded
from textveil.recipes.federated.local_dp import PrivateLocalTraining, SitePlans
from textveil.reproduce.datasets import embedding
from textveil.reproduce.paper08.cells import DELTA, PRINTED_UNITS, UNITS, sentences
from textveil.training.calibrate import calibrate_plan
from textveil.training.plan import TrainingPlan, steps_for
from textveil.training.tagger import tag_set

Example = tuple[list[str], list[str]]
PHASES = 10  # of incremental training: a tenth of each client's data each
BATCH, CLIP, RATE, AVERAGE = 2048, 0.2, 0.007, 0.96  # of `train tagger`


@dataclass(frozen=True)
class PartSeeds:
    """Noise of a client's part of the run; a seed, since a study must repeat itself."""

    seed: int

    def of(self, part: int) -> Source:
        return seeded(100_000 * (self.seed + 1) + part)


@lru_cache(maxsize=4)
def new_net(data: Path, output: str, plain: bool, seed: int) -> Any:
    """A tagger that has learnt nothing. `plain`: the paper's, word vectors alone; else that of `train tagger`."""
    from textveil.nets.fit import own_randomness
    from textveil.nets.tagger import BiLSTMTagger

    tags = tag_set([own for _, own in sentences(data, "train")])
    own: dict[str, Any] = {"affix": 0, "spelling": False} if plain else {}
    with own_randomness(seed):
        return BiLSTMTagger.of(tags, embedding(data, "glove"), output=output, **own)


def dealt(data: Path, clients: int, share: float, seed: int) -> list[list[Example]]:
    """The first `share` of the shuffled training sentences, in equal parts."""
    whole = sentences(data, "train")
    order = seeded(110_000 + seed).permutation(len(whole)).tolist()[: round(share * len(whole))]
    size = len(order) // clients
    return [[whole[i] for i in order[c * size : (c + 1) * size]] for c in range(clients)]


def trained(
    net: Any, sites: Sequence[Sequence[Any]], local: Any, rounds: int, seed: int, server: Any = None
) -> tuple[Any, Any]:
    """A copy after so many rounds in which every site takes part and all weigh alike, and the mean of late iterates."""
    from textveil.federated import ClientSetup, Federation, FreeBook, InProcessGrid, Roster, make_client_app, run_rounds

    task = NetTask("tagger", lambda: copy.deepcopy(net))
    found = task.build()
    grid = InProcessGrid(make_client_app(ClientSetup(task, lambda: sites, local)))
    plan = RoundPlan(users=len(sites), per_round=len(sites), rounds=rounds, unit=Unit.CLIENT)
    late = Late(flat_of(found))
    federation = Federation(plan, layout_of(found), flat_of(found), server or ServerStep(), apart=True)
    state = run_rounds(grid, federation, FreeBook(seeded(seed)), roster=Roster.anywhere(grid), watch=late)
    averaged = task.build()
    put_into(found, state.weights)
    put_into(averaged, late.mean)
    return found.eval(), averaged.eval()


@dataclass
class Late:
    """A mean of the iterates that forgets, as `train tagger` releases it: the server sees them all, so it costs nothing."""

    mean: Any
    seen: int = 0

    def __call__(self, state: Any) -> dict[str, float]:
        self.seen += 1
        keep = min(AVERAGE, (self.seen - 1) / self.seen)  # a plain mean at first
        self.mean = (keep * self.mean + (1 - keep) * state.weights).astype(self.mean.dtype)
        return {}


@dataclass
class Carried:
    """A server's step that remembers from one part of the data to the next."""

    step: ServerStep
    memory: dict[str, Any] = field(default_factory=dict)

    def __call__(self, mean: Any, memory: dict[str, Any], weights: Any = None) -> Any:
        return self.step(mean, self.memory, weights)


def one_round(
    data: Path, *, clients: int, noise: float, epochs: int, batch: int, rate: float, clip: float, seed: int
) -> dict[str, Any]:
    """Tables 3 and 5: every client trains on all it has, weights are averaged once."""
    sites = dealt(data, clients, 1.0, seed)
    net = new_net(data, "softmax", True, seed)
    local, epsilons = _local(sites, noise, 1, batch, epochs, rate, clip, seed)
    found, _ = trained(net, sites, local, 1, seed)
    return {**scored(data, found), "epsilon": max(epsilons, default=None), "sentences": len(sites[0])}


def incremental(
    data: Path, *, clients: int, noise: float, epochs: int, batch: int, rate: float, clip: float, seed: int
) -> dict[str, Any]:
    """Tables 4 and 6: each round a client trains on its next tenth, then weights are averaged. Scores after every second."""
    sites = dealt(data, clients, 1.0, seed)
    tenth = len(sites[0]) // PHASES
    net = new_net(data, "softmax", True, seed)
    local, epsilons = _local([s[:tenth] for s in sites], noise, 1, batch, epochs, rate, clip, seed)
    curve = []
    for phase in range(PHASES):
        parts = [site[phase * tenth : (phase + 1) * tenth] for site in sites]
        net, _ = trained(net, parts, _again(local, phase), 1, seed + phase)
        if phase % 2:
            curve.append(scored(data, net))
    return {"curve": curve, "epsilon": max(epsilons, default=None), "sentences": tenth}


def client_prices(data: Path | None, *, clients: int, noise: float, batch: int, epochs: int) -> dict[str, Any]:
    """What the printed noise costs a client that holds a part of the sentences: as it is, and as the paper reads its own."""
    own, printed = UNITS // clients, PRINTED_UNITS // clients
    true = TrainingPlan(noise=noise, batch=batch, examples=own, steps=steps_for(own, batch, epochs))
    read = TrainingPlan(noise=noise, batch=1, examples=printed, steps=epochs * printed)
    return {
        "true": true.epsilon(DELTA),
        "classic": true.epsilon(DELTA, "rdp-classic"),
        "printed_reading": read.epsilon(DELTA, "rdp-classic"),
        "sentences": own,
    }


def cured(data: Path, *, clients: int, epsilon: float, epochs: float, output: str, seed: int) -> dict[str, Any]:
    """Ours: the settings of `train tagger` at clients that all keep the same epsilon for their own sentences.

    Every round each client sends one noisy gradient of a Poisson batch; the server takes a step of Adam with their mean, and
    the mean of late iterates is the model. The batches of all clients together are as large as the one client's, so sampling
    rate, number of rounds and multiplier are the same for every number of clients. What differs is where noise comes from:
    each client hides its own sentences by itself, so the noise on the mean is sqrt(clients) times that of one.
    """
    sites = dealt(data, clients, 1.0, seed)
    whole = clients * len(sites[0])
    batch = min(BATCH, whole)
    rounds = round(epochs * whole / batch)
    local, price = gradients(sites, rounds, batch, epsilon, seed)
    _, found = trained(new_net(data, output, False, seed), sites, local, rounds, seed, _adam())
    return {**scored(data, found), "epsilon": price, "noise_on_mean": local.noise_on_mean(clients), "rounds": rounds}


def cured_incremental(
    data: Path, *, clients: int, epsilon: float, epochs: float, output: str, seed: int
) -> dict[str, Any]:
    """The same, aggregated step by step while tenths of the data come in; an example is used in one phase only."""
    sites = dealt(data, clients, 1.0, seed)
    tenth = len(sites[0]) // PHASES
    batch = min(BATCH, clients * tenth // 2)
    rounds, server, curve, price = round(epochs * clients * tenth / batch), Carried(_adam()), [], 0.0
    net = averaged = new_net(data, output, False, seed)
    for phase in range(PHASES):
        parts = [site[phase * tenth : (phase + 1) * tenth] for site in sites]
        local, price = gradients(parts, rounds, batch, epsilon, 1000 * (phase + 1) + seed)
        net, averaged = trained(net, parts, local, rounds, seed + phase, server)
        if phase % 2:
            curve.append(scored(data, averaged))
    return {"curve": curve, "epsilon": price, "sentences": tenth, "rounds": PHASES * rounds}


def _adam() -> ServerStep:
    return ServerStep("adam", rate=RATE, second=0.999, tiny=1e-8)


@dataclass(frozen=True)
class NoisyGradient:
    """Minus the noisy mean gradient of one Poisson batch: one step of DP-SGD, for the server to take."""

    plan: TrainingPlan
    noise: PartSeeds

    name: str = "noisy gradient"

    def __call__(self, net: Any, examples: Sequence[Any], *, seed: int, part: int) -> LocalUpdate:
        from textveil.training.clipping_tape import Recorder
        from textveil.training.engine import PrivateTrainer
        from textveil.training.sampler import Sampler

        before, source = flat_of(net), self.noise.of(part)
        trainer = PrivateTrainer(net, self.plan, optimiser="sgd", rate=1.0, source=source, micro_batch=64)
        net.train()
        recorder = Recorder(net)
        try:
            drawn = Sampler(self.plan, len(examples), source).draw(self.plan.phase(0))
            trainer.accumulate(recorder, [examples[i] for i in drawn])
            trainer.update(0, self.plan.phase(0))
        finally:
            recorder.close()
        return LocalUpdate(flat_of(net) - before, math.nan)

    def noise_on_mean(self, clients: int) -> float:
        """Standard deviation of the noise on every coordinate of the mean of all clients' gradients."""
        return self.plan.noise * self.plan.clip / self.plan.batch / math.sqrt(clients)


def gradients(
    sites: Sequence[Sequence[Any]], rounds: int, batch: int, epsilon: float, seed: int
) -> tuple[NoisyGradient, float]:
    """The local step for an epsilon over all rounds at sites of one size, and its true price."""
    own, size = max(1, batch // len(sites)), len(sites[0])
    whole = calibrate_plan(
        TrainingPlan(noise=1.0, batch=own, examples=size, steps=rounds, clip=CLIP), epsilon, DELTA, tolerance=3e-3
    )
    return NoisyGradient(replace(whole, steps=1), PartSeeds(seed)), whole.epsilon(DELTA)


def _local(
    sites: Sequence[Sequence[Any]],
    noise: float,
    rounds: int,
    batch: int,
    epochs: int,
    rate: float,
    clip: float,
    seed: int,
) -> tuple[Any, list[float]]:
    """The local step of the paper's setting, and each client's own epsilon (none without noise)."""
    if not noise:
        return LocalTraining("sgd", rate=rate, batch=batch, epochs=epochs), []
    plans = SitePlans(tuple(map(len, sites)), rounds, batch, epochs, clip, DELTA, noise=noise)
    local = PrivateLocalTraining(plans.by_size, PartSeeds(seed), rate, optimiser="sgd")  # type: ignore[arg-type]
    return local, plans.epsilons()


def _again(local: Any, phase: int) -> Any:
    """The same step with noise of its own in every phase."""
    return replace(local, noise=PartSeeds(1000 * (phase + 1) + local.noise.seed)) if hasattr(local, "noise") else local


def scored(data: Path, net: Any) -> dict[str, float]:
    """Entity-level and token-weighted scores on testa; weights that are no numbers found nothing."""
    test = sentences(data, "testa")
    gold, told = [tags for _, tags in test], net.tag([words for words, _ in test])
    entities, tokens = entity_score(gold, told), token_score(gold, told)
    named = {"entity": entities, "token": tokens}
    return {f"{n}_{k}": float(getattr(s, k)) for n, s in named.items() for k in ("precision", "recall", "f1")}
