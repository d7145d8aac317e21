"""A Flower Grid within one process: the same ServerApp and ClientApp, without Ray, for tests, small data and studies.

It needs Flower at its top, so it is itself imported late.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable
from typing import Any

from flwr.app import DEFAULT_TTL, Context, Message, Metadata, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid


class InProcessGrid(Grid):
    """Runs the client app at once for every message sent. Node ids are unsigned 64-bit numbers, as in a deployment."""

    def __init__(self, client_app: ClientApp, nodes: int = 1) -> None:
        self.client_app = client_app
        self.node_ids = [(1 << 63) + secrets.randbits(62) for _ in range(nodes)]
        self._replies: dict[str, Message] = {}

    def get_node_ids(self) -> Iterable[int]:
        return list(self.node_ids)

    def create_message(
        self, content: RecordDict, message_type: str, dst_node_id: int, group_id: str, ttl: float | None = None
    ) -> Message:
        metadata = Metadata(
            run_id=0,
            message_id=secrets.token_hex(8),
            src_node_id=1,
            dst_node_id=dst_node_id,
            reply_to_message_id="",
            group_id=group_id,
            created_at=time.time(),
            ttl=ttl or DEFAULT_TTL,
            message_type=message_type,
        )
        return Message(content, metadata=metadata)

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        return [self._handle(message) for message in messages]

    def _handle(self, message: Message) -> str:
        context = Context(
            run_id=0, node_id=message.metadata.dst_node_id, node_config={}, state=RecordDict(), run_config={}
        )
        self._replies[message.metadata.message_id] = self.client_app(message, context)
        return message.metadata.message_id

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        return [self._replies.pop(name) for name in message_ids if name in self._replies]

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> Iterable[Message]:
        return self.pull_messages(self.push_messages(messages))

    @property
    def run(self) -> Any:
        raise NotImplementedError("one process has one run")

    def set_run(self, run: Any) -> None:
        """There is one run."""
