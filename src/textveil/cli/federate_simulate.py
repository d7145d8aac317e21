"""`textveil federate simulate`: train together on one machine, to find a plan or for a study; the result is a release."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from textveil.cli.choices import (
    Clipping,
    LocalWork,
    ModelKind,
    RoundSampling,
    ServerStepKind,
    Split,
    Strategy,
    TaggerOutput,
    UnitWeights,
)
from textveil.cli.federate_options import net_asked, strategy_asked
from textveil.cli.federate_texthide import TextHideOptions, run_texthide
from textveil.cli.options import (
    INPUT,
    MODEL,
    PROMISE,
    RUNNING,
    TRAINING,
    AllowLargeDelta,
    AsJson,
    Out,
    Reading,
    Spending,
    names_of,
    option,
    plain,
    value_of,
)
from textveil.cli.output import Warner, command_line, print_release
from textveil.cli.progress import bars

ROUNDS = "Rounds"


@dataclass(frozen=True)
class RoundOptions:
    """How a round goes."""

    rounds: Annotated[int, option("How many rounds; for remote: how often the model goes round.", group=ROUNDS)] = 10
    users_per_round: Annotated[
        int | None,
        option("Users (or sites) in a round, on average. Without: 100 users, or all sites.", group=ROUNDS),
    ] = None
    sampling: Annotated[
        RoundSampling | None,
        option(
            "dp-fedavg: poisson (default), each joins by a coin; fixed: rounds of one size, which cost more.",
            group=ROUNDS,
        ),
    ] = None
    clip: Annotated[
        float | None,
        option("The longest update of one user; for dp-sgd the longest gradient of one example.", group=ROUNDS),
    ] = None
    clipping: Annotated[
        Clipping, option("Clip the whole update, each layer, or by a noisy quantile that is paid for.", group=ROUNDS)
    ] = Clipping.FLAT
    quantile: Annotated[
        float, option("adaptive: the share of updates that should be below the clip.", group=ROUNDS)
    ] = 0.5
    weights: Annotated[
        UnitWeights | None,
        option("Weight of a user: equal, capped, or by examples (only without noise).", group=ROUNDS),
    ] = None
    cap: Annotated[int, option("capped: examples from which on a user has full weight.", group=ROUNDS)] = 100
    server_step: Annotated[ServerStepKind, option("What the server does with the mean update.", group=ROUNDS)] = (
        ServerStepKind.AVERAGE
    )
    server_rate: Annotated[float | None, option("Rate of the server's step. Without: 1.", group=ROUNDS)] = None


@dataclass(frozen=True)
class LocalOptions:
    """What a user does in a round."""

    local: Annotated[
        LocalWork,
        option(
            "How users train: sgd, momentum, adam; dp-sgd adds noise at each site, for each example; texthide (broken) "
            "sends gradients of masked mixtures.",
            group=TRAINING,
        ),
    ] = LocalWork.SGD
    rate: Annotated[float | None, option("Learning rate of users. Without: what suits --local.", group=TRAINING)] = None
    batch: Annotated[int, option("Examples in a local step.", group=TRAINING)] = 16
    epochs: Annotated[int, option("Passes through a user's own examples in a round.", group=TRAINING)] = 1
    most: Annotated[
        int | None, option("Use at most so many examples of a user in a round.", "--most-examples", group=TRAINING)
    ] = None
    test: Annotated[
        Path | None, option("Score the model on this file, which is taken to be public.", group=TRAINING)
    ] = None


@dataclass(frozen=True)
class FederatedPromise:
    """What is promised."""

    epsilon: Annotated[
        float | None, option("The loss of one user (dp-sgd: of one example) by the whole run.", group=PROMISE)
    ] = None
    noise: Annotated[float | None, option("Instead of --epsilon: noise as a multiple of the clip.", group=PROMISE)] = (
        None
    )
    delta: Annotated[float | None, option("Chance that the bound fails; well below 1 / users.", group=PROMISE)] = None
    users: Annotated[
        int | None,
        option("Declare how many users there are: a public figure. Without: their number, rounded.", group=PROMISE),
    ] = None
    allow_large_delta: AllowLargeDelta = False


@dataclass(frozen=True)
class FederatedModel:
    """The net."""

    start: Annotated[
        Path | None, option("Begin from this model folder of `textveil train`, taken to be public.", group=MODEL)
    ] = None
    frozen: Annotated[
        str | None,
        option("Parameters that do not learn, by the beginnings of their names, e.g. vectors,lstm.", group=MODEL),
    ] = None
    encoder: Annotated[
        str | None,
        option("Start from a public encoder: minilm (comes with Textveil), or a folder of BERT's kind.", group=MODEL),
    ] = None
    adapters: Annotated[
        int | None,
        option("With an encoder: let it rest and learn adapters (LoRA) of this rank; 0: the head alone.", group=MODEL),
    ] = None
    vectors: Annotated[
        str | None, option("tagger, classifier: public word vectors, 'default' or a vector file.", group=MODEL)
    ] = None
    words: Annotated[Path | None, option("lm: a public list of words, one a line.", group=MODEL)] = None
    size: Annotated[int | None, option("lm: words of the vocabulary. Without: 10,000.", group=MODEL)] = None
    hidden: Annotated[int | None, option("Units of the LSTM.", group=MODEL)] = None
    output: Annotated[
        TaggerOutput | None, option("tagger: tags by whole sentences (crf) or word by word (softmax).", group=MODEL)
    ] = None
    labels: Annotated[
        str | None,
        option("Declare tags or classes, divided by commas. Without: those of the first file.", group=INPUT),
    ] = None


def simulate(
    sources: Annotated[
        list[Path], typer.Argument(metavar="IN...", help="One file with --user-field, or one file for each site.")
    ],
    out: Out,
    task: Annotated[ModelKind, option("What is learnt.", "--task")] = ModelKind.LM,
    strategy: Annotated[Strategy, option("How it is learnt together.", "--strategy")] = Strategy.FEDAVG,
    *,
    promise: FederatedPromise,
    run: RoundOptions,
    local_work: LocalOptions,
    model: FederatedModel,
    texthide: TextHideOptions,
    user_field: Annotated[
        str | None, option("The field that says who wrote a text: each user is a unit.", group=INPUT)
    ] = None,
    label_field: Annotated[
        str | None, option("classifier: the field that holds the label. Without: label.", group=INPUT)
    ] = None,
    sites: Annotated[int | None, option("For a study: cut IN into so many sites.", group=INPUT)] = None,
    split: Annotated[
        Split, option("For a study: iid deals examples at random; with --sites also blocks or labels.", group=INPUT)
    ] = Split.NATURAL,
    workers: Annotated[
        int | None, option("Processes that train; 0: this one. Without: one a core, 0 for small files.", group=RUNNING)
    ] = None,
    reading: Reading,
    spending: Spending,
    as_json: AsJson = False,
) -> None:
    """Train one model with users or sites, on this machine, as a federation would.

    Example: textveil federate simulate posts.jsonl -o model --strategy dp-fedavg --epsilon 8 --delta 1e-4 --user-field user
    """
    from textveil.recipes.federated.simulate import SimulateJob
    from textveil.recipes.federated.simulate import simulate as run_simulation
    from textveil.recipes.training.scores import score_lines

    if local_work.local is LocalWork.TEXTHIDE:
        return run_texthide(
            sources,
            out,
            texthide,
            encoder=model.encoder,
            rounds=run.rounds,
            local_work=local_work,
            label_field=label_field,
            sites=sites,
            promised={name: getattr(promise, name) for name in ("epsilon", "noise", "delta")},
            reading=reading,
            spending=spending,
            as_json=as_json,
        )
    job = SimulateJob(
        tuple(sources),
        out,
        value_of(task),
        strategy_asked(strategy, promise, run, local_work),
        net_asked(model),
        user_field,
        label_field,
        None if model.labels is None else names_of(model.labels),
        sites,
        value_of(split),
        model.start,
        () if model.frozen is None else names_of(model.frozen),
        local_work.test,
        workers,
        **plain(spending),
        **plain(reading),
        allow_large_delta=promise.allow_large_delta,
    )
    warner = Warner()
    result = run_simulation(job, bar=bars(quiet=as_json), warn=warner)
    lines = [f"{result['task']}: {out}/model ({result['rounds']:,} rounds, {result['strategy']})"]
    more = [f"scores:  {line}" for line in score_lines(result["task"], result["scores"])] + site_lines(result)
    next_step = command_line("train", "apply", out, "TEXTS")
    print_release(result, out, lines, as_json=as_json, more=more, next=next_step, said=warner)


def site_lines(result: dict[str, Any]) -> list[str]:
    """Each site's own epsilon, and who was left out of rounds.

    >>> site_lines({"site_epsilons": [1.0, 2.5], "delta": 1e-5, "refused": {"worker 1: not-finite": 2}})
    ['sites:   epsilon 1 to 2.5 at delta 1e-05, each from its own number of examples', 'refused: worker 1: not-finite (2)']
    """
    lines = []
    if result["site_epsilons"]:
        low, high = min(result["site_epsilons"]), max(result["site_epsilons"])
        spread = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
        lines.append(f"sites:   epsilon {spread} at delta {result['delta']:g}, each from its own number of examples")
    return lines + [f"refused: {name} ({count})" for name, count in sorted(result["refused"].items())]
