"""The dealer: corrections that are right, and a memory that makes it useless as an oracle."""

from __future__ import annotations

import base64
import socket
import ssl
import subprocess

import numpy as np
import pytest

from textveil.core.errors import BadInput, Refused
from textveil.mpc.certificates import make_session_certificate
from textveil.mpc.dealer_book import CounterBook, Drawn
from textveil.mpc.dealer_http import DealerSession
from textveil.mpc.dealing import OPERATIONS, Request, blocks_of, ring_matmul, stream
from textveil.mpc.sm2 import Sm2Key

SEEDS = [bytes(range(16)), bytes(range(16, 32))]
N = 6


def shares(counters, size):
    return [[stream(seed, counter, size) for seed in SEEDS] for counter in counters]


def joined(pair, kind="<u8"):
    return np.frombuffer(pair[0], kind) + np.frombuffer(pair[1], kind)


def corrected(pair, correction, kind="<u8"):
    """What the parties hold once the first one has added the correction."""
    return joined(pair, kind) + np.frombuffer(correction, kind)


@pytest.mark.parametrize("width", [4, 8])
def test_products_and_squares_are_those_of_big_integers(width):
    kind, request = f"<u{width}", Request(width=width)
    a, b, c = shares((0, 100, 200), width * N)
    big_a, big_b = (joined(pair, kind).astype(object) for pair in (a, b))
    (done,) = OPERATIONS["AdjustMul"].run([a, b, c], request)
    assert corrected(c, done, kind).tolist() == [int(v) for v in (big_a * big_b) % 2 ** (8 * width)]
    (done,) = OPERATIONS["AdjustSquare"].run([a, c], request)
    assert corrected(c, done, kind).tolist() == [int(v) for v in (big_a * big_a) % 2 ** (8 * width)]
    (done,) = OPERATIONS["AdjustMulPriv"].run([a, c], request)
    first, second = (np.frombuffer(share, kind).astype(object) for share in a)
    assert corrected(c, done, kind).tolist() == [int(v) for v in (first * second) % 2 ** (8 * width)]


def test_truncations_are_those_of_big_integers():
    a, b, c = shares((0, 100, 200), 8 * N)
    r = [int(v) for v in joined(a)]
    (done,) = OPERATIONS["AdjustTrunc"].run([a, b], Request(bits=16))
    signed = [(v - 2**64 if v >= 2**63 else v) >> 16 for v in r]
    assert corrected(b, done).tolist() == [v % 2**64 for v in signed]
    middle, top = OPERATIONS["AdjustTruncPr"].run([a, b, c], Request(bits=16))
    assert corrected(b, middle).tolist() == [(v % 2**63) >> 16 for v in r]
    assert corrected(c, top).tolist() == [v >> 63 for v in r]


def test_bits_and_matrices():
    a, b, c = shares((0, 100, 200), 32)
    (done,) = OPERATIONS["AdjustAnd"].run([a, b, c], Request())
    x, y, z = (np.frombuffer(p[0], np.uint8) ^ np.frombuffer(p[1], np.uint8) for p in (a, b, c))
    assert ((z ^ np.frombuffer(done, np.uint8)) == (x & y)).all()
    (bits,) = OPERATIONS["AdjustRandBit"].run([a], Request())
    assert set(corrected(a, bits).tolist()) <= {0, 1}
    rng = np.random.default_rng(1)
    left, right = (rng.integers(0, 2**63, size=s, dtype=np.uint64) * 2 + 1 for s in ((3, 5), (5, 2)))
    exact = (left.astype(object) @ right.astype(object)) % 2**64
    assert (ring_matmul(left, right).astype(object) == exact).all()


