"""Serve one folder over HTTP: right media types, ranges, never a file outside of the folder.

Run as `python -I static_server.py FOLDER PORT [--fallback FILE] [--index FILE]`, standard library only. With
`--fallback` a path that names no file and has no extension answers FILE (for applications with a router).
"""

from __future__ import annotations

import argparse
import mimetypes
import re
import sys
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote, unquote, urlsplit

MEDIA_TYPES = {
    ".avif": "image/avif",
    ".css": "text/css",
    ".csv": "text/csv",
    ".gif": "image/gif",
    ".htm": "text/html",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript",
    ".json": "application/json",
    ".map": "application/json",
    ".md": "text/markdown",
    ".mjs": "text/javascript",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".txt": "text/plain",
    ".wasm": "application/wasm",
    ".wav": "audio/wav",
    ".webm": "video/webm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".xml": "application/xml",
}
"""Named here, because the system's own table differs from machine to machine."""

_RANGE = re.compile(r"bytes=(\d*)-(\d*)$")
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class _Site:
    root: Path
    index: str
    fallback: str | None

    def file_for(self, target: str) -> Path | None:
        """Return the file that a request target names, inside of the folder, or None."""
        path = _path_of(target)
        if path is None:
            return None
        found = self._inside(path)
        if found is not None and found.is_dir():
            found = self._inside(f"{path}/{self.index if found == self.root else 'index.html'}")
        if found is not None and found.is_file():
            return found
        last = path.rsplit("/", 1)[-1]
        if self.fallback is not None and "." not in last:
            return self._inside(self.fallback)
        return None

    def wants_slash(self, target: str) -> bool:
        """Answer whether a folder was named without its slash: relative links in it would go wrong."""
        path = _path_of(target)
        if path is None or path.endswith("/"):
            return False
        found = self._inside(path)
        return found is not None and found.is_dir() and (found / "index.html").is_file()

    def _inside(self, path: str) -> Path | None:
        try:
            found = (self.root / path.lstrip("/")).resolve()
        except (OSError, RuntimeError):
            return None
        return found if found.is_relative_to(self.root) else None


def _path_of(target: str) -> str | None:
    """Return the decoded path, or None for one that no file can have."""
    path = unquote(urlsplit(target).path, errors="replace")
    longest = max(len(name.encode()) for name in path.split("/"))
    if "\0" in path or "\\" in path or longest > 255 or len(path.encode()) > 2000:
        return None
    return path


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "static"
    sys_version = ""
    timeout = 60
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(code)d %(message)s\n"
    _ranges: ClassVar[re.Pattern[str]] = _RANGE

    def __init__(self, *arguments: object, site: _Site) -> None:
        self._site = site
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        if self._site.wants_slash(self.path):
            parts = urlsplit(self.path)
            # A single slash at the start: `//host` would send the browser to another site.
            path = "/" + quote(unquote(parts.path).strip("/")) + "/"
            self.send_response(HTTPStatus.MOVED_PERMANENTLY)
            self.send_header("Location", path + (f"?{parts.query}" if parts.query else ""))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        found = self._site.file_for(self.path)
        if found is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        try:
            with found.open("rb") as file:
                size = found.stat().st_size
                first, last = self._span(size)
                if first > last and size:
                    self._unsatisfiable(size)
                    return
                self._head(found, first=first, last=last, size=size)
                if with_body:
                    file.seek(first)
                    left = last - first + 1
                    while left > 0 and (data := file.read(min(_CHUNK, left))):
                        self.wfile.write(data)
                        left -= len(data)
        except PermissionError:
            self.send_error(HTTPStatus.FORBIDDEN)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _span(self, size: int) -> tuple[int, int]:
        """Return the first and last byte to send; the first is beyond the last when there is none."""
        match = self._ranges.match(self.headers.get("Range", ""))
        if match is None or match.groups() == ("", ""):
            return 0, size - 1
        begin, end = match.groups()
        if not begin:
            return max(0, size - int(end)), size - 1
        return int(begin), min(int(end) if end else size - 1, size - 1)

    def _unsatisfiable(self, size: int) -> None:
        self.send_response(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
        self.send_header("Content-Range", f"bytes */{size}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _head(self, found: Path, *, first: int, last: int, size: int) -> None:
        suffix = found.suffix.lower()
        kind = MEDIA_TYPES.get(suffix) or mimetypes.guess_type(found.name)[0] or "application/octet-stream"
        if kind.startswith("text/") or kind in ("application/json", "image/svg+xml"):
            kind += "; charset=utf-8"
        whole = (first, last) == (0, size - 1)
        self.send_response(HTTPStatus.OK if whole else HTTPStatus.PARTIAL_CONTENT)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(last - first + 1))
        if not whole:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("Accept-Ranges", "bytes")
        # Another candidate may answer at the same address a minute later.
        self.send_header("Cache-Control", "no-cache")
        self.end_headers()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # With it, a second server could share the address of one that still listens.
    allow_reuse_port = False
    request_queue_size = 128

    def handle_error(self, _request: object, _client_address: object) -> None:
        sys.stderr.write(f"A request failed: {sys.exc_info()[1]!r}\n")


def main() -> None:
    """Serve until ended."""
    parser = argparse.ArgumentParser(description="Serve one folder over HTTP on this machine.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("port", type=int)
    parser.add_argument("--fallback", default=None)
    parser.add_argument("--index", default="index.html")
    given = parser.parse_args()
    site = _Site(root=given.folder.resolve(), index=given.index, fallback=given.fallback)
    with _Server(("127.0.0.1", given.port), partial(_Handler, site=site)) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
