"""Paper 01: contracts with the passages that lawyers marked (CUAD), split by document.

The paper's own annotations are not published. CUAD has the same kind of documents (filings of EDGAR) and 41 types of
clauses. The 20 that are nearest to the paper's models: passages (not names, dates or titles) of at least .2 % of the
characters, the paper's smallest share, and of these the 20 that occur in the most contracts (74 to 384 of 450; the paper's
models have 79 to 373 documents).

Four fifths of the contracts train, one fifth tests. The split is drawn once, from a fixed seed, over all contracts: every
type sees the same two halves, so features are computed once for all of them."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from textveil.core.errors import BadInput

CUAD = "cuad"
CLAUSES = (
    "Governing Law",
    "Anti-Assignment",
    "Cap On Liability",
    "License Grant",
    "Expiration Date",
    "Audit Rights",
    "Termination For Convenience",
    "Renewal Term",
    "Exclusivity",
    "Post-Termination Services",
    "Insurance",
    "Minimum Commitment",
    "Revenue/Profit Sharing",
    "Non-Transferable License",
    "Ip Ownership Assignment",
    "Change Of Control",
    "Non-Compete",
    "Uncapped Liability",
    "Covenant Not To Sue",
    "Rofr/Rofo/Rofn",
)
FIVE = CLAUSES[:5]  # those by which the sound variant is judged
TRAINING_SHARE = 0.8

STATES = tuple(
    """Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|Illinois|Indiana|Iowa|
Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|
New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island|
South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|West Virginia|Wisconsin|Wyoming""".replace(
        "\n", ""
    ).split("|")
)


@dataclass(frozen=True)
class Contracts:
    """Texts in a fixed order, with the marked passages of every clause type (character bounds, in order, not overlapping)."""

    ids: list[str]
    texts: list[str]
    spans: dict[str, list[list[tuple[int, int]]]]  # clause -> for each contract its passages
    answers: dict[str, list[str]]  # clause -> for each contract the lawyers' short answer, "" where there is none

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, places: np.ndarray | list[int]) -> Contracts:
        """Some contracts, in the order of `places`."""
        some = [int(i) for i in places]
        return Contracts(
            [self.ids[i] for i in some],
            [self.texts[i] for i in some],
            {c: [s[i] for i in some] for c, s in self.spans.items()},
            {c: [a[i] for i in some] for c, a in self.answers.items()},
        )


@lru_cache(maxsize=1)
def contracts(data: Path) -> Contracts:
    """All contracts of the evaluation data, by id."""
    rows = sorted(_lines(data, "contracts"), key=lambda row: row["id"])
    place = {row["id"]: number for number, row in enumerate(rows)}
    marked: dict[str, list[list[tuple[int, int]]]] = {}
    for row in _lines(data, "annotations"):
        per_contract = marked.setdefault(row["clause"], [[] for _ in rows])
        per_contract[place[row["id"]]].append((int(row["start"]), int(row["end"])))
    answers: dict[str, list[str]] = {}
    for row in _lines(data, "answers"):
        answers.setdefault(row["clause"], [""] * len(rows))[place[row["id"]]] = row["answer"] or ""
    spans = {clause: [merged(s) for s in per_contract] for clause, per_contract in marked.items()}
    return Contracts([row["id"] for row in rows], [row["text"] for row in rows], spans, answers)


def _lines(data: Path, name: str) -> list[dict]:
    path = data / CUAD / f"{name}.jsonl.gz"
    if not path.exists():
        raise BadInput(f"the data directory has no {CUAD}/{path.name}", where=data)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Passages in order; those that overlap or touch become one.

    >>> merged([(8, 9), (0, 3), (2, 5)])
    [(0, 5), (8, 9)]
    """
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def split(count: int, seed: int = 0, share: float = TRAINING_SHARE) -> tuple[np.ndarray, np.ndarray]:
    """Places of the contracts that train, and of those that test; each in rising order.

    >>> [len(part) for part in split(450)]
    [360, 90]
    """
    order = np.random.default_rng([1, seed]).permutation(count)
    edge = round(share * count)
    return np.sort(order[:edge]), np.sort(order[edge:])


def train_and_test(data: Path, seed: int = 0) -> tuple[Contracts, Contracts]:
    """Contracts that train and contracts that test, four fifths and one fifth."""
    everything = contracts(data)
    train, test = split(len(everything), seed)
    return everything.take(train), everything.take(test)


_STATE = re.compile(r"\b(?:" + "|".join(sorted(STATES, key=len, reverse=True)) + r")\b")


def states_named(text: str) -> list[str]:
    """States in the order they are named; "West Virginia" is not also "Virginia".

    >>> states_named("The laws of New York and West Virginia, not of York.")
    ['New York', 'West Virginia']
    """
    return _STATE.findall(text)
