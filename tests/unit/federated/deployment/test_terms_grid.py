"""A grid that tells the terms first: to late sites, to sites that were started again, and what becomes of errors."""

from __future__ import annotations

import pytest
from flwr.app import ConfigRecord, Error, Message, RecordDict
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity

from textveil.core import BadInput
from textveil.federated.deployment import flower
from textveil.federated.deployment.terms_grid import NO_TERMS, TOO_LONG, TermsGrid, without_terms
from textveil.federated.messages import Code

TERMS = "query.begin"


@pytest.fixture(autouse=True)
def server():
    """Flower's messages ask whose process this is."""
    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 1, 1


class Sites(Grid):
    """Sites that forget their terms when told to, or answer with an error."""

    def __init__(self, *nodes: int) -> None:
        self.nodes, self.told, self.trained = list(nodes), [], []
        self.knows: set[int] = set()
        self.errors: dict[int, int] = {}
        self.silent: set[int] = set()
        self._count = 0

    def send_and_receive(self, messages, *, timeout=None):
        return [answer for message in messages if (answer := self._answer(message)) is not None]

    def _answer(self, message):
        node = message.metadata.dst_node_id
        self._count += 1
        message.metadata.__dict__["_message_id"] = f"message {self._count}"
        if node in self.silent:
            return None
        if message.metadata.message_type == TERMS:
            self.told.append(node)
            self.knows.add(node)
            return Message(RecordDict({"tally": ConfigRecord({"units": node})}), reply_to=message)
        if node in self.errors:
            return Message(Error(self.errors[node], "Marianne Quill"), reply_to=message)
        if node not in self.knows:
            return without_terms(message)
        self.trained.append(node)
        return Message(RecordDict({"tally": ConfigRecord({"count": 1})}), reply_to=message)

    def get_node_ids(self):
        return self.nodes

    create_message = push_messages = pull_messages = set_run = run = None


def ask(grid: TermsGrid, *nodes: int) -> dict[int, dict]:
    """The tallies of a round, by node, matched by the message that they answer."""
    messages = [grid.create_message(RecordDict(), "train", node, "1") for node in nodes]
    answers = {a.metadata.reply_to_message_id: a for a in grid.send_and_receive(messages, timeout=5)}
    return {
        m.metadata.dst_node_id: dict(answers[m.metadata.message_id].content["tally"])
        for m in messages
        if m.metadata.message_id in answers
    }


def test_each_site_is_told_once_before_its_first_round():
    sites = Sites(2, 3)
    grid = TermsGrid(sites, TERMS, RecordDict())
    grid.tell([2], 5)
    assert grid.accepted == {2: {"units": 2}}
    assert ask(grid, 2, 3) == ask(grid, 2, 3) == {2: {"count": 1}, 3: {"count": 1}}
    assert sites.told == [2, 3] and sites.trained == [2, 3] * 2


def test_a_site_that_was_started_again_is_told_and_asked_again_in_the_same_round():
    sites = Sites(2, 3)
    grid = TermsGrid(sites, TERMS, RecordDict())
    ask(grid, 2, 3)
    sites.knows.remove(3)
    assert ask(grid, 2, 3) == {2: {"count": 1}, 3: {"count": 1}}
    assert sites.told == [2, 3, 3]


def test_sites_that_are_away_are_not_told_and_those_that_refuse_are_named():
    sites, refused = Sites(2), []
    sites.silent = {2, 9}  # 9 is registered and not there
    assert ask(TermsGrid(sites, TERMS, RecordDict(), refused=refused.append), 2, 9) == {}
    assert sites.told == [] and refused == [2]


@pytest.mark.parametrize(
    ("number", "code"),
    [(5, Code.NO_REPLY), (4, Code.NO_REPLY), (2, Code.FAILED), (TOO_LONG, Code.TOO_LONG), (77, Code.FAILED)],
)
def test_numbers_become_codes_and_words_are_dropped(number, code):
    sites = Sites(2)
    sites.errors = {2: number}
    assert ask(TermsGrid(sites, TERMS, RecordDict()), 2) == {2: {"error": code}}
    assert number != NO_TERMS


def test_another_flower_is_refused_by_its_version(monkeypatch):
    flower.check_version()
    monkeypatch.setattr(flower, "version", lambda name: "1.42.0")
    with pytest.raises(BadInput, match=r"private parts of Flower 1\.41\.0, and 1\.42\.0 is installed"):
        flower.check_version()
