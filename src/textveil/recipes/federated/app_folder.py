"""A Flower app folder with the same ServerApp and ClientApp, for those who run a Flower deployment of their own.

`flwr run FOLDER` starts it. The folder holds settings and a line of imports, no code of its own: Textveil is installed at the
server and at the sites. Sites name their data by `--node-config 'data="notes.jsonl"'`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textveil.core import BadInput
from textveil.core.files import write_whole

if TYPE_CHECKING:
    from textveil.recipes.federated.on_grid import GridJob

PACKAGE = "textveil_federated"
_PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "textveil-federated"
version = "{version}"
description = "Sites train one model without pooling their text"
license = "Apache-2.0"
dependencies = ["textveil[federated]=={version}"]

[tool.hatch.build.targets.wheel]
packages = ["."]

[tool.flwr.app]
publisher = "textveil"

[tool.flwr.app.components]
serverapp = "{package}.apps:server_app"
clientapp = "{package}.apps:client_app"

[tool.flwr.app.config]
{config}
"""
_APPS = '''\
"""The two apps, as Flower looks for them."""

from textveil.recipes.federated.apps import client_app, server_app

__all__ = ["client_app", "server_app"]
'''
_README = """\
# Sites train together

A Flower app. Textveil is installed at the server and at each site. The server:

    flwr run . --stream

The settings stand in `pyproject.toml`, under `[tool.flwr.app.config]`; `--run-config 'rounds=5'` changes one for a run.
Each site names its own data when its SuperNode is started, and its ledger if it keeps one:

    flower-supernode ... --node-config 'data="/data/notes.jsonl" ledger="/data/notes.ledger"'
"""


def write_app_folder(folder: Path, config: Mapping[str, Any]) -> Path:
    """Write the app with these settings; the folder must not exist."""
    from textveil import __version__

    if folder.exists():
        raise BadInput("exists already", where=folder, possible="another folder")
    (folder / PACKAGE).mkdir(parents=True)
    lines = "\n".join(f"{name} = {_toml(value)}" for name, value in config.items() if value is not None)
    write_whole(folder / "pyproject.toml", _PROJECT.format(version=__version__, package=PACKAGE, config=lines))
    write_whole(folder / "README.md", _README)
    write_whole(folder / PACKAGE / "__init__.py", "")
    write_whole(folder / PACKAGE / "apps.py", _APPS)
    return folder


def app_config(job: GridJob, count: int, wait: float) -> dict[str, Any]:
    """The settings of a job as a flat table; `apps.read_config` reads them back. Paths are absolute: the app moves."""
    config: dict[str, Any] = {"count": count, "wait": wait}
    for one in (job, job.asked):
        for name in (f.name for f in fields(one)):
            value = getattr(one, name)
            if isinstance(value, Path):
                value = str(value.absolute())
            elif isinstance(value, tuple):
                value = ",".join(value) or None
            if isinstance(value, (str, int, float)):
                config[name.replace("_", "-")] = value
    words = [name for name, value in job.model.items() if not isinstance(value, (str, int, float))]
    if words:
        raise BadInput(f"an app folder holds no lists ({', '.join(words)})", possible="--start with a model folder")
    return config | {f"model.{name}": value for name, value in job.model.items()}


def _toml(value: str | int | float | bool) -> str:
    """A value as TOML writes it.

    >>> _toml(True), _toml(0.5), _toml('a "b"')
    ('true', '0.5', '"a \\\\"b\\\\""')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value)


__all__ = ["app_config", "write_app_folder"]
