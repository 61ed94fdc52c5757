"""The doors of one box: ways from this machine to its ports, and from inside to what it may reach.

All of it happens out here, in one thread a box: the sockets inside were made by the box's first process and
handed out. Nothing inside can be ended, flooded or rewritten to get anywhere else.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress

_CHUNK = 65536
_AT_ONCE = 128
_BACKLOG = 128
_LAST_WORDS_SECONDS = 10.0

type SocketInside = Callable[[int], socket.socket]
"""Answers an unconnected TCP socket of the box's network for an address family; raises OSError."""

type Visit = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""Serves one connection that somebody inside has opened; the connection is closed afterwards."""


class Doors:
    """Opens and serves doors until they are closed; safe to use from any thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._sockets: list[socket.socket] = []

    def way_in(self, socket_inside: SocketInside, *, host: str, port: int, wanted: int = 0) -> int:
        """Return a port of this machine's loopback that leads to a port of the box.

        It is `wanted` where that is still free. Raises OSError.
        """
        try:
            door = socket.create_server(("127.0.0.1", wanted), backlog=_BACKLOG)
        except OSError:
            door = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        outside = int(door.getsockname()[1])

        async def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            inner = await asyncio.to_thread(socket_inside, family)
            inner.setblocking(False)  # noqa: FBT003 - the system's own signature
            try:
                await asyncio.get_running_loop().sock_connect(inner, (host, port))
            except OSError:
                inner.close()
                raise
            await joined(reader, writer, *await asyncio.open_connection(sock=inner))

        self._serve(door, visit)
        return outside

    def way_out(self, door: socket.socket, visit: Visit) -> None:
        """Serve what is opened at a listening socket of the box."""
        self._serve(door, visit)

    def close(self) -> None:
        """Close all doors and connections; opening another one is refused."""
        with self._lock:
            self._closed = True
            loop, thread, sockets = self._loop, self._thread, self._sockets
            self._sockets = []
        for door in sockets:
            door.close()
        if loop is not None and thread is not None:
            with suppress(RuntimeError):  # The loop ended by itself.
                loop.call_soon_threadsafe(loop.stop)
            if thread is not threading.current_thread():
                thread.join(5)

    def abandon(self) -> None:
        """Close a fork's copies of the sockets: the doors are its parent's."""
        for door in self._sockets:
            with suppress(OSError):
                door.close()

    def _serve(self, door: socket.socket, visit: Visit) -> None:
        door.setblocking(False)  # noqa: FBT003 - the system's own signature
        with self._lock:
            if self._closed:
                door.close()
                raise OSError("The box is closed.")
            self._sockets.append(door)
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name="doors", daemon=True)
                self._thread.start()
            asyncio.run_coroutine_threadsafe(_receive(door, visit), self._loop)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    # What a stranger does to a connection is no news; the connection is closed.
    loop.set_exception_handler(lambda _loop, _context: None)
    try:
        loop.run_forever()
        visits = asyncio.all_tasks(loop)
        for visit in visits:
            visit.cancel()
        if visits:
            loop.run_until_complete(asyncio.wait(visits, timeout=3))
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


async def _receive(door: socket.socket, visit: Visit) -> None:
    loop = asyncio.get_running_loop()
    # More than so many would cost this process its file descriptors: the others wait in the queue.
    places = asyncio.Semaphore(_AT_ONCE)
    visits: set[asyncio.Task[None]] = set()
    while True:
        await places.acquire()
        try:
            connection, _address = await loop.sock_accept(door)
        except OSError:
            return
        task = asyncio.create_task(_one(connection, visit))
        visits.add(task)
        task.add_done_callback(visits.discard)
        task.add_done_callback(lambda _task: places.release())


async def _one(connection: socket.socket, visit: Visit) -> None:
    with suppress(OSError, TimeoutError):
        reader, writer = await asyncio.open_connection(sock=connection)
        try:
            await visit(reader, writer)
        finally:
            writer.close()
            await asyncio.wait_for(writer.wait_closed(), _LAST_WORDS_SECONDS)


async def joined(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    other_reader: asyncio.StreamReader,
    other_writer: asyncio.StreamWriter,
) -> None:
    """Carry everything both ways until both sides have ended, then close them."""
    try:
        await asyncio.gather(pumped(reader, other_writer), pumped(other_reader, writer))
    finally:
        other_writer.close()
        writer.close()


async def pumped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry everything from one side to the other, its end included."""
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    with suppress(OSError, RuntimeError):
        if writer.can_write_eof():
            writer.write_eof()
