"""A grid that tells every site the terms of the run before its first round, so it is itself imported late.

It works on any grid of Flower's. A site that was started again in the middle of a run says that it knows no terms (an error
with the number NO_TERMS): it is told them, and asked again in the same round.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from flwr.app import Error, Message, RecordDict
from flwr.serverapp import Grid

from textveil.federated.messages import Code, refusal_content

NO_TERMS = 901  # numbers of our own, beside Flower's
TOO_LONG = 900
_GONE = (3, 4, 5)  # of Flower: message, reply or node unavailable


def without_terms(message: Message) -> Message:
    """A site's answer to a round of which it was not told the terms."""
    return Message(Error(NO_TERMS, "knows no terms of this run"), reply_to=message)


class TermsGrid(Grid):
    """Hands everything on to `grid`; `content` goes to each node first, in a message of type `kind`.

    refused: hears the name of a node that did not take the terms. `accepted`: what each node answered, by node.
    """

    def __init__(
        self, grid: Grid, kind: str, content: RecordDict, *, refused: Callable[[int], None] = lambda node: None
    ):
        self._grid, self._kind, self._content, self._refused = grid, kind, content, refused
        self.accepted: dict[int, Mapping[str, Any]] = {}

    def tell(self, nodes: Iterable[int], timeout: float | None) -> None:
        """Tell these nodes the terms, and keep what they answer."""
        messages = [self.create_message(self._content, self._kind, node, "0") for node in nodes]
        if not messages:
            return
        answers = {a.metadata.reply_to_message_id: a for a in self._grid.send_and_receive(messages, timeout=timeout)}
        for message in messages:
            answer = answers.get(message.metadata.message_id)
            tally = _tally(answer)
            if tally is None:
                self._refused(message.metadata.dst_node_id)
            else:
                self.accepted[message.metadata.dst_node_id] = tally

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> list[Message]:
        """A round: nodes that know no terms are told them first; the time is for both."""
        end = None if timeout is None else time.monotonic() + timeout
        batch = list(messages)
        present = set(self.get_node_ids())
        self.tell([n for n in dict.fromkeys(map(_node, batch)) if n in present and n not in self.accepted], timeout)
        answers = list(self._grid.send_and_receive(batch, timeout=_left(end)))
        lost = {a.metadata.reply_to_message_id: a for a in answers if a.has_error() and a.error.code == NO_TERMS}
        whole = self._again([m for m in batch if m.metadata.message_id in lost], answers, lost, end)
        return [_coded(answer) for answer in whole]

    def _again(
        self, batch: list[Message], answers: list[Message], lost: Mapping[str, Message], end: float | None
    ) -> list[Message]:
        """Ask those again that knew no terms; their answers stand for the first message."""
        if not batch:
            return answers
        for node in map(_node, batch):
            self.accepted.pop(node, None)
        self.tell(dict.fromkeys(map(_node, batch)), _left(end))
        kept = [a for a in answers if a.metadata.reply_to_message_id not in lost]
        copies = [self.create_message(m.content, m.metadata.message_type, _node(m), m.metadata.group_id) for m in batch]
        second = {a.metadata.reply_to_message_id: a for a in self._grid.send_and_receive(copies, timeout=_left(end))}
        for message, copy in zip(batch, copies, strict=True):
            answer = second.get(copy.metadata.message_id)
            if answer is not None:
                answer.metadata.__dict__["_reply_to_message_id"] = message.metadata.message_id
                kept.append(answer)
        return kept

    # ---- handed on -----------------------------------------------------------------------------------------------

    def get_node_ids(self) -> list[int]:
        return list(self._grid.get_node_ids())

    def create_message(
        self, content: RecordDict, message_type: str, dst_node_id: int, group_id: str, ttl: float | None = None
    ) -> Message:
        return Message(content, dst_node_id, message_type, ttl=ttl, group_id=group_id)

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        return self._grid.push_messages(messages)

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        return self._grid.pull_messages(message_ids)

    def set_run(self, run: Any) -> None:
        self._grid.set_run(run)

    @property
    def run(self) -> Any:
        return self._grid.run


def _coded(answer: Message) -> Message:
    """An answer of our own kind in the place of an error of Flower's: its number becomes a code, its words are dropped."""
    if not answer.has_error():
        return answer
    code = Code.TOO_LONG if answer.error.code == TOO_LONG else Code.FAILED
    code = Code.NO_REPLY if answer.error.code in _GONE else code
    coded = Message.__new__(Message)
    coded.__dict__.update({"_metadata": answer.metadata, "_content": refusal_content(code), "_error": None})
    return coded


def _node(message: Message) -> int:
    return int(message.metadata.dst_node_id)


def _left(end: float | None) -> float | None:
    return None if end is None else max(1.0, end - time.monotonic())


def _tally(answer: Message | None) -> Mapping[str, Any] | None:
    """What a node answered to the terms, or None if it did not take them."""
    try:
        tally: Any = answer.content["tally"] if answer is not None and not answer.has_error() else {"error": ""}
        return None if "error" in tally else {str(name): value for name, value in tally.items()}
    except Exception:  # whatever a site sent
        return None


__all__ = ["NO_TERMS", "TermsGrid", "without_terms"]
