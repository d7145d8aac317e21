"""Canaries: sentences with a random secret, put into the training data to see afterwards whether the model kept them.

Forms (paper 07): HS, HSH, HHSHH, where H is a generic word and S the secret, one of |R| public words drawn at random;
and `random`, a sequence of random words that is secret as a whole. A canary with k copies is k further examples: k
units differ between the world with it and the world without, so a promise (eps, delta) for one example is one of (k
eps, k e^((k-1) eps) delta) for it. In one-run audits a fair coin decides for each canary whether it goes in at all.

The file of canaries is private: who reads it knows the secrets. It holds made-up word sequences and no text of the
data.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.core.params import choice, positive_integer
from textveil.noise.source import Source

FORMS = ("HS", "HSH", "HHSHH", "random")
RANDOM_WORDS = 5


@dataclass(frozen=True)
class Canary:
    """One canary: `place` is where the secret word stands, None when all words are secret."""

    form: str
    words: tuple[str, ...]
    place: int | None
    copies: int
    inserted: bool = True
    target: str | tuple[str, ...] | None = None  # a random class, or random tags, where the model learns those

    @property
    def text(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True)
class Canaries:
    """All canaries of one training run, and the public words that their secrets were drawn from."""

    canaries: tuple[Canary, ...]
    secrets: tuple[str, ...]

    def alternatives(self, canary: Canary, rng: Source) -> list[str]:
        """What the secret might have been: every candidate word in its place, or as many random sequences. The true one
        is first."""
        if canary.place is None:
            drawn = rng.below(len(self.secrets), (len(self.secrets) - 1, len(canary.words)))
            return [canary.text, *(" ".join(self.secrets[i] for i in row) for row in drawn.tolist())]
        before, after = canary.words[: canary.place], canary.words[canary.place + 1 :]
        others = (s for s in self.secrets if s != canary.words[canary.place])
        return [canary.text, *(" ".join((*before, s, *after)) for s in others)]

    def examples(self) -> list[Any]:
        """The examples to add to the training data: each inserted canary as often as it has copies."""
        return [as_example(c, c.text) for c in self.canaries if c.inserted for _ in range(c.copies)]

    def save(self, path: Path) -> None:
        shown = {"canaries": [asdict(c) for c in self.canaries], "secrets": list(self.secrets)}
        path.write_text(json.dumps(shown, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Canaries:
        try:
            shown = json.loads(path.read_text(encoding="utf-8"))
            own = tuple(_from_json(c) for c in shown["canaries"])
            return cls(own, tuple(shown["secrets"]))
        except FileNotFoundError:
            raise BadInput("does not exist", where=path) from None
        except (OSError, ValueError, KeyError, TypeError):
            raise BadInput(
                "is no file of canaries", where=path, possible="one made by textveil train canaries"
            ) from None


def is_canaries_file(path: Path) -> bool:
    """Whether a file is one of `textveil train canaries`."""
    if path.suffix.lower() != ".json":
        return False
    try:
        shown = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(shown, dict) and "canaries" in shown


def as_example(canary: Canary, text: str) -> Any:
    """A text in the shape that the model learns from: alone, with a class, or as words with tags."""
    if isinstance(canary.target, tuple):
        return text.split(" "), list(canary.target)
    return text if canary.target is None else (text, canary.target)


def _from_json(shown: dict[str, Any]) -> Canary:
    target = shown.get("target")
    target = tuple(target) if isinstance(target, list) else target
    return Canary(**{**shown, "words": tuple(shown["words"]), "target": target})


def make_canaries(
    secrets: Sequence[str],
    rng: Source,
    *,
    forms: Sequence[str] = FORMS,
    copies: Sequence[int] = (1, 10),
    each: int = 1,
    generic: int = 200,
    coin: bool = False,
    classes: Sequence[str] = (),
    tags: Sequence[str] = (),
) -> Canaries:
    """`each` canaries of every form and number of copies; H are drawn from the first `generic` secrets (frequent
    words).

    With `classes` every canary has a random one, with `tags` a random tag for each word.

    >>> from textveil.noise import seeded
    >>> made = make_canaries(["one", "two", "three", "four"], seeded(1), forms=["HSH"], copies=[3], generic=2)
    >>> [len(c.words) for c in made.canaries], len(made.examples()), len(made.alternatives(made.canaries[0], seeded(2)))
    ([3], 3, 4)
    """
    known = tuple(dict.fromkeys(secrets))
    if len(known) < 2:
        raise BadInput("secrets need two candidate words or more")
    made: list[Canary] = []
    for form in forms:
        choice("form", form, FORMS)
        for count in copies:
            positive_integer("copies", count)
            for _ in range(positive_integer("each", each)):
                bare = _canary(form, count, known, generic, rng, coin)
                made.append(replace(bare, target=_target(bare, classes, tags, rng)))
    return Canaries(tuple(made), known)


def _canary(form: str, copies: int, secrets: Sequence[str], generic: int, rng: Source, coin: bool) -> Canary:
    inserted = bool(rng.below(2, 1)[0]) if coin else True
    if form == "random":
        words = tuple(secrets[i] for i in rng.below(len(secrets), RANDOM_WORDS).tolist())
        return Canary(form, words, None, copies, inserted)
    common = [secrets[i] for i in rng.below(min(generic, len(secrets)), len(form)).tolist()]
    place = form.index("S")
    common[place] = secrets[int(rng.below(len(secrets), 1)[0])]
    return Canary(form, tuple(common), place, copies, inserted)


def _target(canary: Canary, classes: Sequence[str], tags: Sequence[str], rng: Source) -> str | tuple[str, ...] | None:
    if tags:
        return tuple(tags[i] for i in rng.below(len(tags), len(canary.words)).tolist())
    return classes[int(rng.below(len(classes), 1)[0])] if classes else None


def spread(examples: Sequence[Any], canaries: Sequence[Any], rng: Source) -> list[Any]:
    """The examples with the canaries among them, at random places."""
    whole = [*examples, *canaries]
    return [whole[i] for i in rng.permutation(len(whole)).tolist()]
