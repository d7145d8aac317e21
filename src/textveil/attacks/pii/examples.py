"""Made-up masked documents on which attacks are checked: the person still told, or not at all."""

from __future__ import annotations

from textveil.attacks.exposure import Owners
from textveil.attacks.pii.seen import MaskedSeen
from textveil.noise import secure

PEOPLE = 40


def names_told(tells: str) -> MaskedSeen:
    """Documents in which a family name was missed, or masked."""
    order = secure().permutation(PEOPLE)
    people = [[f"Given Family{n:02d}"] for n in range(PEOPLE)]
    texts = [f"[PERSON] came, {f'family{n:02d}' if tells == 'all' else '[PERSON]'} said." for n in order.tolist()]
    return MaskedSeen(texts, people, truth=Owners(order))


def names_recognised(tells: str) -> MaskedSeen:
    """Documents in which a second recogniser marks the family name that was missed, or a word that names nobody."""
    order = secure().permutation(PEOPLE)
    people = [[f"Given Family{n:02d}"] for n in range(PEOPLE)]
    marked = [[f"Family{n:02d}" if tells == "all" else "Somebody"] for n in order.tolist()]
    texts = [f"[PERSON] came, {own[0]} said." for own in marked]
    return MaskedSeen(texts, people, recognised=marked, truth=Owners(order))


def facts_told(tells: str) -> MaskedSeen:
    """Documents that tell age and place, or nothing."""
    order = secure().permutation(PEOPLE)
    facts = [(str(30 + n % 8), f"Town{n // 8}") for n in range(PEOPLE)]
    told = [f"is {facts[n][0]} and lives in {facts[n][1]}" if tells == "all" else "came" for n in order.tolist()]
    return MaskedSeen([f"[PERSON] {text}." for text in told], facts=facts, truth=Owners(order))


def pseudonyms_told(tells: str) -> MaskedSeen:
    """Two corpora with the same pseudonyms, or with other ones."""
    order = secure().permutation(PEOPLE)
    names = [f"Robin Ash{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(PEOPLE)]
    others = [f"Later {name} wrote." for name in names]
    texts = [f"First {names[n] if tells == 'all' else f'Kim Oak{n}x'} came." for n in order.tolist()]
    return MaskedSeen(texts, others=others, truth=Owners(order))
