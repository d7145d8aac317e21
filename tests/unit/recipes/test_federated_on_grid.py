"""The server's journey on a grid within this process: users of sites, DP-SGD at sites, a run that is stopped and goes on."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from flwr.app import Context, Message, RecordDict
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity

from textveil.accounting.ledger import Ledger
from textveil.core import Refused
from textveil.recipes.federated.on_grid import GridJob, train_on_grid
from textveil.recipes.federated.site_app import SiteData, make_site_app
from textveil.recipes.federated.strategies import StrategyChoice
from textveil.recipes.progress import no_bar

KEYS = {"a": b"key of a", "b": b"key of b"}
NAMES = {2: "a", 3: "b"}


class SitesHere(Grid):
    """Each node is an app of its own, called at once, as in a process of its own."""

    create_message = push_messages = pull_messages = set_run = run = None
    names = NAMES

    def __init__(self, folder: Path, **site) -> None:
        self.grid, self.rounds, self.stop_at, self.silent, self._count = self, [], None, None, 0
        self._apps = {node: make_site_app(self.tell) for node in NAMES}
        self._data = {
            node: SiteData(data=folder / f"{name}.jsonl", cache=folder / f"cache-{name}", ledger=folder / name, **site)
            for node, name in NAMES.items()
        }
        self.errors: list[Exception] = []
        TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 1, 1

    def tell(self, error: Exception) -> None:
        self.errors.append(error)

    def dismiss(self) -> None:
        self.rounds.append("over")

    def get_node_ids(self):
        return list(NAMES)

    def send_and_receive(self, messages, *, timeout=None):
        answers = [(message, self._answer(message)) for message in messages]
        return [a for m, a in answers if "order" not in m.content or NAMES[m.metadata.dst_node_id] != self.silent]

    def _answer(self, message: Message) -> Message:
        self._count += 1
        message.metadata.__dict__["_message_id"] = f"message {self._count}"
        node = message.metadata.dst_node_id
        if "order" in message.content:
            order = message.content["order"]
            self.rounds.append((order["round"], NAMES[node], tuple(order["users"])))
            if order["round"] == self.stop_at:
                raise KeyboardInterrupt
        context = Context(7, node, self._data[node].node_config(), RecordDict(), {})
        return self._apps[node](message, context)


def notes(path: Path, users: int) -> None:
    rows = [{"text": "fine kind cold", "label": ("bad", "good")[k % 2], "user": k % users} for k in range(24)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def folder(tmp_path) -> Path:
    from textveil.nets.text_cnn import TextCNN
    from textveil.text.vectors import from_arrays

    vectors = from_arrays(["fine", "kind", "cold"], np.eye(3, 4, dtype=np.float32))
    TextCNN.of(("bad", "good"), vectors, channels=2).save(tmp_path / "start")
    notes(tmp_path / "a.jsonl", 4)
    notes(tmp_path / "b.jsonl", 2)
    return tmp_path


def train(folder: Path, sites: SitesHere, keys=KEYS, unit: str = "site", **asked):
    @contextmanager
    def opened():
        yield sites

    job = GridJob(
        out=folder / "model",
        task="classifier",
        asked=StrategyChoice(**asked),
        start=folder / "start",
        unit=unit,
        ledger=folder / "sites.ledger",
        allow_large_delta=True,
    )
    return train_on_grid(job, keys, opened, bar=no_bar)


def lines(path: Path) -> list[str]:
    return [entry.note.rpartition(": ")[2] for entry in Ledger(path, must_exist=True).entries()]


def test_users_of_all_sites_are_the_units(folder):
    sites = SitesHere(folder, user_field="user")
    result = train(
        *(folder, sites),
        unit="user",
        strategy="dp-fedavg",
        sampling="fixed",
        rounds=2,
        noise=1.0,
        delta=0.1,
        per_round=6,
    )
    assert (result["units"], result["unit"], sites.errors) == (6, "user", [])
    asked = {(round, name): sorted(users) for round, name, users in sites.rounds[:-1]}
    assert asked == {(n, name): list(range(count)) for n in (1, 2) for name, count in (("a", 4), ("b", 2))}
    assert sites.rounds[-1] == "over" and lines(folder / "sites.ledger") == ["round 1", "round 2"]


def test_a_stopped_round_stays_charged_and_is_charged_again(folder):
    sites = SitesHere(folder)
    sites.stop_at = 2
    private = {"strategy": "dp-fedavg", "rounds": 3, "noise": 1.0, "delta": 0.1}
    with pytest.raises(KeyboardInterrupt):
        train(folder, sites, **private)
    assert lines(folder / "sites.ledger") == ["round 1", "round 2"] and not (folder / "model").exists()
    result = train(folder, again := SitesHere(folder), **private)
    assert [round for round, name, _ in again.rounds[:-1] if name == "a"] == [2, 3]
    assert lines(folder / "sites.ledger") == ["round 1", "round 2", "round 2", "round 3"]
    once = train_price(3, result["noise"])
    assert result["epsilon"] > once * 1.05  # four charges are promised, not three


def train_price(rounds: int, noise: float) -> float:
    from textveil.core import Unit
    from textveil.federated.plan import RoundPlan

    plan = RoundPlan(2, 2, rounds, sampling="poisson", clip=0.2, noise=noise, unit=Unit.CLIENT)
    return plan.price(0.1)


def test_other_sites_under_the_same_ledger_are_refused(folder):
    train(folder, SitesHere(folder), strategy="dp-fedavg", rounds=1, noise=1.0, delta=0.1)
    (folder / "model").rename(folder / "first")
    with pytest.raises(Refused):
        train(
            folder, SitesHere(folder), {**KEYS, "b": b"another"}, strategy="dp-fedavg", rounds=1, noise=1.0, delta=0.1
        )


def test_dp_sgd_is_paid_at_each_site_and_stated_at_the_server(folder):
    sites = SitesHere(folder)
    result = train(folder, sites, local="dp-sgd", epsilon=4.0, delta=0.1, rounds=2, batch=8)
    assert sites.errors == [] and (result["epsilon"], result["guarantee"]["unit"]) == (4.0, "example")
    assert lines(folder / "a") == lines(folder / "b") == ["round 1", "round 2"]
    assert len(lines(folder / "sites.ledger")) == 1


PROMISES = {
    "users": {"unit": "user", "strategy": "dp-fedavg", "sampling": "fixed", "noise": 1.0, "delta": 0.1, "per_round": 6},
    "sites": {"strategy": "dp-fedavg", "sampling": "fixed", "noise": 1.0, "delta": 0.1},
    "examples of sites": {"local": "dp-sgd", "epsilon": 4.0, "delta": 0.1, "batch": 8},
    "nobody": {"strategy": "fedavg"},
}


@pytest.mark.parametrize("promised", PROMISES)
def test_a_card_tells_who_was_left_out_only_where_nothing_is_promised(promised, folder):
    asked = PROMISES[promised]
    sites = SitesHere(folder, **({"user_field": "user"} if "unit" in asked else {}))
    sites.silent = "b"
    result = train(folder, sites, rounds=2, **asked)
    (who,) = result["refused"]  # the operator is told
    assert who == "b: no-reply" and result["refused"][who] >= 2
    shown = {name: (folder / "model" / name).read_text() for name in ("release.json", "card.html")}
    for text in shown.values():
        assert ("no-reply" in text) == (promised == "nobody")
    kept = json.loads(shown["release.json"])["facts"]["federation"].get("refused", {})
    assert kept == (result["refused"] if promised == "nobody" else {})
