"""A second machine in miniature: its own name, processes and network, joined to this one by one cable."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

HERE, THERE = "10.213.7.1", "10.213.7.2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A network namespace; what runs in it reaches this machine's servers through their relays only."""

    name: str

    @property
    def _cable(self) -> str:
        return f"{self.name}-a"

    def inside(self, *command: str) -> list[str]:
        """The command as a process of that host: when its first process is killed, so are all of it."""
        script = 'hostname "$0" && exec "$@"'
        entered = ["ip", "netns", "exec", self.name]
        own = ["unshare", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
        return [*entered, *own, "sh", "-c", script, self.name, *command]

    def pull_the_cable(self) -> None:
        _ip("link", "set", self._cable, "down")

    def plug_it_in_again(self) -> None:
        _ip("link", "set", self._cable, "up")


def why_not() -> str:
    """Why there can be no second machine here; empty where there can."""
    if sys.platform != "linux" or shutil.which("ip") is None or shutil.which("unshare") is None:
        return "needs Linux with ip (iproute2) and unshare"
    if os.geteuid() != 0:
        return "network namespaces need root"
    name = f"pr{os.getpid() % 100_000}t"
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if tried.returncode != 0:
        return f"network namespaces are refused here: {tried.stderr.strip()}"
    _ip("netns", "del", name)
    return ""


@contextmanager
def second_host() -> Iterator[Host]:
    """Make a host and its cable; both are gone with the test."""
    name = f"pr{os.getpid() % 100_000}"
    far = f"{name}-b"
    _ip("netns", "add", name)
    try:
        _ip("link", "add", f"{name}-a", "type", "veth", "peer", "name", far, "netns", name)
        _ip("addr", "add", f"{HERE}/30", "dev", f"{name}-a")
        _ip("link", "set", f"{name}-a", "up")
        _ip("-n", name, "addr", "add", f"{THERE}/30", "dev", far)
        _ip("-n", name, "link", "set", far, "up")
        _ip("-n", name, "link", "set", "lo", "up")
        yield Host(name=name)
    finally:
        with suppress(subprocess.CalledProcessError):
            _ip("link", "del", f"{name}-a")
        _ip("netns", "del", name)


@contextmanager
def relayed(port: int) -> Iterator[int]:
    """Let the far end of the cable reach a server of this machine's loopback; yields the port it dials."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while chunk := await reader.read(1 << 16):
                writer.write(chunk)
                await writer.drain()
        writer.close()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(carry(reader, server_writer), carry(server_reader, writer))

    server = asyncio.run_coroutine_threadsafe(asyncio.start_server(answer, HERE, 0), loop).result(20)
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
