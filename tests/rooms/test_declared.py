"""The lists that are read from pyproject.toml say what is installed, by the right names."""

from __future__ import annotations

import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from declared import COMES_WITH, IMPORTED_AS, PYPROJECT, declared, import_name, optional_packages

import textveil

ALL = sorted({name for names in declared().values() for name in names} - {"textveil"})


def test_installed_distributions_are_imported_by_these_names():
    packages: dict[str, set[str]] = {}
    for package, distributions in packages_distributions().items():
        for distribution in distributions:
            packages.setdefault(distribution.lower().replace("_", "-"), set()).add(package)
    assert {name for name in ALL if name in packages and import_name(name) not in packages[name]} == set()


def test_no_name_is_translated_that_is_not_declared():
    assert {*IMPORTED_AS, *COMES_WITH} <= set(ALL)


def test_optional_is_what_only_some_have():
    optional = optional_packages()
    assert {"torch", "numba", "sklearn", "ray", "faiss", "pycrfsuite", "llvmlite", "pytest"} <= optional
    assert optional.isdisjoint({"numpy", "scipy", "pyarrow", "typer", "dp_accounting", "textveil"})


def test_the_package_says_that_it_is_typed():
    packed = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["setuptools"]["package-data"]["textveil"]
    assert "py.typed" in packed
    assert (Path(textveil.__file__).parent / "py.typed").exists()
