"""What time it is for claims: the database's, so that the clock of no worker decides who has a trial."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.db.models import Q
from django.utils import timezone

type Clock = Callable[[], datetime]

LONGEST_WAIT = timedelta(minutes=1)
"""No trial is put off for longer; what says so was written by a clock that has been set back since."""


def database_now() -> datetime:
    """Return the time that all workers share; SQLite has none but this machine's."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now


def is_free(now: datetime) -> Q:
    """Select trials that nobody holds: unclaimed, run out, or claimed for longer than anybody claims.

    A living holder mends such a claim within a second, so what is left belongs to one that died before
    the clock was set back; it would be stranded as long as the clock had gone wrong.
    """
    too_far = now + timedelta(seconds=2 * settings.LEASE_SECONDS) + LONGEST_WAIT
    return Q(claimed_until=None) | Q(claimed_until__lt=now) | Q(claimed_until__gt=too_far)


def is_ready(now: datetime) -> Q:
    """Select trials that are not put off."""
    return Q(not_before=None) | Q(not_before__lte=now) | Q(not_before__gt=now + LONGEST_WAIT)


def is_due(until: datetime | None, now: datetime, lease: timedelta) -> bool:
    """Whether a claim must be written anew: a third of it is gone, or a clock was set either way."""
    return until is None or not lease * 2 / 3 < until - now <= lease
