"""Scenes of the own account and the log of the site."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from people import audit, tokens
from people.models import ApiToken
from people.tokens import TokenScope
from tests.browser.person import NAME, PASSWORD


def some_tokens() -> dict[str, Any]:
    """A token in use with every scope, and one that has expired."""
    person = User.objects.get(username=NAME)
    now = timezone.now()
    tokens.make(
        person, name="nightly results to the group's page", scopes=tuple(TokenScope), days=90, now=now
    )
    tokens.make(person, name="<b>old</b>", scopes=[TokenScope.READ], days=7, now=now - timedelta(days=8))
    ApiToken.objects.filter(name__startswith="nightly").update(last_used_at=now)
    return {}


def administrator() -> dict[str, Any]:
    """An administrator, and a log with a reveal and an export in it."""
    boss, _ = User.objects.get_or_create(username="boss", is_staff=True, is_superuser=True)
    boss.set_password(PASSWORD)
    boss.save()
    audit.note(boss, "reveal", "assignment:7", campaign=3, reason="I had to see it")
    audit.note(boss, "export", "campaign:3", kind="csv")
    audit.note(None, "sign_in_failed", "user:unknown", address="192.0.2.1")
    return {"name": "boss"}


def clear() -> dict[str, Any]:
    """Take all tokens away."""
    ApiToken.objects.all().delete()
    return {}
