"""A code agent and a candidate that do their work, and something else besides; runs inside the sandbox.

`wild.py agent ACT` writes a good page and then tries ACT of acts.py; `wild.py candidate ACT` leaves an
application that does so once it is asked for its page; `wild.py serve PORT` is that application.
"""

from __future__ import annotations

import http.server
import subprocess
import sys
import threading
from pathlib import Path

DATA = Path(__file__).parent
PAGE = b"<!doctype html><title>Page</title><h1>Page</h1>"


def tried(act: str) -> subprocess.Popen[bytes]:
    """Try an act in a process of its own, which ends as it likes."""
    return subprocess.Popen([sys.executable, str(DATA / "acts.py"), act, str(DATA / "facts.json")])


def agent(act: str) -> None:
    if act != "delete_the_workspace":
        Path("index.html").write_bytes(PAGE)
    tried(act).wait()


def candidate(act: str) -> None:
    Path("act.txt").write_text(act)


def serve(port: str) -> None:
    begun = threading.Event()
    act = Path("act.txt").read_text()

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            begun.set()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(PAGE)))
            self.end_headers()
            self.wfile.write(PAGE)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    begun.wait()
    tried(act).wait()
    threading.Event().wait()


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
