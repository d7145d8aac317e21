"""What a word mechanism assumes and what it lets pass, in words for a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textveil.words.mechanism import WordMechanism

TOKEN = "UNK"


def assumed_by(mechanism: WordMechanism) -> tuple[str, ...]:
    """Assumptions and policies that the promise rests on."""
    alike = "punctuation, spaces and signs" + (", and letter case" if mechanism.case == "keep" else "")
    lines = [
        "the vectors are public and were not made from the text",
        mechanism.rounding,
        f"the texts compared have the same number of words and the same {alike}",
    ]
    if mechanism.once:
        lines.append("the texts compared have equal words at the same places; one occurrence alone has no promise")
    if mechanism.kinds:
        lines.append(
            "the texts compared have words of the same kind and form at each place: numbers, dates, codes and other words "
            f"are told apart with certainty. Within a kind the loss is epsilon {mechanism.kinds_epsilon:g} a step: a tenth "
            "of the range of a number, 365 days of a date, one character of a code"
        )
    if mechanism.oov == "token":
        lines.append(f"words outside the vocabulary become '{TOKEN}': that they are outside is not protected")
    if mechanism.kept_:
        lines.append(
            f"{len(mechanism.kept_)} kept words pass unchanged and are not protected; neither is that a word is none of them"
        )
    return tuple(lines)


def passing_with(mechanism: WordMechanism) -> tuple[str, ...]:
    """What leaves a text unprotected."""
    named = [
        "the number and the order of the words of each text",
        "punctuation, white space, currency and mathematical signs (digits are words and are drawn)",
    ]
    if mechanism.once:
        named.append("which places of a text hold equal words: each distinct word of a text is drawn once")
    if mechanism.kinds:
        named.append(
            "which words are numbers, dates or codes, and their form: the number of digits, how a date is written, which "
            "characters of a code are letters"
        )
    if mechanism.case == "keep":
        named.append("letter case: which words have capitals")
    if mechanism.oov == "token":
        named.append(f"which words are outside the vocabulary (written '{TOKEN}')")
    if mechanism.kept_:
        named.append(f"kept words ({mechanism.kept_named}), and that all other words are none of them")
    return tuple(named)
