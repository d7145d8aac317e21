"""A keyed fingerprint of a data set: the same documents in the same order give the same one, in whatever file they come.

BLAKE2b with a key, over documents that each carry their length before them, so that "ab", "c" and "a", "bc" differ. The key
keeps a stranger from testing guesses of the documents against a published fingerprint.
"""

from __future__ import annotations

import hashlib

from textveil.core.errors import BadParameter


class Fingerprint:
    """Takes documents one by one.

    >>> one, two = Fingerprint(b"key"), Fingerprint(b"key")
    >>> one.update("ab"), one.update("c"), two.update("a"), two.update("bc")
    (None, None, None, None)
    >>> one.hexdigest() == two.hexdigest()
    False
    """

    def __init__(self, key: bytes):
        if not 1 <= len(key) <= hashlib.blake2b.MAX_KEY_SIZE:
            raise BadParameter("key", f"{len(key)} bytes", "1 to 64 bytes")
        self._hash = hashlib.blake2b(digest_size=32, key=key)

    def update(self, text: str) -> None:
        """One document."""
        self.update_bytes(text.encode("utf-8", "surrogatepass"))

    def update_bytes(self, data: bytes) -> None:
        """One document as bytes; a text and its UTF-8 are the same document."""
        self._hash.update(len(data).to_bytes(8, "little"))
        self._hash.update(data)

    def hexdigest(self) -> str:
        """64 hexadecimal digits for the documents so far."""
        return self._hash.hexdigest()