def test_the_book_lets_masks_be_used_once():
    dot, book = OPERATIONS["AdjustDot"], CounterBook()
    book.check_and_note(dot, [Drawn(0, 16), Drawn(1, 32), Drawn(3, 16)], repeatable=True)
    book.check_and_note(dot, [Drawn(4, 16), Drawn(1, 32), Drawn(5, 16)], repeatable=True)  # cached weights
    for arrays in (
        [Drawn(6, 16), Drawn(7, 16), Drawn(5, 16)],  # a mask again
        [Drawn(6, 16), Drawn(3, 16), Drawn(8, 16)],  # a mask as an operand
        [Drawn(6, 16), Drawn(1, 16), Drawn(8, 16)],  # part of an operand
        [Drawn(6, 16), Drawn(7, 64), Drawn(8, 16)],  # operand and mask overlap, as the engine would have it
    ):
        with pytest.raises(Refused, match="dealt before"):
            book.check_and_note(dot, arrays, repeatable=True)


def test_the_book_fixes_the_seeds():
    book = CounterBook()
    with pytest.raises(Refused, match="two parties"):
        book.check_seeds([SEEDS[0], SEEDS[0]])
    book.check_seeds(SEEDS)
    for others in ([SEEDS[1], SEEDS[0]], [SEEDS[0], bytes(16)]):
        with pytest.raises(Refused, match="other seeds"):
            book.check_seeds(others)


@pytest.fixture
def session():
    opened = DealerSession("127.0.0.1", 0, make_session_certificate().certificate)
    yield opened
    opened.close()


def encrypted(key: Sm2Key, seed: bytes, tmp_path) -> str:
    (tmp_path / "key.pem").write_bytes(key.public_pem())
    done = subprocess.run(
        ["openssl", "pkeyutl", "-encrypt", "-pubin", "-inkey", tmp_path / "key.pem"], input=seed, capture_output=True
    )
    if done.returncode:
        pytest.skip("no openssl with SM2")
    return base64.b64encode(done.stdout).decode()


def test_calls_are_read_strictly(session, tmp_path):
    seeds = [encrypted(session.key, seed, tmp_path) for seed in SEEDS]

    def call(*counters, size=16, **more):
        inputs = [{"prg_count": c, "buffer_len": size, "encrypted_seeds": seeds} for c in counters]
        return {"prg_inputs": inputs, "field_size": 8, **more}

    (done,) = session.deal("AdjustMul", call(0, 1, 2))
    assert len(done) == 16
    with pytest.raises(Refused, match="dealt before"):
        session.deal("AdjustMul", call(0, 1, 2))
    other = encrypted(session.key, bytes(16), tmp_path)
    with pytest.raises(Refused, match="other seeds"):
        bad = call(9, 10, 11)
        bad["prg_inputs"][1]["encrypted_seeds"] = [other, seeds[1]]
        session.deal("AdjustMul", bad)
    for name, wrong in (
        ("AdjustPerm", call(9, 10)),
        ("AdjustMul", call(9, 10)),
        ("AdjustMul", call(9, 10, 11, field_size=16)),
        ("AdjustMul", call(9, 10, 11, size=12)),
        ("AdjustMul", call(-1, 10, 11)),
        ("AdjustDot", call(9, 10, 11, M=2, N=2, K=2)),
        ("AdjustTrunc", call(9, 10, bits=64)),
        ("AdjustMul", {"prg_inputs": "x", "field_size": 8}),
        ("AdjustMul", call(9, 10, 11, element_type="GFMP")),
    ):
        with pytest.raises((BadInput, Refused)):
            session.deal(name, wrong)


def test_garbage_and_strangers_do_not_stop_it(session):
    rng = np.random.default_rng(2)
    stranger = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
    for round_ in range(40):
        with socket.create_connection(("127.0.0.1", session.port), timeout=5) as raw:
            if round_ % 2:
                raw.sendall(rng.bytes(200))
            else:
                with pytest.raises(OSError), stranger.wrap_socket(raw) as wrapped:  # no certificate that it trusts
                    wrapped.sendall(b"POST / HTTP/1.1\r\n\r\n")
                    if not wrapped.recv(1):
                        raise OSError
    assert session.calls == 0 and blocks_of(17) == 2
