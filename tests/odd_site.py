"""A site that does not behave: run as a process of its own by the deployment journey.

    python odd_site.py ADDRESS CA KEY DATA MARKS hangs|garbage

hangs      works well, and stops answering in round 2, after it has written the file MARKS/hangs
garbage    sends something else in every round, and in round 4 first nothing at all, after it has written MARKS/waits
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Error, Message, RecordDict
from flwr.clientapp import ClientApp

from textveil.federated.deployment.site import SiteSettings, join_fleet
from textveil.recipes.federated.site_app import SiteData, make_site_app

NAME = "Marianne Quillfeather"  # stands in the texts of this site and must not be found at the server
TALLY = {"count": 1, "weight": 1.0, "refused": []}


def hanging(app: ClientApp, marks: Path):
    def answer(message, context):
        if "order" in message.content and message.content["order"]["round"] == 2:
            (marks / "hangs").touch()
            time.sleep(3600)
        return app(message, context)

    return answer


def garbage(app: ClientApp, marks: Path):
    def answer(message, context):
        if "order" not in message.content:
            return app(message, context)
        round = message.content["order"]["round"]
        if round == 4 and not (marks / "waits").exists():
            (marks / "waits").touch()
            time.sleep(3600)
        return WRONG[round](message)

    return answer


def _sum(message, change) -> Message:
    arrays = {name: Array(change(array.numpy())) for name, array in message.content["weights"].items()}
    return Message(RecordDict({"sum": ArrayRecord(arrays), "tally": ConfigRecord(TALLY)}), reply_to=message)


def _raise(message) -> Message:
    raise ValueError(f"line 7 of {NAME}'s notes is no JSON: {{")


WRONG = {
    1: lambda message: _sum(message, lambda a: np.full_like(a, np.nan)),
    2: lambda message: _sum(message, lambda a: a[..., None]),
    3: _raise,
    4: lambda message: Message(Error(2, f"<class 'KeyError'>:<'{NAME}'>"), reply_to=message),
    5: lambda message: Message(RecordDict({"tally": ConfigRecord({"error": NAME})}), reply_to=message),
    6: lambda message: _sum(message, lambda a: a + np.float32(1e6)),
    7: lambda message: _sum(message, lambda a: np.zeros((len(np.atleast_1d(a)), 400_000), np.float32)),
}


def main(address: str, ca: str, key: str, data: str, marks: str, kind: str) -> None:
    site = SiteData(data=Path(data), cache=Path(marks) / f"{kind}-cache")
    settings = SiteSettings(address, Path(ca), Path(key), 240.0, None, site.node_config())
    app = {"hangs": hanging, "garbage": garbage}[kind](make_site_app(), Path(marks))
    join_fleet(settings, app, ready=lambda: None, heard=lambda step, error: None)


if __name__ == "__main__":
    main(*sys.argv[1:])
