# ruff: noqa: E402 (the version is checked before Flower is imported)
"""Everything of Textveil that touches private modules of Flower, so it is itself imported late.

Flower's own commands for a deployment (flower-superlink, flower-supernode) start further processes, open a control
port without any authentication, run whatever code the control port was given, wait 3 seconds at each step and start a
new Python for each message. Here the same parts of Flower, its link state, its fleet interface, its node state and its
connection, run in one process for each role:

    Link        the SuperLink: registered keys, the run, the fleet's interface as an ASGI app. There is no control port
                and no runtime port: the run is made here, and the grid speaks to the link state directly
    FleetGrid   what a ServerApp's loop sends and receives with
    connected   the SuperNode: pulls a message, hands it to whoever answers, pushes the reply. It runs no code that
                the server sends: the app bundle is read for its settings only

Private modules change without notice, so one version is named and any other is refused.
"""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from textveil.core import BadInput

os.environ.setdefault("FLWR_TELEMETRY_ENABLED", "0")  # read when Flower is imported
os.environ.setdefault("FLWR_DISABLE_UPDATE_CHECK", "1")

PINNED = "1.41.0"


def check_version() -> None:
    """Refuse any other Flower than the one whose private modules were read."""
    try:
        installed = version("flwr")
    except PackageNotFoundError:
        installed = "none"
    if installed != PINNED:
        raise BadInput(
            f"serving and joining use private parts of Flower {PINNED}, and {installed} is installed",
            possible=f"pip install flwr=={PINNED}",
        )


check_version()

from flwr.app import Context, Error, Message, RecordDict
from flwr.app.message import remove_content_from_message
from flwr.cli.build import build_fab_from_disk
from flwr.common.constant import (
    NOOP_ACCOUNT_NAME,
    NOOP_FLWR_AID,
    SUPERLINK_NODE_ID,
    TIMESTAMP_HEADER,
    ErrorCode,
    SubStatus,
)
from flwr.proto.fleet_pb2 import DeactivateNodeRequest
from flwr.serverapp.grid import Grid
from flwr.supercore import heartbeat
from flwr.supercore.constant import (
    FLEET_HTTP_PUBLIC_KEY_HEADER,
    FLEET_HTTP_SIGNATURE_HEADER,
    NOOP_FEDERATION_ID,
    TaskType,
)
from flwr.supercore.fab import Fab
from flwr.supercore.inflatable.inflatable_object import (
    get_all_nested_objects,
    get_object_tree,
    iterate_object_tree,
    no_object_id_recompute,
)
from flwr.supercore.inflatable.inflatable_utils import inflate_object_from_contents
from flwr.supercore.object_store import ObjectStoreFactory
from flwr.supercore.primitives.asymmetric import public_key_to_bytes
from flwr.supercore.run import Run
from flwr.supercore.task_identity import TaskIdentity
from flwr.superlink.main import create_app
from flwr.supernode import fleet_http_connection
from flwr.supernode.fleet_http_client import FleetHttpClient
from flwr.supernode.node_auth_http_interceptor import NodeAuthHttpInterceptor
from flwr.supernode.nodestate import NodeStateFactory
from flwr.supernode.start_client_internal import (
    _init_connection,
    _insert_message,
    _pull_and_store_message,
    _push_messages,
)

from .gate import Gate
from .terms_grid import TOO_LONG

HEARTBEAT = 10  # seconds, the shortest that Flower takes; a site is given up after twice that
FLEET = "/v1/fleet/"
FLEET_CALLS = frozenset(  # without register-node and unregister-node: keys are registered by the operator alone
    FLEET + call
    for call in (
        *("activate-node", "deactivate-node", "send-node-heartbeat", "pull-messages", "push-messages"),
        *("get-run", "get-fab", "push-object", "pull-object", "confirm-message-received"),
    )
)
HEADERS = (FLEET_HTTP_PUBLIC_KEY_HEADER, FLEET_HTTP_SIGNATURE_HEADER, TIMESTAMP_HEADER)

