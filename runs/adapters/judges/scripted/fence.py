"""The fence around a candidate: its browser reaches the candidate's own origin and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

HOST = "candidate.localhost"
"""The name under which the browser knows the candidate: below localhost, hence a secure context."""

_HARMLESS = ("about:", "data:", "blob:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """What one launch of the browser may reach: the port of one candidate."""

    port: int

    @property
    def origin(self) -> str:
        """The candidate's origin as the browser sees it."""
        return f"http://{HOST}:{self.port}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """Command-line arguments that close every way but one.

        Every name and address but the candidate's name with the candidate's port, IP literals too,
        resolves to nothing. A proxy of the environment would go around the resolver, and WebRTC would
        send datagrams without asking it.
        """
        rules = f"MAP {HOST}:{self.port} 127.0.0.1:{self.port}, MAP * ~NOTFOUND"
        return (
            f"--host-resolver-rules={rules}",
            "--no-proxy-server",
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
            "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        )

    @property
    def foreign(self) -> re.Pattern[str]:
        """A pattern that matches every address outside the candidate's origin."""
        own = re.escape(self.origin).replace("\\-", "-")
        return re.compile(rf"^(?!(?:{own}(?:[/?#]|$)|about:|data:|blob:))", re.IGNORECASE)

    def is_own(self, url: str) -> bool:
        """Tell whether an address may be reached."""
        if url.startswith(_HARMLESS):
            return True
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            return False
        return parts.scheme in {"http", "ws"} and parts.hostname == HOST and port == self.port
