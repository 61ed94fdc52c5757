"""Write down who did what, in the same transaction as the act, and find it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from people.models import AuditEntry

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
    from django.db.models import QuerySet

ONCE_IN = timedelta(hours=1)

ACTS: Mapping[str, str] = {
    "sign_in": "signed in",
    "sign_in_failed": "failed to sign in",
    "sign_in_locked": "was locked out",
    "sign_out": "signed out",
    "password": "changed the own password",
    "password_refused": "failed to change the own password",
    "password_set": "set somebody's password",
    "account_removed": "removed an account",
    "identity_linked": "linked a way to sign in",
    "identity_unlinked": "unlinked a way to sign in",
    "token_made": "made a token",
    "token_first_used": "used a token for the first time",
    "token_revoked": "revoked a token",
    "roles": "changed roles",
    "see": "saw work of somebody else",
    "log_read": "read the log of the site",
    "reveal": "revealed what blindness hides",
    "export": "exported",
    "import": "imported",
    "backup": "backed the site up",
    "restore": "restored the site from a backup",
    "launch": "launched a run",
    "cancel": "cancelled a run",
    "retry": "continued a run",
    "campaign_draft": "drafted a campaign",
    "campaign_edit": "edited a campaign",
    "guideline": "changed the guideline",
    "calibration": "set the calibration",
    "open": "opened a campaign",
    "close": "closed a campaign",
    "reopen": "reopened",
    "assign": "gave a set to somebody",
    "release": "released a set",
    "take_back": "gave a set back",
    "ask_again": "asked for a second look",
    "submit": "submitted a set",
    "adjudicate": "settled a disagreement",
}
"""Everything that is written down, with its words on the page of the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which entries somebody asks for; what is empty does not narrow."""

    person: str = ""
    act: str = ""
    subject: str = ""
    since: date | None = None
    until: date | None = None


def note(user: User | AnonymousUser | None, act: str, subject: str, **details: Any) -> AuditEntry:
    """Add an entry: `note(request.user, "reveal", "campaign:3", reason="...")`."""
    known = user if user is not None and user.is_authenticated else None
    return AuditEntry.objects.create(
        user=known, username=known.get_username() if known else "", act=act, subject=subject, details=details
    )


def note_once(user: User | AnonymousUser | None, act: str, subject: str, **details: Any) -> AuditEntry | None:
    """Add an entry unless the same was written down within the last hour; None where it was.

    For what happens again and again, such as looking at a page: that it happened is what counts.
    """
    known = user if user is not None and user.is_authenticated else None
    lately = AuditEntry.objects.filter(
        act=act,
        subject=subject,
        username=known.get_username() if known else "",
        at__gt=timezone.now() - ONCE_IN,
    )
    if any(entry == details for entry in lately.values_list("details", flat=True)[:50]):
        return None
    return note(user, act, subject, **details)


def entries(wanted: Wanted) -> QuerySet[AuditEntry]:
    """Return the entries that somebody asks for, newest first."""
    found = AuditEntry.objects.order_by("-pk")
    if wanted.person:
        found = found.filter(username=wanted.person)
    if wanted.act:
        found = found.filter(act=wanted.act)
    if wanted.subject:
        found = found.filter(subject=wanted.subject)
    if wanted.since:
        found = found.filter(at__gte=_midnight(wanted.since))
    if wanted.until:
        found = found.filter(at__lt=_midnight(wanted.until + timedelta(days=1)))
    return found


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
