"""The federated secret sharer (paper 05): made-up sentences in the data of a few users, and users made of nothing else.

A canary is a sequence of random words. `sharers` users hold it, and each sentence of theirs is replaced by it with chance
`share` (Poisson); no user shares two canaries, and where chance would leave a canary out altogether one sentence is replaced,
so that counts are out of all canaries. k users differ between the world with a canary and the world without it: a promise
(eps, delta) for one user is one of (k eps, k e^((k-1) eps) delta) for the canary, however often each of them wrote it.

A canary user is a user of its own who writes one canary again and again; a fair coin decides whether he takes part at all.
Many of them give a lower limit on the user-level epsilon from one run (federated.one_run).

The file of canaries is private: who reads it knows the secrets. It holds made-up word sequences and no text of the data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from textveil.attacks.training.canaries import Canaries, Canary, make_canaries
from textveil.core import BadInput
from textveil.core.params import positive_integer
from textveil.noise.source import Source

SHARERS, SHARES = (1, 3, 10), (0.01, 0.1, 1.0)
Texts = dict[str, list[str]]  # of each user


@dataclass(frozen=True)
class SharedCanary:
    """One canary: how many users hold it, which share of their sentences it replaces, and how often it stands there."""

    words: tuple[str, ...]
    sharers: int
    share: float
    occurrences: int = 0

    @property
    def text(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True)
class SharedCanaries:
    """All canaries of one federation, the public words that they were drawn from, and the canary users."""

    canaries: tuple[SharedCanary, ...]
    secrets: tuple[str, ...]
    users: tuple[Canary, ...] = ()

    @property
    def canary_users(self) -> Canaries:
        """The canary users, as a one-run audit takes them."""
        return Canaries(self.users, self.secrets)

    def save(self, path: Path) -> None:
        shown = {
            "canaries": [asdict(c) for c in self.canaries],
            "secrets": list(self.secrets),
            "users": [asdict(c) for c in self.users],
        }
        path.write_text(json.dumps(shown, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> SharedCanaries:
        try:
            shown = json.loads(path.read_text(encoding="utf-8"))
            shared = tuple(SharedCanary(**_with_words(c)) for c in shown["canaries"])
            return cls(shared, tuple(shown["secrets"]), tuple(Canary(**_with_words(c)) for c in shown["users"]))
        except FileNotFoundError:
            raise BadInput("does not exist", where=path) from None
        except (OSError, ValueError, KeyError, TypeError):
            possible = "one made by textveil federate canaries"
            raise BadInput("is no file of shared canaries", where=path, possible=possible) from None


def _with_words(shown: dict[str, Any]) -> dict[str, Any]:
    return {**shown, "words": tuple(shown["words"])}


def make_shared(
    secrets: Sequence[str],
    rng: Source,
    *,
    sharers: Sequence[int] = SHARERS,
    shares: Sequence[float] = SHARES,
    each: int = 10,
    users: int = 0,
) -> SharedCanaries:
    """`each` canaries for every number of sharers and share, and so many canary users.

    >>> from textveil.noise import seeded
    >>> made = make_shared(["one", "two", "three"], seeded(1), users=4)
    >>> len(made.canaries), len(made.users), len(made.canaries[0].words)
    (90, 4, 5)
    """
    for share in shares:
        if not 0 < share <= 1:
            raise BadInput(f"share must be above 0 and at most 1, not {share}")
    drawn = make_canaries(secrets, rng, forms=["random"], copies=sharers, each=each * len(shares))
    own_shares = [share for _ in sharers for share in shares for _ in range(each)]
    canaries = [SharedCanary(c.words, c.copies, s) for c, s in zip(drawn.canaries, own_shares, strict=True)]
    people = make_canaries(secrets, rng, forms=["random"], copies=[1], each=users, coin=True).canaries if users else ()
    return SharedCanaries(tuple(canaries), drawn.secrets, people)


def plant(texts: Mapping[str, Sequence[str]], canaries: SharedCanaries, rng: Source) -> tuple[Texts, SharedCanaries]:
    """The users' sentences with the canaries among them, and the canaries with their occurrences."""
    planted = {user: list(own) for user, own in texts.items()}
    needed = sum(c.sharers for c in canaries.canaries)
    if needed > len(planted):
        raise BadInput(
            f"{needed} users would share canaries, and there are {len(planted)}", possible="fewer canaries, or sharers"
        )
    names = list(planted)
    waiting = iter([names[i] for i in rng.permutation(len(names)).tolist()])
    counted = []
    for canary in canaries.canaries:
        holders = [next(waiting) for _ in range(canary.sharers)]
        counted.append(replace(canary, occurrences=_replace(planted, holders, canary, rng)))
    typical = sorted(map(len, planted.values()))[len(planted) // 2] if planted else 1
    for number, user in enumerate(canaries.users):
        if user.inserted:
            planted[f"canary-{number}"] = [user.text] * positive_integer("sentences", typical)
    return planted, replace(canaries, canaries=tuple(counted))


def _replace(planted: Texts, holders: Sequence[str], canary: SharedCanary, rng: Source) -> int:
    """Put a canary into its sharers' sentences; how often that was."""
    places = [(user, i) for user in holders for i in range(len(planted[user]))]
    chosen = [place for place, u in zip(places, rng.uniforms(len(places)).tolist(), strict=True) if u < canary.share]
    chosen = chosen or [places[int(rng.below(len(places), 1)[0])]]
    for user, i in chosen:
        planted[user][i] = canary.text
    return len(chosen)
