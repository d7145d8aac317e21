"""Keys folders: an authority, an identity for every role, and a token for whoever may ask.

KEYS/authority/     signs new identities; keep it apart
KEYS/server/        one folder a role, to be given to its owner:
    authority.pem     whom to trust       cert.pem, key.pem    the identity
    token             what this role shows to others
    tokens.json       hashes of the tokens that are accepted here, with their roles
KEYS/client/ KEYS/dealer/ KEYS/node0/ KEYS/node1/ KEYS/node2/
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from textveil.core.errors import BadInput, Refused

from .certificates import Certificate, make_authority, make_identity

AUTHORITY, SERVER, DEALER, NODES = "authority", "server", "dealer", ("node0", "node1", "node2")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")


class Caller(NamedTuple):
    """Who shows a token: a name, and what it may do."""

    name: str
    role: str  # server or client


def make_keys(folder: Path, clients: Sequence[str] = ("client",)) -> list[str]:
    """Make the folders of all roles, or add clients to an existing one; the names of the folders that are new."""
    for name in clients:
        if not _NAME.fullmatch(name) or name in (AUTHORITY, SERVER, DEALER, *NODES):
            raise BadInput(f"'{name}' cannot name a client", possible="letters, digits and -, e.g. bob")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    authority = _authority(folder)
    new = [name for name in (SERVER, DEALER, *NODES, *clients) if not (folder / name).exists()]
    if not new:
        raise BadInput("has all of these already", where=folder, possible="--client NAME adds a client")
    for name in new:
        own = folder / name
        role = name if name in (SERVER, DEALER, *NODES) else "client"
        make_identity(authority, role).write(own)
        (own / "authority.pem").write_bytes(authority.certificate)
        _write_secret(own / "token", secrets.token_hex(32))
    _share_tokens(folder)
    return new


def _authority(folder: Path) -> Certificate:
    place = folder / AUTHORITY
    if not place.exists():
        make_authority().write(place)
    return Certificate((place / "cert.pem").read_bytes(), (place / "key.pem").read_bytes())


def _share_tokens(folder: Path) -> None:
    """Hashes of all tokens, for those who accept them."""
    callers = sorted(p.name for p in folder.iterdir() if (p / "token").is_file() and p.name not in (DEALER, *NODES))
    hashes = {
        name: {"sha256": _hash((folder / name / "token").read_text()), "role": SERVER if name == SERVER else "client"}
        for name in callers
    }
    for name in (SERVER, DEALER, *NODES):
        (folder / name / "tokens.json").write_text(json.dumps(hashes, indent=1) + "\n")


def _write_secret(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def own_token(folder: Path) -> str:
    """The token that the owner of a keys folder shows to others."""
    try:
        return (folder / "token").read_text()
    except OSError:
        raise BadInput("has no token", where=folder, possible="a folder that `textveil classify keys` made") from None


def require_caller(folder: Path, token: object) -> Caller:
    """Who shows this token, or a refusal. The file is read anew, so that a client can be added or taken out meanwhile."""
    try:
        known = json.loads((folder / "tokens.json").read_text())
    except (OSError, ValueError):
        raise BadInput("has no tokens.json", where=folder, possible="a folder that `classify keys` made") from None
    shown = _hash(token) if isinstance(token, str) else ""
    for name, entry in known.items():
        if hmac.compare_digest(entry["sha256"], shown):
            return Caller(name, entry["role"])
    raise Refused("the token is not known here")


__all__ = ["DEALER", "NODES", "SERVER", "Caller", "make_keys", "own_token", "require_caller"]
