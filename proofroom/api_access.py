"""Who may use the API: a person's session, or a token in that person's name with the scope that is needed."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja.security import HttpBearer, SessionAuth

from people import tokens
from people.roles import require_reader
from people.tokens import TokenScope

MANAGING = frozenset({"assignments/<assignment_id>/reopen"})
"""Operations that lead others: the router's own scope is not enough."""
_READING = ("GET", "HEAD", "OPTIONS")


class TokenAuth(HttpBearer):
    """A token in the header `Authorization: Bearer ...`; where one is sent, no session is looked at.

    A browser never sends one by itself, so such a request needs no CSRF token.
    """

    def __init__(self, *, writes: TokenScope, for_readers: bool = False) -> None:
        super().__init__()
        self._writes = writes
        self._for_readers = for_readers

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        """Return the token's person; raises TokenRefused, and RoleMissing for an annotator where readers are meant."""
        scope = self._writes
        if request.method in _READING:
            scope = TokenScope.READ
        elif _operation(request) in MANAGING:
            scope = TokenScope.MANAGE
        user = tokens.person_of(token, scope=scope, now=timezone.now())
        # From here on everything asks what this person may: a token never grants more.
        request.user = user
        if self._for_readers:
            require_reader(user)
        return user


class ReaderAuth(SessionAuth):
    """The session of somebody who may read runs; annotators alone get a sentence."""

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:
        """Return the signed-in person; raises RoleMissing for an annotator alone."""
        user = super().authenticate(request, key)
        if user is not None:
            require_reader(user)
        return user


def _operation(request: HttpRequest) -> str:
    match = request.resolver_match
    return "" if match is None else match.route.removeprefix("api/v1/")
