"""Patterns that begin with a word or a sign instead of a number: e-mail, internet addresses, names after a title, dates.

Each is one expression over the whole text that is run only where its sign (`trigger`) occurs at all.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import NamedTuple

from textveil.pii.rules_contact import MONTHS

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_ENDINGS = (
    "com|org|net|edu|gov|mil|int|info|biz|io|co|app|dev|ai|eu|uk|us|ca|au|nz|de|at|ch|fr|be|nl|lu|es|pt|it|gr|cy|ie|dk|no|"
    "se|fi|is|pl|cz|sk|hu|si|hr|rs|bg|ro|ua|ru|tr|il|za|in|cn|jp|kr|br|mx|ar|uy|cl|tv|me"
)
_CAPITAL = r"(?-i:[A-ZÀ-ÖØ-ÞČĐŁŠŽ][\w'’-]*)"
_NAME = rf"{_CAPITAL}(?: (?:(?:van|von|de|del|der|den|di|da|la|le|bin|al|zu|af) ){{0,2}}{_CAPITAL}){{0,3}}"
_TITLES = (
    "mr|mrs|ms|miss|mx|dr|prof|professor|sir|madam|lady|lord|rev|reverend|father|sister|judge|capt|captain|col|sgt|"
    "herr|frau|monsieur|madame|mme|señor|señora|sra?|signora?"
)


class WordRule(NamedTuple):
    """An expression with a group `it` for the finding (or the whole match), and a check of it."""

    name: str
    label: str
    trigger: str  # a sign or a piece without which the text cannot hold it; "" always run
    regex: re.Pattern[str]
    score: float
    check: Callable[[str], bool] | None = None


def _is_ipv6(address: str) -> bool:
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        return False
    return True


def _rule(
    name: str, label: str, trigger: str, regex: str, score: float, check: Callable[[str], bool] | None = None
) -> WordRule:
    return WordRule(name, label, trigger, re.compile(regex, re.IGNORECASE), score, check)


EMAIL = _rule(
    "email", "EMAIL_ADDRESS", "@",
    rf"(?<![\w.+%-])(?P<it>[\w.!#$%&'*+/=?^`{{|}}~-]{{1,64}}@(?:{_LABEL}\.)+[a-z]{{2,24}})(?![\w-])", 0.99,
)  # fmt: skip
_URL_TAIL = r"""(?:[/?#:][^\s<>"'\]})]*[^\s<>"'\]}).,;:!?])?/?"""
RULES = (
    _rule("url", "URL", "://", r"""(?<!\w)(?P<it>(?:https?|ftp)://[^\s<>"'\]})]*[^\s<>"'\]}).,;:!?])""", 0.97),
    _rule("url www", "URL", "www.", rf"(?<![\w/.@])(?P<it>www\.(?:{_LABEL}\.)+[a-z]{{2,24}}{_URL_TAIL})(?![\w@])", 0.9),
    _rule("domain", "URL", ".", rf"(?<![\w/.@-])(?P<it>(?-i:[a-z0-9][a-zA-Z0-9-]*\.)+(?-i:{_ENDINGS}){_URL_TAIL})(?![\w@-])", 0.6),
    _rule("ipv6", "IP_ADDRESS", ":", r"(?<![\w:.])(?P<it>[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})(?![\w:])", 0.95, _is_ipv6),
    _rule("mac", "MAC_ADDRESS", ":", r"(?<![\w:])(?P<it>[a-f][0-9a-f](?::[0-9a-f]{2}){5})(?![\w:])", 0.98),
    _rule("date month", "DATE_TIME", "",
          rf"(?<!\w)(?P<it>(?-i:(?=[JFMASONDjfmasond]))(?:{MONTHS})\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? (?:1[6-9]|20)\d{{2}})?(?!\d)|"
          rf"(?-i:(?=[JFMASONDjfmasond]))(?:{MONTHS}),? (?:1[6-9]|20)\d{{2}}(?!\d))", 0.85),
    _rule("title", "PERSON", "",
          rf"(?<!\w)(?-i:(?=[MDPSLRFJCHmdpslrfjch]))(?:{_TITLES})\.? (?:(?:dr|prof|med|h\.c)\.? ){{0,2}}(?P<it>{_NAME})", 0.75),
    _rule("name said", "PERSON", "",
          rf"(?<!\w)(?-i:(?=[MmNnDd]))(?:my name is|name ?: ?|name is|dear) *(?P<it>{_NAME})", 0.7,
          lambda name: name.partition(" ")[0].lower() not in _NO_NAMES),
)  # fmt: skip
_NO_NAMES = frozenset(
    "sir madam sirs customer customers all team friend friends colleague colleagues dr mr mrs ms prof miss i you we they he she "
    "the a an not on in valued member members support service".split()
)

__all__ = ["EMAIL", "RULES", "WordRule"]
