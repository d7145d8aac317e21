"""What pyproject.toml declares, by the names that Python imports."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
IMPORTED_AS = {
    "dp-accounting": "dp_accounting",
    "faiss-cpu": "faiss",
    "presidio-analyzer": "presidio_analyzer",
    "pytest-xdist": "xdist",
    "python-crfsuite": "pycrfsuite",
    "scikit-learn": "sklearn",
}
COMES_WITH = {"numba": "llvmlite", "presidio-analyzer": "tldextract", "scikit-learn": "threadpoolctl"}


def declared() -> dict[str, list[str]]:
    """Distributions by extra; those that everybody has stand under the empty name."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    return {extra: [_distribution(line) for line in lines] for extra, lines in groups.items()}


def import_name(distribution: str) -> str:
    return IMPORTED_AS.get(distribution, distribution)


def optional_packages() -> set[str]:
    """Import names of all packages that only some users have."""
    everybody = {*declared()[""], "textveil"}
    distributions = {name for names in declared().values() for name in names} - everybody
    return {import_name(name) for name in distributions} | {COMES_WITH[d] for d in distributions & COMES_WITH.keys()}


def _distribution(requirement: str) -> str:
    return re.split(r"[\s\[<>=!~;]", requirement, maxsplit=1)[0].lower()
