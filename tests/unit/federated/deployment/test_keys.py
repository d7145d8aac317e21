"""Keys of sites and certificates of servers: made, read, and refused with one sentence."""

from __future__ import annotations

import shutil
import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta

import pytest

from textveil.core import BadInput
from textveil.federated.deployment import certificates
from textveil.federated.deployment.certificates import check_server, check_server_files, make_server_certificate
from textveil.federated.deployment.keys import make_site_key, read_public_keys, read_site_key


def test_a_pair_is_one_pair_and_private_is_private(tmp_path):
    private, public = make_site_key(tmp_path, "hospital-a")
    assert private.stat().st_mode & 0o777 == 0o600
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    registered = read_public_keys(tmp_path)
    assert list(registered) == ["hospital-a"] and public.name == "hospital-a.pub"
    assert load_pem_public_key(registered["hospital-a"]) == read_site_key(private).public_key()


def test_keys_are_never_written_over(tmp_path):
    private, _ = make_site_key(tmp_path, "a")
    before = private.read_bytes()
    with pytest.raises(BadInput, match="not written over"):
        make_site_key(tmp_path, "a")
    assert private.read_bytes() == before


@pytest.mark.parametrize("name", ["", "../a", "a b", ".hidden", "x" * 64])
def test_names_that_lead_elsewhere_are_refused(tmp_path, name):
    with pytest.raises(BadInput, match="no name for a site"):
        make_site_key(tmp_path / "keys", name)
    assert not (tmp_path / "keys").exists()


def test_bad_key_files_are_named(tmp_path):
    (tmp_path / "a.key").write_text("Marianne Quill")
    with pytest.raises(BadInput, match=r"a\.key: is not the private key") as error:
        read_site_key(tmp_path / "a.key")
    assert "Quill" not in str(error.value)
    with pytest.raises(BadInput, match="holds no public key"):
        read_public_keys(tmp_path)
    (tmp_path / "a.pub").write_text("Marianne Quill")
    with pytest.raises(BadInput, match=r"a\.pub: is not the public key"):
        read_public_keys(tmp_path)
    with pytest.raises(BadInput, match="is no folder"):
        read_public_keys(tmp_path / "absent")


def test_one_key_under_two_names_is_refused(tmp_path):
    _, public = make_site_key(tmp_path, "a")
    shutil.copy(public, tmp_path / "b.pub")
    with pytest.raises(BadInput, match="'a' and 'b' have the same key"):
        read_public_keys(tmp_path)


class Server:
    """A TLS server of one certificate, until the block ends."""

    def __init__(self, paths):
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(paths["server.pem"], paths["server.key"])

    def __enter__(self) -> int:
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()
        return self._listener.getsockname()[1]

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            try:
                self._context.wrap_socket(plain, server_side=True).close()
            except (ssl.SSLError, OSError):
                plain.close()


def test_a_site_accepts_its_server_and_no_other(tmp_path):
    ours = make_server_certificate(tmp_path / "ours", ["127.0.0.1"])
    others = make_server_certificate(tmp_path / "others", ["127.0.0.1"])
    with Server(ours) as port:
        assert check_server("127.0.0.1", port, ours["ca.pem"])
        with pytest.raises(BadInput, match="was not signed by the authority of that file"):
            check_server("127.0.0.1", port, others["ca.pem"])
        with pytest.raises(BadInput, match="is for another name"):
            check_server("localhost", port, ours["ca.pem"])
    with socket.socket() as silent:  # a port that is taken and that nobody listens at
        silent.bind(("127.0.0.1", 0))
        assert not check_server("127.0.0.1", silent.getsockname()[1], ours["ca.pem"])


def test_an_expired_certificate_is_told_at_both_ends(tmp_path, monkeypatch):
    class LongAgo(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) - timedelta(days=400)

    monkeypatch.setattr(certificates, "datetime", LongAgo)
    paths = make_server_certificate(tmp_path, ["127.0.0.1"], days=365)
    monkeypatch.undo()
    day = (datetime.now(UTC) - timedelta(days=35)).date()
    with pytest.raises(BadInput, match=rf"server\.pem: expired on {day}"):
        check_server_files(paths["server.pem"], paths["server.key"])
    with Server(paths) as port, pytest.raises(BadInput, match="has expired"):
        check_server("127.0.0.1", port, paths["ca.pem"])


def test_a_new_certificate_keeps_the_authority(tmp_path):
    paths = make_server_certificate(tmp_path, ["127.0.0.1"])
    authority = paths["ca.pem"].read_bytes()
    paths["server.pem"].unlink()
    paths["server.key"].unlink()
    with Server(make_server_certificate(tmp_path, ["127.0.0.1"])) as port:
        assert check_server("127.0.0.1", port, paths["ca.pem"])
    assert paths["ca.pem"].read_bytes() == authority


def test_a_key_of_another_certificate_is_refused(tmp_path):
    one = make_server_certificate(tmp_path / "one", ["127.0.0.1"])
    two = make_server_certificate(tmp_path / "two", ["127.0.0.1"])
    check_server_files(one["server.pem"], one["server.key"])
    with pytest.raises(BadInput, match=r"server\.key: is not the private key of server\.pem"):
        check_server_files(one["server.pem"], two["server.key"])
    with pytest.raises(BadInput, match="is not a certificate"):
        check_server_files(one["server.key"], one["server.key"])


def test_what_does_not_speak_tls_is_told(tmp_path):
    ca = make_server_certificate(tmp_path, ["127.0.0.1"])["ca.pem"]
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def speak() -> None:
            other, _ = listener.accept()
            other.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            other.close()

        threading.Thread(target=speak, daemon=True).start()
        with pytest.raises(BadInput, match="does not speak TLS"):
            check_server("127.0.0.1", listener.getsockname()[1], ca)