PAUSE = 0.1  # seconds between two looks for answers
SLACK = 2**20  # bytes
_REASONS = {  # what a server says of an error's number; the words that came with it are never read
    ErrorCode.LOAD_CLIENT_APP_EXCEPTION: "could not load its part",
    ErrorCode.CLIENT_APP_RAISED_EXCEPTION: "failed",
    ErrorCode.MESSAGE_UNAVAILABLE: "sent an answer that is not whole",
    ErrorCode.REPLY_MESSAGE_UNAVAILABLE: "did not answer in time",
    ErrorCode.NODE_UNAVAILABLE: "is gone",
    ErrorCode.INVALID_FAB: "did not trust the app",
    ErrorCode.CLIENT_APP_CRASHED: "crashed",
    TOO_LONG: "sent far more than it was sent",
}


def node_id_of(public_key: bytes) -> int:
    """The number of a site: from its key, so that it is the same after the server was killed and started again."""
    return int.from_bytes(hashlib.sha256(public_key).digest()[:8], "big") >> 1 or 2


# ---- server --------------------------------------------------------------------------------------------------------


class Link:
    """The SuperLink of this process: the sites that are registered, by name, and the run."""

    def __init__(self, sites: Mapping[str, bytes]):
        self.app = create_app()
        self.app.state.enable_supernode_auth = True
        self.state: Any = self.app.state.linkstate_factory.state()
        self.names = {self._register(name, key): name for name, key in sites.items()}

    def _register(self, name: str, public_key: bytes) -> int:
        node_id = node_id_of(public_key)
        with self.state.lock:
            drawn = self.state.create_node(NOOP_FLWR_AID, NOOP_ACCOUNT_NAME, public_key, 0, name=name)
            info = self.state.nodes.pop(drawn)
            info.node_id = node_id
            self.state.nodes[node_id] = info
            self.state.node_public_key_to_node_id[public_key] = node_id
            self.state.owner_to_node_ids[NOOP_FLWR_AID].symmetric_difference_update({drawn, node_id})
        return node_id

    def begin(self, bundle: bytes, app: str, config: Mapping[str, Any], gate: Gate) -> FleetGrid:
        """Start a run: sites get `bundle` (the app's settings) and `config` with its first message."""
        fab_hash = self.state.store_fab(Fab("", bundle, {}))
        account = (NOOP_FEDERATION_ID, None, NOOP_FLWR_AID, TaskType.SERVER_APP)
        run_id = self.state.create_run(app, "1", fab_hash, dict(config), *account)
        run = self.state.get_run_info(run_ids=[run_id])[0]
        self.state.claim_task(run.primary_task_id)
        self.state.activate_task(run.primary_task_id)
        self.state.task_token_store.pop(run.primary_task_id)  # it lives as long as this process: no heartbeat
        TaskIdentity.run_id, TaskIdentity.node_id = run_id, SUPERLINK_NODE_ID
        TaskIdentity.task_id = run.primary_task_id
        return FleetGrid(self.state, run, self.names, gate)

    def end(self, grid: FleetGrid) -> None:
        """Close the run: what a site still sends is turned down."""
        self.state.finish_task(grid.run.primary_task_id, SubStatus.COMPLETED, "")


