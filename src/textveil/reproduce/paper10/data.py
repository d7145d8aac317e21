"""The benchmark of paper 10: three domains, German to English, tokenised; and the published phrase pairs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

CONFIDENTIAL = "nmt-confidential-de-en"
DOMAINS = ("EMEA", "GNOME", "JRC")

Pair = tuple[str, str]


def rows(data: Path, domain: str, part: str) -> list[dict[str, Any]]:
    """One file of a domain."""
    with gzip.open(data / CONFIDENTIAL / domain / f"{part}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def pairs(data: Path, domain: str, part: str) -> list[Pair]:
    return [(row["de"], row["en"]) for row in rows(data, domain, part)]


def unique(data: Path, domain: str, most: int | None = None) -> list[Pair]:
    """The sentence pairs of train, each once, in their order."""
    return [*dict.fromkeys(pairs(data, domain, "train"))][:most]


def others(data: Path, domain: str) -> list[Pair]:
    """The other two domains: public text to whoever attacks this one."""
    return [pair for other in DOMAINS if other != domain for pair in unique(data, other)]


def holds_source(pair: Pair) -> bool:
    """Whether the English side holds the whole German sentence: copying then looks like translating."""
    return len(pair[0].split()) > 1 and f" {pair[0]} " in f" {pair[1]} "
