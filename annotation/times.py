"""A time as files, messages and the interface of annotation say it."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(at: datetime | None) -> str | None:
    """Return a time as RFC 3339 in UTC (2026-03-01T12:00:00Z), None where there is none."""
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")
