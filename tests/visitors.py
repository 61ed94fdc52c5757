"""Somebody signed in, as Django's own client."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client


def visitor(user: User) -> Client:
    """A client that comes under the site's own host name with a session of `user`."""
    client = Client(headers={"host": settings.SITE_HOST})
    client.force_login(user)
    return client
