"""What both parties of a session do alike: link their engines, and know their dealer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .certificates import Certificate
from .engine import Engine
from .service import call, split_address
from .wire import PATIENCE, Message, Wire

RETRY_SECONDS = 0.2


def join_dealer(keys: Path, address: str, session: str, own: Certificate, seconds: float) -> Wire:
    """Come to the dealer; its answer waits for the other party."""
    first = {"do": "join", "session": session, "certificate": own.certificate.decode("ascii")}
    return call(keys, address, "dealer", first, seconds=seconds)


def dealer_settings(answer: Message, address: str, folder: Path) -> dict[str, Any]:
    """What the engine has to know of the dealer. Only the first party calls it."""
    port, host = answer.said["port"], split_address(address)[0]
    (folder / "dealer.pem").write_text(str(answer.said["certificate"]))
    return {
        "ttp_beaver_config": {
            "server_host": f"{host}:{int(port)}",
            "adjust_rank": 0,
            "asym_crypto_schema": "SM2",
            "server_public_key": str(answer.said["key"]),
            "transport_protocol": "http",
            "ssl_config": {
                "certificate": f"{folder}/cert.pem",
                "private_key": f"{folder}/key.pem",
                "ca_file_path": f"{folder}/dealer.pem",
                "verify_depth": "1",
            },
        }
    }


def patience(seconds: float) -> dict[str, Any]:
    """The engine's own time-outs. Ours end it sooner: it does not see that a peer is gone, and we do."""
    return {"receive_ms": int(1000 * PATIENCE * seconds), "retries": int(seconds / RETRY_SECONDS)}


def link_up(
    engine: Engine,
    *,
    session: str,
    rank: int,
    hosts: Sequence[str],
    folder: Path,
    config: dict[str, Any],
    seconds: float,
    watch: Sequence[Wire],
    tell: Sequence[Wire] = (),
) -> None:
    """Let an engine connect to its peers, for as long as they are there: its own time-outs are no shorter than ours."""
    engine.ask(
        "connect",
        seconds=seconds,
        watch=watch,
        tell=tell,
        session=session,
        rank=rank,
        hosts=list(hosts),
        folder=str(folder),
        config=config,
        **patience(seconds),
    )


__all__ = ["dealer_settings", "join_dealer", "link_up", "patience"]
