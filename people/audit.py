"""Write down who did what, in the same transaction as the act."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from people.models import AuditEntry

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


def note(user: User | AnonymousUser | None, act: str, subject: str, **details: Any) -> AuditEntry:
    """Add an entry: `note(request.user, "reveal", "campaign:3", reason="...")`."""
    known = user if user is not None and user.is_authenticated else None
    return AuditEntry.objects.create(
        user=known, username=known.get_username() if known else "", act=act, subject=subject, details=details
    )
