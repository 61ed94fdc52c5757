"""Large requests, over a real connection: refused by what they announce and by what they send."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn

from proofroom.bodies import LARGEST_BODY, largest_body


async def counting(scope, receive, send) -> None:
    """Answers how many bytes came."""
    amount = 0
    while True:
        message = await receive()
        amount += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(amount).encode()})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    bound = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(largest_body(counting), lifespan="off", log_level="error"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[bound])))
    thread.start()
    yield bound.getsockname()[1]
    server.should_exit = True
    thread.join()


def answered(port: int, head: str, *parts: bytes) -> str:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        line.sendall(f"POST /sign-in/ HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n".encode())
        try:
            for part in parts:
                line.sendall(part)
            line.shutdown(socket.SHUT_WR)
        except OSError:
            # The server has answered and closed already.
            pass
        answer = b""
        while chunk := line.recv(65536):
            answer += chunk
            if b"413" in answer.partition(b"\r\n")[0] and b"Nothing was changed" in answer:
                break
        return answer.decode()


def test_what_is_announced_as_too_large_is_refused_before_a_byte_of_it_is_read(port):
    answer = answered(port, f"Content-Length: {LARGEST_BODY + 1}")

    assert answer.startswith("HTTP/1.1 413 ")
    assert "larger than the 16 MB" in answer


def test_what_turns_out_too_large_on_the_way_is_refused(port):
    megabyte = b"100000\r\n" + b"x" * (1 << 20) + b"\r\n"

    answer = answered(port, "Transfer-Encoding: chunked", *[megabyte] * ((LARGEST_BODY >> 20) + 1))

    assert answer.startswith("HTTP/1.1 413 ")


def test_everything_up_to_the_limit_is_taken(port):
    answer = answered(port, f"Content-Length: {LARGEST_BODY}\r\nConnection: close", b"x" * LARGEST_BODY)

    assert answer.startswith("HTTP/1.1 200 ")
    assert f"\r\n{LARGEST_BODY}\r\n" in answer
