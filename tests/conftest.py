"""Fixtures of all tests. Tests that use the evaluation data are marked `data` and skipped where it is absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import suite

collect_ignore = ["no_torch"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out what is slow or needs torch; forbid torch")
    parser.addoption("--whole", action="store_true", help="fail where a test is skipped for want of a package")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("quick"):
        config.pluginmanager.register(suite.QuickRun())
    if config.getoption("whole"):
        config.pluginmanager.register(suite.WholeRun())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    suite.mark(items)


def find_data() -> Path | None:
    named = os.environ.get("TEXTVEIL_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def data_dir() -> Path:
    folder = find_data()
    if folder is None:
        pytest.skip("no evaluation data here (set TEXTVEIL_DATA to use some)")
    return folder


_PARTIES = (
    "Blue Finch Inc.",
    "Harrow Mills Ltd.",
    "Old Quay Foods",
    "Tern Hill LLC",
    "Marrow Lane Co.",
    "Pine Acre Bros.",
)
_STATES = ("Delaware", "Nevada", "Ohio", "Texas", "Utah", "New York")
_FILLERS = (
    "The fee is due within {days} days of each invoice.",
    "{one} shall deliver the goods of Exhibit No. {days} to {other}.",
    "Neither party may disclose what it learns under this paper.",
    "Notices go to the address that {other} names in writing.",
    "This paper may be ended by either side with {days} days of notice.",
)
_LAWS = (
    "This Agreement shall be governed by the laws of the State of {state}.",
    "The laws of the State of {state} govern this Agreement and all disputes, without regard to conflicts of law.",
)


def make_contracts(count: int = 30) -> list[tuple[str, list[tuple[int, int]]]]:
    """Invented contracts with the place of their governing law; the same ones every time."""
    made = []
    for n in range(count):
        words = {
            "one": _PARTIES[n % 6],
            "other": _PARTIES[(n + 1 + n // 6) % 6],
            "days": 10 + n,
            "state": _STATES[n * 5 % 6],
        }
        law = _LAWS[n % 2].format(**words)
        parts = [f"{1 + k}. " + _FILLERS[(n + k) % 5].format(**words) for k in range(4)]
        parts.insert(n % 4, f"9.{n}. Governing Law. {law}")
        text = f"AGREEMENT between {words['one']} and {words['other']}\n\n" + "\n\n".join(parts)
        made.append((text, [(text.index(law), text.index(law) + len(law))]))
    return made


@pytest.fixture(scope="session")
def made_up_contracts():
    """`make_contracts`, for tests of the hashed room."""
    return make_contracts
