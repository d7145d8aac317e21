"""The key of a masking: a file of 32 random bytes for its owner alone, and what is derived from it.

One key serves several purposes (hashes, pseudonyms, shifts of dates, the encrypted map), each with a key of its own:
HMAC-SHA256 of the purpose under the master key. Whoever holds the file can undo the masking; without a file the key is
drawn for one run and forgotten.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import os
from dataclasses import dataclass
from pathlib import Path

from textveil.core.errors import BadInput
from textveil.core.files import write_whole

KEY_BYTES = 32


@dataclass(frozen=True)
class MaskKey:
    """A master key. Its bytes are never shown.

    >>> MaskKey(bytes(32)).digest("hash", "anna").hex()[:8] == MaskKey(bytes(32)).digest("hash", "anne").hex()[:8]
    False
    >>> MaskKey(bytes(32))
    MaskKey(secret)
    """

    secret: bytes

    def __repr__(self) -> str:
        return "MaskKey(secret)"

    def derived(self, purpose: str) -> bytes:
        """The key of one purpose."""
        return hmac.digest(self.secret, f"textveil.pii {purpose}".encode(), "sha256")

    def digest(self, purpose: str, value: str) -> bytes:
        """A keyed hash of a value, for one purpose."""
        return hmac.digest(self.derived(purpose), value.encode("utf-8", "surrogatepass"), "sha256")

    def number(self, purpose: str, value: str) -> int:
        """The same as a whole number."""
        return int.from_bytes(self.digest(purpose, value)[:16], "big")


def require_key(path: Path, *, make: bool = False) -> tuple[MaskKey, bool]:
    """The key of a file, and whether it was made now; a file that others can read is refused."""
    if make and not path.exists():
        key = MaskKey(os.urandom(KEY_BYTES))
        try:
            write_whole(path, base64.b64encode(key.secret).decode() + "\n", mode=0o600)
        except OSError as error:
            raise BadInput(f"cannot be written ({error.strerror or 'system error'})", where=path) from None
        return key, True
    try:
        open_to = path.stat().st_mode & 0o077
        raw = base64.b64decode(path.read_bytes().strip(), validate=True)
    except FileNotFoundError:
        raise BadInput("does not exist", where=path, possible="the key file that the masking was made with") from None
    except (OSError, binascii.Error, ValueError):
        raise BadInput("is no key file", where=path) from None
    if open_to:
        raise BadInput("can be read by others", where=path, possible=f"chmod 600 {path}")
    if len(raw) != KEY_BYTES:
        raise BadInput("is no key file", where=path)
    return MaskKey(raw), False


__all__ = ["KEY_BYTES", "MaskKey", "require_key"]
