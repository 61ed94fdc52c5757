"""What a visitor sees at a preview's address when the application itself cannot answer."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

_STYLE = """
:root { color-scheme: light dark; --page: light-dark(#f7f6f2, #131417); --ink: light-dark(#1d1d1b, #e8e6e1);
  --quiet: light-dark(#5d5b55, #a5a29b); --line: light-dark(#e3e1da, #2e3238); --well: light-dark(#f1f0eb, #16181b); }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--page); color: var(--ink);
  font: 16px/1.5 -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, Inter, "Noto Sans", Arial, sans-serif; }
main { max-width: 40rem; padding: 2rem 1.5rem; }
h1 { font-size: 1.375rem; line-height: 1.3; margin: 0 0 .75rem; }
p { margin: 0 0 .75rem; color: var(--quiet); }
pre { max-height: 40vh; overflow: auto; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--well); font-size: .8125rem; white-space: pre-wrap; overflow-wrap: anywhere; }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of ours: its status, its words, and whether the browser should ask again."""

    status: int
    title: str
    sentences: tuple[str, ...]
    log: str = ""
    again_after: int | None = None

    def body(self) -> bytes:
        """Return the page as HTML; everything that comes from outside is escaped."""
        paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)
        log = f'<pre tabindex="0" aria-label="Log">{escape(self.log)}</pre>' if self.log else ""
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{_STYLE}</style></head>"
            f'<body><main role="status"><h1>{escape(self.title)}</h1>{paragraphs}{log}</main></body></html>'
        ).encode()

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return headers that keep the page from being stored, indexed or scripted."""
        headers = [
            (b"content-type", b"text/html; charset=utf-8"),
            (b"content-length", str(len(self.body())).encode()),
            (b"cache-control", b"no-store"),
            (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'"),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"origin-agent-cluster", b"?1"),
        ]
        if self.again_after is not None:
            headers.append((b"refresh", str(self.again_after).encode()))
        return headers


def ended() -> Page:
    """The preview is unknown, stopped or expired."""
    return Page(
        status=404,
        title="This preview has ended",
        sentences=(
            "Previews run only while somebody uses them.",
            "Go back to the page you came from and start the preview again.",
        ),
    )


def starting() -> Page:
    """The application is being installed, built or started."""
    return Page(
        status=503,
        title="This preview is starting",
        sentences=("The application is being built and started. This page looks again by itself.",),
        again_after=2,
    )


def waiting(position: int) -> Page:
    """Other previews are before this one."""
    return Page(
        status=503,
        title="This preview is waiting for its turn",
        sentences=(
            f"It is number {position} in the queue; this page looks again by itself.",
            "Stop another preview of yours to make room.",
        ),
        again_after=5,
    )


def failed(reason: str, log: str) -> Page:
    """The application could not be started, or ended."""
    return Page(
        status=502,
        title="The application does not run",
        sentences=(reason, "Go back to the page you came from to start the preview again."),
        log=log[-20_000:],
    )


def not_answering() -> Page:
    """The application runs but gave no answer to this request."""
    return Page(
        status=502,
        title="The application did not answer",
        sentences=(
            "It is running, but it closed the connection or took too long.",
            "Load the page again; if it stays so, that is the application's own behaviour.",
        ),
    )
