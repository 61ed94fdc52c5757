"""Tokens of programs: made once and shown once, kept as digests, and dead the moment their person is."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from django.db import transaction

from people import audit
from people.models import ApiToken
from people.roles import SiteRole, roles_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

BEGINS = "proofroom_"
"""So that a scanner of leaked secrets, and a person, can tell what it is."""
LIFETIMES = (7, 30, 90, 365)
"""Days that a token may live."""
MOST_OF_A_PERSON = 50
LONGEST_NAME = 80
_USE_IS_NOTED_EVERY = timedelta(minutes=1)


class TokenScope(StrEnum):
    """What a token may be used for; its person's roles hold besides."""

    READ = "read"
    ANNOTATE = "annotate"
    LAUNCH = "launch"
    MANAGE = "manage"

    @property
    def words(self) -> str:
        """What the scope is called on the page of the account."""
        return _WORDS[self]


_WORDS = {
    TokenScope.READ: "Read what you may read",
    TokenScope.ANNOTATE: "Take, mark and submit your own sets",
    TokenScope.LAUNCH: "Launch, cancel and retry runs",
    TokenScope.MANAGE: "Lead: give submitted sets back",
}
_FOR_LEADS = frozenset({TokenScope.LAUNCH, TokenScope.MANAGE})


class TokenProblem(ValueError):
    """Raised with a sentence that says why a token cannot be made, and what can."""


class TokenRefused(Exception):
    """Raised with a sentence where a token does not open what was asked for; `status` is 401 or 403."""

    def __init__(self, sentence: str, *, status: int) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token that was just made, with the text that is shown this once."""

    token: ApiToken
    text: str


def scopes_for(user: User) -> list[TokenScope]:
    """Return the scopes that are of any use to a person."""
    leads = bool(roles_of(user) & {SiteRole.ADMIN, SiteRole.LEAD})
    return [scope for scope in TokenScope if leads or scope not in _FOR_LEADS]


def make(user: User, *, name: str, scopes: Collection[TokenScope], days: int, now: datetime) -> NewToken:
    """Make a token and write it down; raises TokenProblem with one sentence."""
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise TokenProblem(f"Say what the token is for, in 1 to {LONGEST_NAME} characters.")
    if not scopes:
        raise TokenProblem("Choose at least one thing that the token may be used for.")
    if missing := sorted(set(scopes) - set(scopes_for(user))):
        raise TokenProblem(f"Only a lead can give a token {missing[0].value!r}; choose less.")
    if days not in LIFETIMES:
        raise TokenProblem(f"Choose how long the token lives: {', '.join(map(str, LIFETIMES))} days.")
    text = BEGINS + secrets.token_urlsafe(32)
    with transaction.atomic():
        if living(user, now=now).count() >= MOST_OF_A_PERSON:
            raise TokenProblem(f"You have {MOST_OF_A_PERSON} tokens, which is the most; revoke one first.")
        token = ApiToken.objects.create(
            user=user,
            name=name,
            digest=_digest(text),
            hint=text[len(BEGINS) :][:4],
            scopes=[scope.value for scope in TokenScope if scope in scopes],
            expires_at=now + timedelta(days=days),
        )
        audit.note(user, "token_made", f"token:{token.pk}", name=name, scopes=token.scopes, days=days)
    return NewToken(token=token, text=text)


def revoke(token: ApiToken, *, by: User, now: datetime) -> None:
    """End a token at once and write it down; one that has ended stays as it is."""
    with transaction.atomic():
        if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now):
            audit.note(
                by, "token_revoked", f"token:{token.pk}", name=token.name, of=token.user.get_username()
            )


def living(user: User, *, now: datetime) -> QuerySet[ApiToken]:
    """Return the tokens of a person that open something."""
    return ApiToken.objects.filter(user=user, revoked_at=None, expires_at__gt=now)


def person_of(text: str, *, scope: TokenScope, now: datetime) -> User:
    """Return the person in whose name a token speaks; raises TokenRefused.

    Looked up anew for each request: a token that was revoked, or whose person was shut off, is dead at once.
    """
    token = ApiToken.objects.select_related("user").filter(digest=_digest(text)).first()
    if token is None or token.revoked_at is not None or not token.user.is_active:
        raise TokenRefused(
            "This token is not known here, or was revoked. Make one on your account page.", status=401
        )
    if token.expires_at <= now:
        raise TokenRefused(
            f"This token expired on {token.expires_at:%Y-%m-%d}. Make a new one on your account page.",
            status=401,
        )
    if scope.value not in token.scopes:
        has = ", ".join(token.scopes)
        raise TokenRefused(
            f"This needs a token with the scope {scope.value!r}; this one has {has}.", status=403
        )
    _note_use(token, now=now)
    return token.user


def _note_use(token: ApiToken, *, now: datetime) -> None:
    if token.last_used_at is not None and now - token.last_used_at < _USE_IS_NOTED_EVERY:
        return
    with transaction.atomic():
        # Of two first requests at once, one writes it down.
        if ApiToken.objects.filter(pk=token.pk, last_used_at=None).update(last_used_at=now):
            audit.note(token.user, "token_first_used", f"token:{token.pk}", name=token.name)
        else:
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


def _digest(text: str) -> str:
    # The token is 256 random bits: nothing to be guessed, so nothing to be hashed slowly.
    return hashlib.sha256(text.encode()).hexdigest()
