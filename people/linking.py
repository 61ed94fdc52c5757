"""How an identity of a provider belongs to an account: by the provider's own number, never by an e-mail address."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import Group
from django.core import signing
from django.db import transaction

from people import audit
from people.roles import SiteRole, roles_now

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

PROVIDER = "oidc"
LINK_WITHIN = 3600
"""Seconds for which a link of the account page may be followed."""
_LONGEST_IDENTITY = 191
_IDENTITY: tuple[str, str] = ("socialaccount", "SocialAccount")
_SALT = "people.linking"
_BY_CLAIM = (SiteRole.LEAD, SiteRole.ANNOTATOR, SiteRole.READER)


def identity_of(issuer: str, subject: str) -> str:
    """Return what stands for a person at an issuer.

    The issuer is part of it: numbers of one provider mean other people at the next.
    """
    plain = f"{hashlib.sha256(issuer.encode()).hexdigest()[:16]}:{subject}"
    if len(plain) <= _LONGEST_IDENTITY:
        return plain
    return hashlib.sha256(plain.encode()).hexdigest()


def question_for(user: User) -> str:
    """Return a signed text with which this person, and nobody else, may ask to link an identity."""
    return signing.dumps(user.pk, salt=_SALT)


def is_asked_by(user: User | AnonymousUser, question: str) -> bool:
    """Tell whether a text was made for the person who is signed in, within the last hour."""
    try:
        asked: object = signing.loads(question, salt=_SALT, max_age=LINK_WITHIN)
    except signing.BadSignature:
        return False
    return user.is_authenticated and asked == user.pk


def identities(user: User) -> list[Any]:
    """Return the identities that are linked to an account; none where no provider is configured."""
    if not settings.OIDC_ISSUER:
        return []
    # The library is imported only where it is configured, so the model is asked for by its name.
    identity: Any = apps.get_model(*_IDENTITY)
    rows = identity.objects.filter(user=user, provider=PROVIDER)
    return list(rows.order_by("pk"))


def unlink(user: User, identity: Any) -> bool:
    """Take an identity from an account; refused (False) where nobody could sign in to it then."""
    with transaction.atomic():
        if not (settings.LOCAL_PASSWORDS and user.has_usable_password()) and len(identities(user)) < 2:
            return False
        audit.note(user, "identity_unlinked", f"user:{user.pk}", identity=identity.uid)
        identity.delete()
    return True


def roles_said(claims: Mapping[str, Any]) -> frozenset[SiteRole] | None:
    """Return the roles that the provider gives; None where roles are given on this site."""
    if not settings.OIDC_ROLES:
        return None
    values = claims.get(settings.OIDC_ROLES_CLAIM, [])
    listed = values if isinstance(values, list) else [values]
    said = {value for value in listed if isinstance(value, str)}
    return frozenset(SiteRole(role) for value, role in settings.OIDC_ROLES.items() if value in said)


def give_roles(user: User, roles: Iterable[SiteRole]) -> None:
    """Give exactly these roles and write a change down; who is administrator is never changed."""
    with transaction.atomic():
        before = roles_now(user.pk)
        wanted = [Group.objects.get_or_create(name=role.value)[0] for role in roles]
        user.groups.remove(*Group.objects.filter(name__in=_BY_CLAIM))
        user.groups.add(*wanted)
        after = roles_now(user.pk)
        if before != after:
            audit.note(
                None,
                "roles",
                f"user:{user.pk}",
                username=user.get_username(),
                before=sorted(before),
                after=sorted(after),
                by="single sign-on",
            )


def is_of_allowed_domain(claims: Mapping[str, Any]) -> bool:
    """Tell whether the provider vouches for an e-mail address of an allowed domain; any will do without a list."""
    if not settings.OIDC_DOMAINS:
        return True
    domain = str(claims.get("email", "")).rpartition("@")[2].lower()
    return claims.get("email_verified") in (True, "true") and domain in settings.OIDC_DOMAINS
