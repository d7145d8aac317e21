"""Which recognisers a command uses, and which kinds of personal data it looks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from textveil.core.errors import BadInput
from textveil.pii.policies import Policy, load_policy
from textveil.pii.recognisers import PATTERNS, Recognisers, load


@dataclass(frozen=True)
class RecogniserChoice:
    """Recognisers by name or folder; `labels` or a policy's labels only; the least score by label."""

    models: tuple[str, ...] = (PATTERNS,)
    labels: tuple[str, ...] = ()
    policy: str | None = None
    thresholds: dict[str, float] = field(default_factory=dict)

    def open(self) -> Recognisers:
        """The recognisers, loaded."""
        if self.labels and self.policy is not None:
            raise BadInput("--labels and --policy exclude each other", possible="one of them")
        if self.policy is None:
            return load(list(self.models), labels=self.labels or None, thresholds=self.thresholds)
        everything = load(list(self.models), thresholds=self.thresholds)
        chosen = load_policy(self.policy).labels_of(everything.labels)
        return Recognisers(everything.finders, chosen, {k: v for k, v in self.thresholds.items() if k in chosen})

    def policy_lines(self, recogniser: Recognisers) -> tuple[str, ...]:
        """What a card says of the policy."""
        if self.policy is None:
            return ()
        return load_policy(self.policy).lines(*labels_by_way(recogniser))


def labels_by_way(recogniser: Recognisers) -> tuple[set[str], set[str]]:
    """The labels that rules find, and those that models find."""
    by_rule, by_model = set[str](), set[str]()
    for finder in recogniser.finders:
        is_model = getattr(finder, "is_model", False)
        (by_model if is_model else by_rule).update(finder.labels)
    return by_rule, by_model


def policy_table(name: str, models: Sequence[str] = (PATTERNS,)) -> tuple[Policy, list[dict[str, str]]]:
    """A policy, and how each of its types is found by these recognisers."""
    policy, recogniser = load_policy(name), load(list(models))
    return policy, policy.table(*labels_by_way(recogniser))


def thresholds_of(listed: str | None) -> dict[str, float]:
    """Least scores as the command line gives them.

    >>> thresholds_of("PHONE_NUMBER=0.7, AGE=0.9")
    {'PHONE_NUMBER': 0.7, 'AGE': 0.9}
    """
    chosen = dict[str, float]()
    for part in (listed or "").split(","):
        name, equals, value = part.partition("=")
        if not part.strip():
            continue
        try:
            score = float(value)
        except ValueError:
            score = -1.0
        if not equals or not 0 <= score <= 1:
            raise BadInput(
                "a threshold is a label and a score from 0 to 1", possible="--thresholds PHONE_NUMBER=0.7,AGE=0.9"
            )
        chosen[name.strip()] = score
    return chosen


__all__ = ["RecogniserChoice", "labels_by_way", "policy_table", "thresholds_of"]
