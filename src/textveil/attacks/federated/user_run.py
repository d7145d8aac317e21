"""A lower limit on the user-level epsilon from one federated run with canary users (training.one_run has the theorem).

A canary user writes one random sentence again and again, and a fair coin decided whether he took part. One canary is one user
with all that he holds, so the limit is on the promise for users.
"""

from __future__ import annotations

from textveil.attacks.training.one_run import OneRunAttack
from textveil.core.example import AttackExample


class UserRunAttack(OneRunAttack):
    """Guess which canary users took part.

    Parameters
    ----------
    share
        Share of the canary users whose coins are guessed; fixed beforehand.
    unit
        What one canary is: "user".
    delta
        Of the promise that is tested.
    """

    name = "federated.one_run"

    def __init__(self, share: float = 0.25, unit: str = "user", delta: float = 0.0):
        super().__init__(share, unit, delta)

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.training.examples import coins_told

        return AttackExample(cls(share=0.5), coins_told)
