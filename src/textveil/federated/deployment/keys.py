"""The keys by which a server knows its sites: one elliptic-curve pair for each, in OpenSSH's format.

Flower's own commands read the same files (`ssh-keygen -t ecdsa -b 384` makes such pairs too). NAME.key stays at the site;
NAME.pub goes to the server, where the file's name is the name of the site.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.core.files import write_whole

PRIVATE, PUBLIC = ".key", ".pub"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


def make_site_key(folder: Path, name: str) -> tuple[Path, Path]:
    """Make the key pair of a site: the private file, for its owner only, and the public one."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec

    if not _NAME.fullmatch(name):
        raise BadInput(f"'{name}' is no name for a site", possible="letters, digits, dots and dashes, e.g. hospital-a")
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"{name}{PRIVATE}", folder / f"{name}{PUBLIC}"
    check_absent(*paths)
    private = ec.generate_private_key(ec.SECP384R1())
    secret = private.private_bytes(form.Encoding.PEM, form.PrivateFormat.OpenSSH, form.NoEncryption())
    public = private.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH)
    write_whole(paths[0], secret, mode=0o600)
    write_whole(paths[1], public + b" " + name.encode("ascii") + b"\n")
    return paths


def check_absent(*paths: Path) -> None:
    """Refuse to write over a key."""
    for path in paths:
        if path.exists():
            raise BadInput("is there already, and keys are not written over", where=path, possible="another name")


def read_site_key(path: Path) -> Any:
    """The private key of a site."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key

    try:
        key = load_ssh_private_key(read_file(path), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise BadInput("is not the private key of a site", where=path, possible="textveil federate keys site makes one")
    return key


def read_public_keys(folder: Path) -> dict[str, bytes]:
    """The registered sites of a folder: name -> public key (PEM), from its files NAME.pub."""
    if not folder.is_dir():
        raise BadInput("is no folder", where=folder, possible="a folder with the public key NAME.pub of each site")
    keys = {path.name.removesuffix(PUBLIC): _public_key(path) for path in sorted(folder.glob(f"*{PUBLIC}"))}
    if not keys:
        raise BadInput("holds no public key", where=folder, possible="NAME.pub of each site that may join")
    by_key: dict[bytes, str] = {}
    for name, key in keys.items():
        if by_key.setdefault(key, name) != name:
            raise BadInput(
                f"'{by_key[key]}' and '{name}' have the same key", where=folder, possible="a key for each site"
            )
    return keys


def _public_key(path: Path) -> bytes:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec

    try:
        key = form.load_ssh_public_key(read_file(path))
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise BadInput("is not the public key of a site", where=path, possible="textveil federate keys site makes one")
    return key.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)


def read_file(path: Path) -> bytes:
    """The content of a key or certificate file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror or 'system error'})", where=path) from None


__all__ = ["check_absent", "make_site_key", "read_file", "read_public_keys", "read_site_key"]
