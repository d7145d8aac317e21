"""The server's certificate: made here with an authority of its own, or brought along; and what a site checks of it.

ca.pem       goes to every site: who holds it can tell the real server from others
ca.key       signs a new server certificate when the old one runs out; needed nowhere else
server.pem   the certificate, for the names and addresses by which sites reach the server
server.key   its private key
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.core.files import write_whole

from .keys import check_absent, read_file

CA, CA_KEY, CERTIFICATE, KEY = "ca.pem", "ca.key", "server.pem", "server.key"
CA_DAYS = 3650
_OPENSSL_REASONS = {  # numbers of X509_V_ERR_...
    9: "is not valid yet",
    10: "has expired",
    18: "was not signed by the authority of that file",
    19: "was not signed by the authority of that file",
    20: "was not signed by the authority of that file",
    21: "was not signed by the authority of that file",
    62: "is for another name than the one in the address",
    64: "is for another address than the one given",
}


def make_server_certificate(folder: Path, hosts: Sequence[str], days: int = 365) -> dict[str, Path]:
    """Make a certificate for a server, signed by the authority of the folder, which is made if there is none."""
    if not hosts:
        raise BadInput("a certificate is for a name", possible="--host training.example.org, or an address")
    if days < 1:
        raise BadInput(f"a certificate is valid for 1 day or more, not {days}")
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / name for name in (CA, CA_KEY, CERTIFICATE, KEY)}
    check_absent(paths[CERTIFICATE], paths[KEY])
    names = _names(hosts)
    authority = _authority(paths)
    private = _new_key()
    builder = _builder(hosts[0], authority[0].subject, private, days).add_extension(names, critical=False)
    certificate = _extended(builder, private, authority[1], is_authority=False).sign(authority[1], _sha256())
    write_whole(paths[KEY], _pem(private), mode=0o600)
    write_whole(paths[CERTIFICATE], certificate.public_bytes(_encoding()))
    return paths


def check_server_files(certificate: Path, key: Path) -> None:
    """Refuse a certificate that is over or not yet valid, and a key that is not its own."""
    from cryptography import x509

    try:
        loaded = x509.load_pem_x509_certificate(read_file(certificate))
    except ValueError:
        raise BadInput("is not a certificate", where=certificate, possible="textveil federate keys server") from None
    now = datetime.now(UTC)
    if now > loaded.not_valid_after_utc:
        over = loaded.not_valid_after_utc.date()
        raise BadInput(
            f"expired on {over}", where=certificate, possible="textveil federate keys server makes a new one"
        )
    if now < loaded.not_valid_before_utc:
        raise BadInput(f"is not valid before {loaded.not_valid_before_utc.date()}", where=certificate)
    read_file(key)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except (ssl.SSLError, OSError):
        raise BadInput(f"is not the private key of {certificate.name}", where=key) from None


def check_server(host: str, port: int, ca: Path) -> bool:
    """Refuse a server whose certificate the authority in `ca` did not sign for this host; False if nobody answers."""
    read_file(ca)
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(ca)
    except (ssl.SSLError, OSError):
        raise BadInput("is not a certificate", where=ca, possible="the file ca.pem of the server") from None
    try:
        with socket.create_connection((host, port), timeout=10) as plain:
            context.wrap_socket(plain, server_hostname=host).close()
    except ssl.SSLCertVerificationError as error:
        reason = _OPENSSL_REASONS.get(error.verify_code, "cannot be verified")
        raise BadInput(f"the certificate of the server at {host}:{port} {reason}", where=ca) from None
    except ssl.SSLError:
        raise BadInput(f"what answers at {host}:{port} does not speak TLS") from None
    except OSError:
        return False
    return True


# ---- within --------------------------------------------------------------------------------------------------------


def _authority(paths: dict[str, Path]) -> tuple[Any, Any]:
    """The authority of the folder: its certificate and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if paths[CA].exists() and paths[CA_KEY].exists():
        try:
            certificate = x509.load_pem_x509_certificate(read_file(paths[CA]))
            return certificate, load_pem_private_key(read_file(paths[CA_KEY]), None)
        except (ValueError, TypeError):
            raise BadInput("is no authority that was made here", where=paths[CA], possible="another folder") from None
    check_absent(paths[CA], paths[CA_KEY])
    private = _new_key()
    name = _common_name("Textveil federation")
    builder = _builder("Textveil federation", name, private, CA_DAYS)
    certificate = _extended(builder, private, private, is_authority=True).sign(private, _sha256())
    write_whole(paths[CA_KEY], _pem(private), mode=0o600)
    write_whole(paths[CA], certificate.public_bytes(_encoding()))
    return certificate, private


def _builder(name: str, issuer: Any, private: Any, days: int) -> Any:
    from cryptography import x509

    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(_common_name(name)).issuer_name(issuer)
    builder = builder.public_key(private.public_key()).serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=days))


def _extended(builder: Any, private: Any, signer: Any, *, is_authority: bool) -> Any:
    """The extensions without which strict verifiers refuse a certificate."""
    from cryptography import x509

    usage = x509.KeyUsage(
        digital_signature=not is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        encipher_only=False,
        decipher_only=False,
    )
    builder = builder.add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    builder = builder.add_extension(usage, critical=True)
    identifier = x509.SubjectKeyIdentifier.from_public_key(private.public_key())
    builder = builder.add_extension(identifier, critical=False)
    authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    return builder.add_extension(authority, critical=False)


def _names(hosts: Sequence[str]) -> Any:
    from cryptography import x509

    names: list[x509.GeneralName] = []
    for host in hosts:
        try:
            names.append(x509.IPAddress(ipaddress.ip_address(host)))
        except ValueError:
            try:
                names.append(x509.DNSName(host))
            except ValueError:
                raise BadInput(f"'{host}' is neither a host's name nor an address") from None
    return x509.SubjectAlternativeName(names)


def _common_name(name: str) -> Any:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])


def _new_key() -> Any:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _pem(private: Any) -> bytes:
    from cryptography.hazmat.primitives import serialization as form

    raw: bytes = private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    return raw


def _sha256() -> Any:
    from cryptography.hazmat.primitives import hashes

    return hashes.SHA256()


def _encoding() -> Any:
    from cryptography.hazmat.primitives import serialization as form

    return form.Encoding.PEM


__all__ = ["check_server", "check_server_files", "make_server_certificate"]
