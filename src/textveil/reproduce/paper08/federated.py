"""Paper 08, federated half: CoNLL-2003 dealt to n clients in equal parts, one round (Tables 3 and 5) or an aggregation after
every tenth of the data (Tables 4 and 6), with DP-SGD at the clients or without.

Each client's epsilon is its own: DP-SGD there samples from the client's N / n sentences. The paper prints .688 for every n.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from textveil.core import Unit
from textveil.federated.local import LocalTraining
from textveil.federated.plan import RoundPlan
from textveil.federated.task import NetTask
from textveil.federated.weights import flat_of, layout_of, put_into
from textveil.nets.entity_scores import entity_score, token_score
from textveil.noise.source import Source, seeded
from textveil.recipes.federated.local_dp import PrivateLocalTraining, SitePlans
from textveil.reproduce.datasets import embedding
from textveil.reproduce.paper08.cells import DELTA, PRINTED_UNITS, UNITS, sentences
from textveil.training.plan import TrainingPlan, steps_for
from textveil.training.tagger import tag_set

Example = tuple[list[str], list[str]]
PHASES = 10  # of incremental training: a tenth of each client's data each


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
    net: Any, sites: Sequence[Sequence[Any]], local: Any, rounds: int, seed: int, watch: Any = None
) -> tuple[Any, list[dict[str, float]]]:
    """A copy after so many rounds in which every site takes part and all weigh alike, and what `watch` saw of each."""
    from textveil.federated import ClientSetup, Federation, FreeBook, InProcessGrid, Roster, make_client_app, run_rounds

    task = NetTask("tagger", lambda: copy.deepcopy(net))
    found = task.build()
    grid = InProcessGrid(make_client_app(ClientSetup(task, lambda: sites, local)))
    plan = RoundPlan(users=len(sites), per_round=len(sites), rounds=rounds, unit=Unit.CLIENT)
    seen: list[dict[str, float]] = []

    def look(state: Any) -> dict[str, float]:
        if watch is not None:
            put_into(found, state.weights)
            seen.append(watch(found.eval(), state.round))
        return {}

    federation = Federation(plan, layout_of(found), flat_of(found), apart=True)
    state = run_rounds(grid, federation, FreeBook(seeded(seed)), roster=Roster.anywhere(grid), watch=look)
    put_into(found, state.weights)
    return found.eval(), seen


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


def cured(
    data: Path, *, clients: int, epsilon: float, rounds: int, epochs: float, output: str, seed: int
) -> dict[str, Any]:
    """Ours: the tagger's settings (large batches, a small clip, Adam) at clients that all keep the same epsilon."""
    sites = dealt(data, clients, 1.0, seed)
    plans = SitePlans(
        tuple(map(len, sites)), rounds, min(2048, len(sites[0])), epochs / rounds, 0.2, DELTA, target=epsilon
    )
    local = PrivateLocalTraining(plans.by_size, PartSeeds(seed), 0.007)  # type: ignore[arg-type]
    found, _ = trained(new_net(data, output, False, seed), sites, local, rounds, seed)
    return {**scored(data, found), "epsilon": max(plans.epsilons()), "sentences": len(sites[0])}


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
    from dataclasses import replace

    return replace(local, noise=PartSeeds(1000 * (phase + 1) + local.noise.seed)) if hasattr(local, "noise") else local


def scored(data: Path, net: Any) -> dict[str, float]:
    """Entity-level and token-weighted scores on testa; weights that are no numbers found nothing."""
    test = sentences(data, "testa")
    gold, told = [tags for _, tags in test], net.tag([words for words, _ in test])
    entities, tokens = entity_score(gold, told), token_score(gold, told)
    named = {"entity": entities, "token": tokens}
    return {f"{n}_{k}": float(getattr(s, k)) for n, s in named.items() for k in ("precision", "recall", "f1")}
