"""Network namespaces with a delay between them, for bench/mpc.py: `python bench/mpc_net.py DELAY NAME ...`.

netem would do the same in the kernel; many kernels come without it, and this needs only /dev/net/tun and the right to make
namespaces. Each namespace has one interface, 10.77.0.N; a process reads the packets of all of them, holds each for DELAY
seconds, and hands it to the namespace of its address. So every packet of every connection is late, as with netem on each
interface, and the bytes are counted with their TCP and TLS headers.

It prints "ready", then answers every line of its input by the bytes carried so far; at the end of its input it removes all.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import struct
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path

TUNSETIFF, TUN_WITHOUT_HEADER, NEW_NETWORK = 0x400454CA, 0x1001, 0x40000000
MOST = 65_536
SUBNET, DEVICE, MTU = "10.77.0", "tv0", 9000


class NotPermitted(Exception):
    """Namespaces or interfaces cannot be made here."""


def address(number: int) -> str:
    """Of the namespace with this number, from 1."""
    return f"{SUBNET}.{number}"


class Network:
    """The process that carries packets, seen from the benchmark."""

    def __init__(self, names: list[str], delay: float):
        self.addresses = {name: address(number) for number, name in enumerate(names, 1)}
        command = [sys.executable, __file__, str(delay), *names]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        if (line := self._output.readline().strip()) != "ready":
            self._process.wait()
            raise NotPermitted(line)

    def carried(self) -> int:
        """Bytes of all packets so far."""
        print(file=self._input, flush=True)
        return int(self._output.readline())

    def inside(self, name: str) -> list[str]:
        """What a command begins with to run in a namespace."""
        return ["ip", "netns", "exec", name]

    def close(self) -> None:
        self._input.close()
        self._process.wait()


# ---- the process itself ---------------------------------------------------------------------------------------------


def main(delay: float, names: list[str]) -> None:
    try:
        devices = [_made(name, address(number)) for number, name in enumerate(names, 1)]
    except (OSError, subprocess.CalledProcessError) as error:
        _remove(names)
        said = error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else str(error)
        print(f"no namespaces with a delay here: {said}", flush=True)
        return
    print("ready", flush=True)
    try:
        _carry(devices, delay)
    finally:
        _remove(names)


def _made(name: str, own: str) -> int:
    """A namespace with one interface; the descriptor of its other side."""
    _ip("netns", "add", name)
    opened: list[int] = []
    thread = threading.Thread(target=lambda: opened.append(_device(name)))
    thread.start()
    thread.join()
    if not opened:
        raise OSError("no interface can be made")
    for command in (["addr", "add", f"{own}/24", "dev", DEVICE], ["link", "set", DEVICE, "mtu", str(MTU), "up"],
                    ["link", "set", "lo", "up"]):  # fmt: skip
        _ip("-n", name, *command)
    return opened[0]


def _device(name: str) -> int:
    """Made by a thread that goes into the namespace and ends there: the descriptor stays in it."""
    place = os.open(f"/var/run/netns/{name}", os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(place, NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "setns")
    os.close(place)
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), TUN_WITHOUT_HEADER))
    return device


def _carry(devices: list[int], delay: float) -> None:
    """Until the input ends. Packets leave in the order in which they came: all wait equally long."""
    waiting: deque[tuple[float, int, bytes]] = deque()
    carried = 0
    poll = select.poll()
    for descriptor in (*devices, 0):
        poll.register(descriptor, select.POLLIN)
    while True:
        left = None if not waiting else max(0.0, waiting[0][0] - time.monotonic()) * 1000
        for descriptor, _ in poll.poll(left):
            if descriptor == 0:
                if not os.read(0, MOST):
                    return
                print(carried, flush=True)
                continue
            packet = os.read(descriptor, MOST)
            target = packet[19] - 1  # the last byte of the IPv4 address it goes to
            if packet[0] >> 4 == 4 and 0 <= target < len(devices):
                carried += len(packet)
                waiting.append((time.monotonic() + delay, devices[target], packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, device, packet = waiting.popleft()
            os.write(device, packet)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


def _remove(names: list[str]) -> None:
    for name in names:
        if Path(f"/var/run/netns/{name}").exists():
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