class FleetGrid(Grid):
    """Sends messages to sites and pulls their answers, by way of the link state of this process.

    One answer that cannot be read does not hurt the others. An answer is pulled only when all of it has arrived, and it
    may be about as long as what was sent: twice that, and a little more.
    """

    def __init__(self, state: Any, run: Run, names: Mapping[int, str], gate: Gate):
        self._state, self._run, self._names, self._gate = state, run, names, gate
        self._receivers: dict[str, Message] = {}

    def set_run(self, run: Run) -> None:
        self._run = run

    @property
    def run(self) -> Run:
        return self._run

    def create_message(
        self, content: RecordDict, message_type: str, dst_node_id: int, group_id: str, ttl: float | None = None
    ) -> Message:
        return Message(content, dst_node_id, message_type, ttl=ttl, group_id=group_id)

    def get_node_ids(self) -> list[int]:
        """Sites that are connected now."""
        return sorted(self._state.get_nodes(self._run.run_id))

    def push_messages(self, messages: Iterable[Message]) -> list[str]:
        """Send messages; their ids, empty where one could not be sent."""
        batch = list(messages)
        self._gate.allow(2 * max(map(_length, batch), default=0) + SLACK)
        return [self._push(message) for message in batch]

    def _push(self, message: Message) -> str:
        with no_object_id_recompute():
            message.metadata.__dict__["_message_id"] = message.object_id
            tree, session = get_object_tree(message), self._state.start_session(self._run.run_id)
            empty = remove_content_from_message(message)
            stored, missing = self._state.store_message_and_object_tree(empty, tree, session)
            contents = get_all_nested_objects(message)
            for object_id in missing:
                self._state.store_object(self._run.run_id, session, object_id, contents[object_id].deflate())
        if not stored:
            return ""
        self._receivers[message.metadata.message_id] = empty
        return str(message.metadata.message_id)

    def pull_messages(self, message_ids: Iterable[str]) -> list[Message]:
        """The answers that are there; an error in the place of one that will not come."""
        asked = {message_id for message_id in message_ids if message_id in self._receivers}
        refused = self._oversized(asked)
        asked -= {message.metadata.reply_to_message_id for message in refused}
        answers = self._state.get_message_res(message_ids=set(filter(self._is_ready, asked)), run_id=self._run.run_id)
        pulled = [self._inflate(answer) for answer in answers] + refused
        done = {answer.metadata.reply_to_message_id for answer in pulled}
        self._state.delete_messages(message_ins_ids=done)
        for message_id in done:
            self._receivers.pop(message_id, None)
        return pulled

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> list[Message]:
        """Send, and wait for the answers of all, or until the time is over."""
        open_ids = {message_id for message_id in self.push_messages(messages) if message_id}
        end, answers = time.monotonic() + (float("inf") if timeout is None else timeout), []
        while open_ids and time.monotonic() < end:
            arrived = self.pull_messages(open_ids)
            answers += arrived
            open_ids -= {answer.metadata.reply_to_message_id for answer in arrived}
            time.sleep(PAUSE)
        self._forget(open_ids)
        return answers

    def _forget(self, message_ids: set[str]) -> None:
        """Take back what nobody answered in time: a late answer is turned down, and nothing of it is kept."""
        for message_id in message_ids:
            for object_id in (message_id, self._state.message_ins_id_to_message_res_id.get(message_id)):
                if object_id is not None:
                    self._state.object_store.delete(object_id)
            self._receivers.pop(message_id, None)
        self._state.delete_messages(message_ins_ids=message_ids)

    def _oversized(self, message_ids: set[str]) -> list[Message]:
        """An error for each site that pushed more than an answer may be."""
        names = self._gate.oversized()
        guilty = [self._receivers[m] for m in message_ids if self._names.get(_receiver(self._receivers[m])) in names]
        for message in guilty:
            reply_id = self._state.message_ins_id_to_message_res_id.get(message.metadata.message_id)
            if reply_id is not None:
                self._state.object_store.delete(reply_id)
        return [refusal(message, TOO_LONG) for message in guilty]

    def _is_ready(self, message_id: str) -> bool:
        """Whether an answer has arrived with all its parts, or none has (an error may then stand in its place)."""
        reply_id = self._state.message_ins_id_to_message_res_id.get(message_id)
        if reply_id is None:
            return message_id in self._state.message_ins_store
        return all(content != b"" for content in self._contents(reply_id).values())

    def _contents(self, reply_id: str) -> dict[str, bytes]:
        store = self._state.object_store
        tree = store.get_object_tree(reply_id)
        return {part.object_id: store.get(part.object_id) or b"" for part in iterate_object_tree(tree)}

    def _inflate(self, answer: Message) -> Message:
        """The whole answer; an error without words in its place if it is one, or cannot be read."""
        metadata = answer.metadata
        try:
            whole = inflate_object_from_contents(metadata.message_id, self._contents(metadata.message_id))
            code = whole.error.code if whole.has_error() else None
        except Exception:  # whatever a site sent
            whole, code = answer, ErrorCode.MESSAGE_UNAVAILABLE
        finally:
            self._state.object_store.delete(metadata.message_id)
        if code is not None:
            whole = Message.__new__(Message)
            whole.__dict__.update({"_metadata": metadata, "_content": None})
            whole.__dict__["_error"] = Error(code, _REASONS.get(code, "failed"))
        whole.metadata.__dict__["_message_id"] = metadata.message_id
        receiver = _receiver(self._receivers[metadata.reply_to_message_id])
        whole.metadata.__dict__["_src_node_id"] = receiver  # Flower names itself where a site is gone
        return whole


