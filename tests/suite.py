"""Which tests are slow or need torch, and what `pytest --quick` makes of it.

A single test says `@pytest.mark.slow` or `@pytest.mark.torch`; whole files and folders are named here, once. A quick run
leaves both out, and proves that torch is not needed: importing it is an error then (tests/no_torch).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NO_TORCH = ROOT / "tests" / "no_torch"
MISSING = "could not import"  # how a skip for a missing package begins

# Prefixes of paths, seen from the repository.
TORCH = (
    "docs/federated",
    "docs/training",
    "src/textveil/attacks/texthide/gradient_matching",
    "src/textveil/attacks/training",
    "src/textveil/fragments/adapting",
    "src/textveil/fragments/precision",
    "src/textveil/fragments/pretraining",
    "src/textveil/fragments/pull",
    "src/textveil/nets",
    "src/textveil/pii/tagger/networks",
    "src/textveil/federated",
    "src/textveil/recipes/federated",
    "src/textveil/recipes/training",
    "src/textveil/reproduce",
    "src/textveil/training",
    "tests/journeys/law/test_law_training",
    "tests/broken/test_broken_federated",
    "tests/journeys/test_federate",
    "tests/journeys/test_fragments_adapt",
    "tests/journeys/test_train",
    "tests/odd_site",
    "tests/unit/attacks/test_membership",
    "tests/unit/federated",
    "tests/unit/mpc/test_networks",
    "tests/unit/nets",
    "tests/unit/pii/test_networks",
    "tests/unit/recipes/test_federated",
    "tests/unit/recipes/test_one_budget",
    "tests/unit/recipes/test_texthide",
    "tests/unit/reproduce",
    "tests/unit/fragments/test_adapting",
    "tests/unit/testing/test_conformance_nets",
    "tests/unit/training",
)
SLOW = (
    "docs/api",
    "docs/scikit-learn",
    "docs/write-a",
    "tests/broken",
    "tests/browser",
    "tests/journeys",
    "tests/laws/test_files_come_back",
    "tests/stats",
    "tests/unit/accounting/test_ledger_crash",
    "tests/unit/cli/test_calls",
    "tests/unit/cli/test_completion",
    "tests/unit/core/test_estimators",
    "tests/unit/core/test_sklearn_checks",
    "tests/unit/recipes/test_engines",
    "tests/unit/testing/test_conformance",
    "tests/unit/testing/test_statistics",
    "tests/unit/text/test_binarise",
    "tests/unit/words/test_block_sampler",
    "tests/unit/words/test_search",
)


def is_under(path: Path, prefixes: tuple[str, ...]) -> bool:
    """Whether a path of the repository begins with one of them."""
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).as_posix().startswith(prefixes)


def mark(items: list[pytest.Item]) -> None:
    """Put the marks of the tables on the tests."""
    for item in items:
        if is_under(item.path, TORCH):
            item.add_marker("torch")
        if is_under(item.path, SLOW):
            item.add_marker("slow")


class QuickRun:
    """Leaves out what is slow or needs torch."""

    def pytest_configure(self) -> None:
        if "torch" in sys.modules:
            raise pytest.UsageError("torch is there before the first test: a quick run cannot prove anything")
        sys.path.insert(0, str(NO_TORCH))
        paths = [str(NO_TORCH), os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Files that need torch are not even opened."""
        return True if is_under(collection_path, TORCH) else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        chosen = [i for i in items if not i.get_closest_marker("slow") and not i.get_closest_marker("torch")]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen


class WholeRun:
    """Fails when a test was skipped for want of a package: everything is installed, or the run is not whole."""

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None:  # a worker: the one who started it looks at all of them
            return
        skipped = [report for report in reporter.stats.get("skipped", []) if MISSING in str(report.longrepr)]
        for report in skipped:
            reporter.write_line(f"not run, a package is missing: {report.nodeid}: {report.longrepr[-1]}", red=True)
        if skipped:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
