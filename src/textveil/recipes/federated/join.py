"""`federate join`: a site of a federation, in one process, with its own data and its own ledger."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from textveil.core import TextveilError
from textveil.core.params import needs
from textveil.recipes.federated.site_app import SiteData, make_site_app


@dataclass(frozen=True)
class JoinJob:
    """Which server is joined, how each knows the other, and the data, which never leaves."""

    server: str
    ca: Path
    key: Path
    site: SiteData
    patience: float = 600.0
    log: Path | None = None


def join(job: JoinJob, *, ready: Callable[[], None], say: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Take part until the server says that it is over; what goes wrong with this site's data ends it with a sentence."""
    needs("federated", "flwr", "torch")
    from textveil.federated.deployment.site import SiteSettings, Step, join_fleet
    from textveil.text.formats.lines import check_readable

    check_readable(job.site.data)
    errors: list[Exception] = []
    steps = {Step.ANSWERED: 0, Step.FAILED: 0, Step.OVER: 0}

    def heard(step: Step, error: Exception | None) -> None:
        steps[step] += 1
        wrong = error or (errors.pop() if errors else None)
        if isinstance(wrong, TextveilError):
            raise wrong
        if wrong is not None:
            say(f"a step failed with {type(wrong).__name__}; the server was told that it failed, and nothing else")
        elif step is Step.ANSWERED:
            say(f"answered {steps[step]:,} messages")

    with tempfile.TemporaryDirectory(prefix="textveil-") as cache:
        site = replace(job.site, data=job.site.data.absolute(), cache=Path(cache))
        settings = SiteSettings(job.server, job.ca, job.key, job.patience, job.log, site.node_config())
        join_fleet(settings, make_site_app(errors.append), ready=ready, heard=heard)
    return {"server": job.server, "answered": steps[Step.ANSWERED], "failed": steps[Step.FAILED]}


__all__ = ["JoinJob", "join"]
