"""From the options of `federate` to what the recipes take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textveil.cli.choices import Strategy
from textveil.cli.options import given, value_of

if TYPE_CHECKING:
    from textveil.cli.federate_simulate import FederatedModel, FederatedPromise, LocalOptions, RoundOptions

_OF_ROUNDS = ("rounds", "sampling", "clip", "clipping", "quantile", "cap", "server_step", "server_rate")
_OF_SITES = ("local", "rate", "batch", "epochs", "most")
_OF_PROMISE = ("epsilon", "noise", "delta", "users")


def strategy_asked(strategy: Strategy, promise: FederatedPromise, run: RoundOptions, local_work: LocalOptions) -> Any:
    """The strategy with everything that was asked of it."""
    from textveil.recipes.federated.strategies import StrategyChoice

    return StrategyChoice(
        strategy=value_of(strategy),
        per_round=run.users_per_round,
        weighting=value_of(run.weights),
        **{name: value_of(getattr(run, name)) for name in _OF_ROUNDS},
        **{name: value_of(getattr(local_work, name)) for name in _OF_SITES},
        **{name: getattr(promise, name) for name in _OF_PROMISE},
    )


def net_asked(model: FederatedModel) -> dict[str, Any]:
    """The parameters of the net that were given."""
    from textveil.text.examples import read_texts

    words = read_texts(model.words, format="txt").inputs if model.words is not None else None
    named = ("vectors", "size", "hidden", "output", "encoder", "adapters")
    return given(words=words, **{name: getattr(model, name) for name in named})
