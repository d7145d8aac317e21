"""`import textveil` stays light, and every public name can be reached. Asked in fresh processes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from declared import optional_packages

import textveil

OPTIONAL = optional_packages()
HEAVY = OPTIONAL | {"pyarrow", "scipy", "dp_accounting", "opendp"}


def loaded_after(code: str) -> set[str]:
    """Top-level modules in memory once a fresh interpreter has run `code`."""
    ending = "import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{ending}"], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_textveil_loads_nothing_heavy():
    loaded = loaded_after("import textveil")
    assert loaded.isdisjoint(HEAVY), loaded & HEAVY
    assert "textveil" in loaded


def test_the_rooms_load_no_optional_package():
    loaded = loaded_after("import textveil\nfor name in textveil.__all__: getattr(textveil, name)")
    assert loaded.isdisjoint(OPTIONAL), loaded & OPTIONAL


def test_the_check_would_see_a_heavy_module():
    assert "scipy" in loaded_after("import textveil, scipy")


@pytest.mark.parametrize("name", textveil.__all__)
def test_every_public_name_resolves(name):
    assert getattr(textveil, name) is not None


@pytest.mark.parametrize("room", ["testing", "words"])
def test_every_lazy_name_of_a_room_resolves(room):
    opened = getattr(textveil, room)
    assert opened.__all__
    assert all(getattr(opened, name) is not None for name in opened.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'wrods'"):
        _ = textveil.wrods
    assert sorted(dir(textveil)) == sorted(textveil.__all__)
