"""Evidence of attacks that name, of many candidates, those that stand in a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import Members
from textveil.core import BadInput, Unit

Named = npt.NDArray[np.bool_]


def told_apart(attack: Any, metric: str, named: Named, truth: Members | None, notes: tuple[str, ...]) -> Evidence:
    """How many of those in the batch were named (`value`), and how many of the others: a test of two worlds, in or out."""
    if truth is None:
        raise BadInput(f"the attack {attack.name} can be scored only when the truth tells what stood in the batch")
    inside = truth.inside
    hits, tries = int((named & inside).sum()), int(inside.sum())
    false_hits, false_tries = int((named & ~inside).sum()), int((~inside).sum())
    if not tries or not false_tries:
        raise BadInput(f"the attack {attack.name} needs a batch that holds some candidates and not all")
    wrong = f"{false_hits:,} of {false_tries:,} that did not stand there were named too"
    chance = float(named.mean())
    return Evidence(
        attack.name,
        metric,
        hits / tries,
        chance,
        hits,
        tries,
        unit=Unit.WORD,
        false_hits=false_hits,
        false_tries=false_tries,
        dependent=True,
        notes=(*notes, wrong),
    )
