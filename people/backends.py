"""Who may begin a session where local passwords are turned off."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend


class WithoutPasswords(ModelBackend):
    """Keeps sessions and permissions as usual, and takes no password."""

    def authenticate(self, request: Any, username: Any = None, password: Any = None, **kwargs: Any) -> None:
        """Nobody: people come through the provider."""
