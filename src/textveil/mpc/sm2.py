"""SM2 keys and decryption, by the OpenSSL that Python's own `ssl` uses.

The engine's parties send their seeds to the dealer encrypted under an SM2 key. The package `cryptography` has no SM2, so its
one operation is called in libcrypto itself (EVP_PKEY_decrypt); no primitive is written here. A key lives as long as a
session and is never stored.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import cache
from typing import Any

from textveil.core.errors import BadInput

_ID = b"1234567812345678"  # the identity of the SM2 standard, which the engine uses


@cache
def _library() -> Any:
    name = ctypes.util.find_library("crypto") or "libcrypto.so.3"
    try:
        library = ctypes.CDLL(name)
        for function in ("EVP_PKEY_Q_keygen", "EVP_PKEY_CTX_new"):
            getattr(library, function).restype = ctypes.c_void_p
    except (OSError, AttributeError):
        raise BadInput("the dealer needs OpenSSL 3 with SM2 (libcrypto)", possible="install OpenSSL 3") from None
    return library


class Sm2Key:
    """A fresh key pair.

    >>> Sm2Key().public_pem().splitlines()[0]
    b'-----BEGIN PUBLIC KEY-----'
    """

    def __init__(self) -> None:
        self._key = ctypes.c_void_p(_library().EVP_PKEY_Q_keygen(None, None, b"SM2"))
        if not self._key:
            raise BadInput("this OpenSSL cannot make SM2 keys", possible="an OpenSSL 3 with SM2")

    def public_pem(self) -> bytes:
        import base64

        size = _library().i2d_PUBKEY(self._key, None)
        raw = ctypes.create_string_buffer(size)
        _library().i2d_PUBKEY(self._key, ctypes.byref(ctypes.c_void_p(ctypes.addressof(raw))))
        return b"-----BEGIN PUBLIC KEY-----\n" + base64.encodebytes(raw.raw) + b"-----END PUBLIC KEY-----\n"

    def decrypt(self, ciphertext: bytes) -> bytes:
        """The plain bytes; BadInput where they were not encrypted under this key."""
        library = _library()
        context = ctypes.c_void_p(library.EVP_PKEY_CTX_new(self._key, None))
        try:
            library.EVP_PKEY_CTX_set1_id(context, _ID, len(_ID))
            size = ctypes.c_size_t(0)
            if (
                library.EVP_PKEY_decrypt_init(context) != 1
                or library.EVP_PKEY_decrypt(context, None, ctypes.byref(size), ciphertext, len(ciphertext)) != 1
            ):
                raise BadInput("a seed is not encrypted under the key of this session")
            plain = ctypes.create_string_buffer(max(1, size.value))
            if library.EVP_PKEY_decrypt(context, plain, ctypes.byref(size), ciphertext, len(ciphertext)) != 1:
                raise BadInput("a seed is not encrypted under the key of this session")
            return plain.raw[: size.value]
        finally:
            library.EVP_PKEY_CTX_free(context)

    def __del__(self) -> None:
        if getattr(self, "_key", None):
            _library().EVP_PKEY_free(self._key)


__all__ = ["Sm2Key"]