def _receiver(message: Message) -> int:
    return int(message.metadata.dst_node_id)


def _length(message: Message) -> int:
    """How many bytes the arrays of a message have."""
    if not message.has_content():
        return 0
    return sum(len(array.data) for record in message.content.array_records.values() for array in record.values())


# ---- site ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SiteKey:
    """The key pair by which the server knows a site."""

    private: Any
    public: Any = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "public", self.private.public_key())

    @property
    def node_id(self) -> int:
        return node_id_of(public_key_to_bytes(self.public))


def knock(address: str, ca: bytes, key: SiteKey) -> bool:
    """Whether the server knows this key. Frees the place of an earlier process of this site, if it was killed."""
    import httpx

    with FleetHttpClient.from_server_address(
        address, False, ca, interceptors=[NodeAuthHttpInterceptor(key.private, key.public)]
    ) as client:
        try:
            client.DeactivateNode(DeactivateNodeRequest(node_id=key.node_id))
        except httpx.HTTPStatusError as error:
            return bool(error.response.status_code not in (401, 403))
    return True


class Node:
    """The SuperNode of this process."""

    def __init__(self, connection: tuple[Any, ...], node_config: Mapping[str, Any]):
        node_id, self._receive, self._send, *calls, self._push_object, self._confirm = connection
        self._calls = dict(zip(("get_run", "get_fab", "pull_object"), calls, strict=True))
        factory = NodeStateFactory(objectstore_factory=ObjectStoreFactory())
        self._state: Any = factory.state()
        self._store = factory.objectstore_factory.store()
        self._state.set_node_id(node_id)
        self._node_config = dict(node_config)
        TaskIdentity.node_id = node_id

    def pull(self) -> tuple[Message, Context] | None:
        """The next message of the server with its context, or None if there is none now."""
        run_id = _pull_and_store_message(
            self._state,
            self._store,
            self._node_config,
            self._receive,
            **self._calls,
            confirm_message_received=self._confirm,
            trusted_entities=None,
        )
        if run_id is None:
            return None
        (message,) = self._state.get_messages_legacy(run_ids=[run_id], is_reply=False, limit=1)
        message_id = message.metadata.message_id
        self._state.record_message_processing_start(message_id)
        tree = self._store.get_object_tree(message_id)
        contents = {part.object_id: self._store.get(part.object_id) for part in iterate_object_tree(tree)}
        whole = inflate_object_from_contents(message_id, contents)
        whole.metadata.__dict__["_message_id"] = message_id
        self._store.delete(message_id)
        return whole, self._state.get_run_series_context(self._state.get_run(run_id).series_id)

    def push(self, reply: Message) -> None:
        """Send a reply."""
        self._state.record_message_processing_end(reply.metadata.reply_to_message_id)
        _insert_message(reply, self._state, self._store)
        _push_messages(self._state, self._store, self._send, self._push_object)
        self._state.task_store.clear()


@contextmanager
def connected(address: str, ca: bytes, key: SiteKey, node_config: Mapping[str, Any], patience: float) -> Iterator[Node]:
    """A connection to the server until the block ends; a server that is away is waited for `patience` seconds."""
    heartbeat.HEARTBEAT_DEFAULT_INTERVAL = HEARTBEAT
    fleet_http_connection.HEARTBEAT_DEFAULT_INTERVAL = HEARTBEAT
    with _init_connection(address, False, ca, (key.private, key.public), None, patience) as connection:
        yield Node(connection, node_config)


def refusal(message: Message, code: int = ErrorCode.CLIENT_APP_RAISED_EXCEPTION) -> Message:
    """A reply that says that a step failed and nothing else."""
    return Message(Error(code, _REASONS[code]), reply_to=message)


def build_bundle(folder: Path) -> bytes:
    """The app bundle (FAB) of an app folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a library that Flower uses
        return bytes(build_fab_from_disk(folder))
