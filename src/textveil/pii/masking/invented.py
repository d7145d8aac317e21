"""Invented names: given names that tell no gender, and family and place names put together from parts.

Nobody was looked up for them. 80 given names and about 2,500 others make 200,000 people; with a middle letter, five million.
"""

from __future__ import annotations

from functools import cache

GIVEN = tuple(
    "Alex Andy Ariel Avery Bailey Billie Blake Cameron Casey Charlie Chris Corey Dakota Dana Darcy Devon Drew Eden Ellis "
    "Elliot Emerson Finley Frankie Harley Harper Hayden Indigo Jackie Jamie Jessie Jody Jordan Jules Kai Kelly Kendall Kerry "
    "Kim Kit Lane Lee Leslie Logan Lou Lynn Marley Max Merle Mika Morgan Nicky Nico Noel Pat Perry Phoenix Quinn Ray Reese "
    "Remy Riley River Robin Rory Rowan Sage Sam Sandy Sascha Shannon Shay Sidney Skyler Spencer Stevie Taylor Terry Toni "
    "Tracy Val Wren".split()
)
_HEADS = (
    "Ash Barn Birch Brack Brad Bram Brook Carl Clay Cliff Cold Cran Dal Dun East Elm Fair Fern Glen Green Hart Hazel Heath "
    "Hill Holt Hurst Kirk Lang Lin Lock Long Mar Mill Moor Nor Oak Old Park Pem Pine Rad Ravens Red Rock Rush Sand Shel "
    "Stan Stone Sutter Thorn Under Wake Wal West Whit Wil Wind Wood Yar"
).split()
_TAILS = (
    "bourne bridge brook burn bury by combe cott croft dale den don field ford gate grove ham hurst lake land leigh ley "
    "lock low mere mond mont more ridge shaw side stead stone thorpe ton ward well wick wood worth"
).split()
ENDINGS = ("Group", "Works", "Partners", "Institute", "Services", "House")
STREETS = ("Street", "Road", "Lane", "Avenue", "Way", "Close")


@cache
def invented_names() -> tuple[str, ...]:
    """Family and place names.

    >>> len(invented_names()) > 2000, len(set(invented_names())) == len(invented_names()), invented_names()[0]
    (True, True, 'Ashbourne')
    """
    return tuple(head + tail for head in _HEADS for tail in _TAILS if head.lower() != tail)


__all__ = ["ENDINGS", "GIVEN", "STREETS", "invented_names"]
