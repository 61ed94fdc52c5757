"""Slow down who guesses passwords: by account and address together, by account alone, by address alone."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from axes.handlers.database import AxesDatabaseHandler
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Max, Sum
from django.http import QueryDict
from django.utils.crypto import salted_hmac

if TYPE_CHECKING:
    from django.http import HttpRequest

WEIGHTS = (1, 5, 10)
"""How many times the limit is allowed: one name from one address, one name from anywhere, one address.

Wider circles are wider: a stranger who knows a name cannot lock its owner out with a handful of tries, nor
does one forgetful person lock a whole laboratory behind one address.
"""

NOWHERE = "0.0.0.0"  # noqa: S104  an address that is nobody's, not one to listen on


@dataclass(frozen=True, slots=True, kw_only=True)
class Circle:
    """Failures that are counted together: how far they have filled their limit, and the newest of them."""

    filled: int
    newest: datetime | None


class Throttle(AxesDatabaseHandler):  # type: ignore[misc]
    """Counts failures in the database, so that every process of an installation knows of them."""

    def get_failures(self, request: HttpRequest, credentials: Mapping[str, Any] | None = None) -> int:
        """Return the failures of the fullest circle, in units of the narrowest one's limit."""
        return max(circle.filled for circle in self.circles(request, credentials))

    def circles(self, request: HttpRequest, credentials: Mapping[str, Any] | None) -> list[Circle]:
        """Return the three circles that this attempt belongs to."""
        found = []
        for attempts, weight in zip(self.get_user_attempts(request, credentials), WEIGHTS, strict=True):
            row = attempts.aggregate(failures=Sum("failures_since_start"), newest=Max("attempt_time"))
            found.append(Circle(filled=(row["failures"] or 0) // weight, newest=row["newest"]))
        return found

    def user_login_failed(
        self, sender: Any, credentials: Mapping[str, Any], request: HttpRequest | None = None, **more: Any
    ) -> None:
        """Count a failure, and keep nothing of the form: whatever its fields are called, passwords are typed there."""
        if request is None:
            super().user_login_failed(sender, credentials, request, **more)
            return
        asked, sent = request.GET, request.POST
        # The library copies both into its table; the view goes on with what was sent.
        request.GET = request.POST = QueryDict()
        try:
            super().user_login_failed(sender, credentials, request, **more)
        finally:
            request.GET, request.POST = asked, sent

    def user_logged_in(self, sender: Any, request: HttpRequest, user: Any, **more: Any) -> None:
        """Forget the failures of this name at this address, and no others.

        Somebody with an account of their own could otherwise clear an address between guesses.
        """
        self.clean_expired_user_attempts(request, {"username": user.get_username()})
        narrow = self.filter_user_attempts(request, {"username": user.get_username()})[0]
        narrow.delete()

    def user_logged_out(self, sender: Any, request: HttpRequest, user: Any, **more: Any) -> None:
        """Nothing: the log of the site has it."""


def counted_name(request: HttpRequest, credentials: Mapping[str, Any] | None = None) -> str | None:
    """Return under which name a failure is counted: an account's own, or a digest of what is nobody's name.

    A name that nobody has may be a password in the wrong field, so it is not kept.
    """
    name = (credentials or {}).get("username")
    if name is None:
        return None
    typed = str(name)
    if "\0" not in typed and User.objects.filter(username=typed).exists():
        return typed
    return f"?{salted_hmac('people.throttling', typed, algorithm='sha256').hexdigest()[:32]}"


def locked_until(request: HttpRequest, username: str) -> datetime | None:
    """Return until when this name cannot be signed in from here; None where it can."""
    if not getattr(request, "axes_locked_out", False):
        return None
    # The page says it: the library's middleware, which knows no pages, has nothing left to answer.
    request.axes_locked_out = False  # type: ignore[attr-defined]
    circles = Throttle().circles(request, {"username": username})
    full = [
        circle.newest + settings.AXES_COOLOFF_TIME
        for circle in circles
        if circle.newest is not None and circle.filled >= settings.AXES_FAILURE_LIMIT
    ]
    return max(full, default=None)


def client_address(request: HttpRequest) -> str:
    """Return the address that a request came from.

    A header is believed only where the installation names one; of several addresses the last is what our own
    web server wrote, and those before it are whatever the client sent. Of an IPv6 address it is the network:
    whoever has one address there has them all.
    """
    header = settings.CLIENT_ADDRESS_HEADER
    given = request.META.get(header, "").rpartition(",")[2].strip() if header else ""
    for text in (given, request.META.get("REMOTE_ADDR", "")):
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            continue
        if isinstance(address, ipaddress.IPv4Address):
            return str(address)
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False).network_address)
    return NOWHERE
