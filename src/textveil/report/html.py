"""Small pieces of HTML. Text enters a page through `esc` or one of the functions here, which escape; nothing else does."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from ..core.guarantee import often
from ..core.losses import upward

esc = html.escape
_OPTION = re.compile(r"(?<!\S)(--[a-z][a-z-]*)")


def tag(name: str, inner: str, css: str = "") -> str:
    """An element around HTML that is already safe.

    >>> tag("p", esc("1 < 2"), "note")
    '<p class="note">1 &lt; 2</p>'
    """
    return f'<{name} class="{css}">{inner}</{name}>' if css else f"<{name}>{inner}</{name}>"


def section(title: str, *inner: str, css: str = "") -> str:
    """A titled part of the page, or nothing when it would be empty."""
    body = "".join(inner)
    return tag("section", tag("h2", esc(title)) + body, css) if body else ""


def bullets(lines: Iterable[object]) -> str:
    rows = "".join(tag("li", esc(str(line))) for line in lines)
    return tag("ul", rows) if rows else ""


def pairs(rows: Iterable[tuple[str, object]]) -> str:
    """A list of names and values."""
    inner = "".join(f"<dt>{esc(str(name))}</dt><dd>{whole_options(esc(show(value)))}</dd>" for name, value in rows)
    return tag("dl", inner) if inner else ""


def whole_options(safe: str) -> str:
    """Options of a command are not broken over two lines.

    >>> whole_options("needs --truth IN")
    'needs <span class="option">--truth</span> IN'
    """
    return _OPTION.sub(r'<span class="option">\1</span>', safe)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are HTML that is already safe. On a phone each row becomes a block, its cells led by the column's name."""
    top = "".join(tag("th", esc(h)) for h in head)
    body = "".join(
        tag(
            "tr",
            "".join(f'<td data-head="{esc(h)}"><span>{cell}</span></td>' for h, cell in zip(head, row, strict=True)),
        )
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def show(value: object) -> str:
    """A value as a reader expects it.

    >>> show(0.5), show(25600.0), show(None), show([1, "a"]), show(True)
    ('0.5', '25,600', 'none', '1, a', 'yes')
    """
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case float():
            return number(value)
        case int():
            return f"{value:,}"
        case list() | tuple():
            return ", ".join(show(v) for v in value)
        case dict():
            return ", ".join(f"{k}: {show(v)}" for k, v in value.items())
    return str(value)


def number(value: float) -> str:
    """Four significant digits, thousands apart.

    >>> number(0.123456), number(25600.0), number(float("inf"))
    ('0.1235', '25,600', 'unbounded')
    """
    if value in (float("inf"), float("-inf")):
        return "unbounded"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def bound(value: float) -> str:
    """Like `number`, rounded up: what is printed never states less than the bound.

    >>> bound(0.36062), bound(25600.0), bound(1234.1), bound(float("inf"))
    ('0.3607', '25,600', '1,235', 'unbounded')
    """
    if value in (float("inf"), float("-inf")):
        return "unbounded"
    return f"{math.ceil(value * (1 - 1e-12)):,}" if abs(value) >= 1000 else upward(value)


def percent(share: float) -> str:
    """
    >>> percent(0.314), percent(0.0004), percent(1.0), percent(0.0)
    ('31.4 %', '0.04 %', '100 %', '0 %')
    """
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    return f"{share * 100:.1f} %" if share >= 0.005 else f"{share * 100:.1g} %"


def percent_up(share: float) -> str:
    """A share rounded up, so that it stays a bound.

    >>> percent_up(0.73105)
    '73.2 %'
    """
    said = often(share)
    return "100 %" if said == "practically always" else said.removesuffix(" of the time")


def page(title: str, body: str, label: str) -> str:
    """A whole page that needs nothing but itself; `label` chooses its accent colour."""
    body = body.replace(" %", "&nbsp;%")  # a figure and its sign stay on one line
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{esc(title)}</title>\n<style>\n{_style()}</style>\n</head>\n"
        f'<body class="label-{esc(label)}">\n<main>\n{body}\n</main>\n</body>\n</html>\n'
    )


@cache
def _style() -> str:
    return files(__package__).joinpath("page.css").read_text(encoding="utf-8")
