"""Keep what a page said on its console and asked of the network, bounded and counted where cut."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import BrowserContext, ConsoleMessage, Page, Request, Response, WebError, WebSocket

from runs.adapters.judges.scripted.fence import Fence
from runs.adapters.judges.scripted.readings import cleaned

MOST_ENTRIES = 500
MOST_EVENTS = 3_000
LONGEST_ENTRY = 2_000
LONGEST_URL = 1_000
_FENCED = ("net::ERR_NAME_NOT_RESOLVED", "net::ERR_BLOCKED_BY_CLIENT")


@dataclass(slots=True, kw_only=True)
class BoundedLog:
    """Entries in order; what comes after the limit is only counted."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    cut: int = 0

    def add(self, **entry: Any) -> dict[str, Any]:
        """Keep an entry if there is room, and return it either way."""
        if len(self.entries) < MOST_ENTRIES:
            self.entries.append(entry)
        else:
            self.cut += 1
        return entry

    @property
    def total(self) -> int:
        """How many entries came, the cut ones included."""
        return len(self.entries) + self.cut

    @property
    def is_flooded(self) -> bool:
        """Whether so much came that the page is stopped: its flood would drown every other page."""
        return self.total >= MOST_EVENTS

    def as_json(self) -> dict[str, Any]:
        """Return the log as it is stored."""
        return {"entries": self.entries, "cut": self.cut, "flooded": self.is_flooded}


class PageLogs:
    """Listens to all pages of a context from one moment to another."""

    def __init__(self, context: BrowserContext, fence: Fence, *, on_flood: Callable[[str], None]) -> None:
        """Listen from now on; `on_flood` is told, once, what a page does without end."""
        self.console = BoundedLog()
        self.network = BoundedLog()
        self.blocked = 0
        self.errors: list[str] = []
        self._context = context
        self._fence = fence
        self._on_flood = on_flood
        self._began = time.monotonic()
        self._asked: dict[Request, dict[str, Any]] = {}
        self._hooks: Mapping[str, Any] = {
            "console": self._on_console,
            "weberror": self._on_error,
            "request": self._on_request,
            "response": self._on_response,
            "requestfailed": self._on_failure,
        }
        for event, hook in self._hooks.items():
            context.on(event, hook)  # type: ignore[call-overload]  # a table cannot keep the overloads

    @property
    def awaits_answers(self) -> bool:
        """Whether a kept request has neither an answer nor a failure yet."""
        return any(not entry["status"] and not entry["failure"] for entry in self._asked.values())

    def listen_to(self, page: Page) -> None:
        """Listen to what only a page itself tells."""
        page.on("websocket", self._on_socket)

    def close(self) -> None:
        """Stop listening."""
        for event, hook in self._hooks.items():
            self._context.remove_listener(event, hook)
        self._hooks = {}

    def network_json(self) -> dict[str, Any]:
        """Return the network log with the number of requests that the fence held back."""
        return {"blocked": self.blocked, **self.network.as_json()}

    def _milliseconds(self) -> int:
        return round((time.monotonic() - self._began) * 1000)

    def _on_console(self, message: ConsoleMessage) -> None:
        text = cleaned(message.text[:LONGEST_ENTRY])
        place = message.location
        url = str(place.get("url", ""))[:LONGEST_URL]
        self.console.add(ms=self._milliseconds(), type=message.type, text=text, url=url)
        # What the fence holds back would have worked outside of it: no error of the candidate.
        is_fenced = any(sign in text for sign in _FENCED) or (url and not self._fence.is_own(url))
        if message.type == "error" and not is_fenced:
            self._keep_error(text)
        self._stop_at_flood(self.console, "wrote to its console")

    def _on_error(self, error: WebError) -> None:
        text = cleaned(str(error.error)[:LONGEST_ENTRY])
        self.console.add(ms=self._milliseconds(), type="uncaught", text=text, url="")
        self._keep_error(text)
        self._stop_at_flood(self.console, "wrote to its console")

    def _keep_error(self, text: str) -> None:
        if len(self.errors) < MOST_ENTRIES:
            self.errors.append(text)

    def _on_request(self, request: Request) -> None:
        url = request.url
        if url.startswith(("data:", "blob:")):
            return
        entry = self._entry(request.method, url, request.resource_type)
        if len(self._asked) < MOST_ENTRIES:
            self._asked[request] = entry
        self._stop_at_flood(self.network, "sent requests")

    def _stop_at_flood(self, log: BoundedLog, doing: str) -> None:
        if log.is_flooded and self._hooks:
            self.close()
            self._on_flood(f"{doing} without end ({MOST_EVENTS:,} times and more)")

    def _on_response(self, response: Response) -> None:
        entry = self._asked.get(response.request)
        if entry is not None:
            entry["status"] = response.status
            entry["answered_ms"] = self._milliseconds()

    def _on_failure(self, request: Request) -> None:
        entry = self._asked.get(request)
        if entry is not None:
            entry["failure"] = cleaned(request.failure or "failed")[:200]

    def _on_socket(self, socket: WebSocket) -> None:
        entry = self._entry("GET", socket.url, "websocket")
        socket.on("socketerror", lambda message: entry.update(failure=cleaned(str(message))[:200]))

    def _entry(self, method: str, url: str, kind: str) -> dict[str, Any]:
        blocked = not self._fence.is_own(url)
        self.blocked += blocked
        return self.network.add(
            ms=self._milliseconds(),
            method=method,
            url=cleaned(url[:LONGEST_URL]),
            type=kind,
            status=None,
            failure="",
            blocked=blocked,
        )
