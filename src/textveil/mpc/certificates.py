"""Certificates: a small authority that `classify keys` makes, identities that it signs, and certificates of one session.

An identity names its role (server.textveil, client.textveil, dealer.textveil, node0.textveil ...), and whoever connects
checks that name, so that no client can pose as a server. A session's certificate signs itself, is pinned by its peer as the
only one it trusts, and ends with the session: the engine's links check no names.
"""

from __future__ import annotations

import datetime
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from textveil.core.errors import BadInput

DOMAIN = "textveil"
_DAYS, _SESSION_DAYS = 825, 2
_BOTH = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])


@dataclass(frozen=True)
class Certificate:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes

    def write(self, folder: Path, name: str = "") -> None:
        """cert.pem and key.pem (for the owner alone)."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / f"{name}cert.pem").write_bytes(self.certificate)
        path = folder / f"{name}key.pem"
        path.touch(mode=0o600)
        path.write_bytes(self.key)


def make_authority() -> Certificate:
    """A new authority."""
    return _signed("authority", None, authority=True)


def make_identity(authority: Certificate, role: str) -> Certificate:
    """An identity of this role, signed by the authority."""
    return _signed(role, authority)


def make_session_certificate() -> Certificate:
    """A certificate that signs itself, for one session."""
    return _signed("session", None, days=_SESSION_DAYS)


def _signed(role: str, by: Certificate | None, *, authority: bool = False, days: int = _DAYS) -> Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{role}.{DOMAIN}")])
    now = datetime.datetime.now(datetime.UTC)
    issuer_key, issuer_name = key, name
    if by is not None:
        loaded = serialization.load_pem_private_key(by.key, None)
        assert isinstance(loaded, ec.EllipticCurvePrivateKey)
        issuer_key, issuer_name = loaded, x509.load_pem_x509_certificate(by.certificate).subject
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer_name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=by is None, path_length=0 if by is None else None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(f"{role}.{DOMAIN}")]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    if not authority:
        builder = builder.add_extension(_BOTH, critical=False)
    else:
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        builder = builder.add_extension(usage, critical=True)
    signed = builder.sign(issuer_key, hashes.SHA256())
    return Certificate(
        signed.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )


def context(folder: Path, *, server: bool) -> ssl.SSLContext:
    """TLS 1.3 with the identity of a keys folder; both sides show a certificate of the same authority."""
    for name in ("authority.pem", "cert.pem", "key.pem"):
        if not (folder / name).is_file():
            raise BadInput(f"has no {name}", where=folder, possible="a folder that `textveil classify keys` made")
    purpose = ssl.Purpose.CLIENT_AUTH if server else ssl.Purpose.SERVER_AUTH
    made = ssl.create_default_context(purpose, cafile=str(folder / "authority.pem"))
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        made.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    except (ssl.SSLError, OSError):
        raise BadInput("does not hold a certificate with its key", where=folder) from None
    made.verify_mode = ssl.CERT_REQUIRED
    return made


def role_name(role: str) -> str:
    """The name that a certificate of this role carries.

    >>> role_name("dealer")
    'dealer.textveil'
    """
    return f"{role}.{DOMAIN}"


__all__ = ["Certificate", "context", "make_authority", "make_identity", "make_session_certificate", "role_name"]
