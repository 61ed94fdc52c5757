"""The four roles of the site, and which of them a person has.

A role is a Django group of the same name; an administrator is a superuser. Whoever may use the admin
tables counts as lead. A person without any of these reads, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate

from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase


class SiteRole(StrEnum):
    """What a person may do on this site; the values are the names of groups."""

    ADMIN = "admin"
    LEAD = "lead"
    ANNOTATOR = "annotator"
    READER = "reader"


class Refused(PermissionDenied):
    """Raised with a sentence for the person, and where there is one the address that leads on."""

    def __init__(self, sentence: str, *, way_on: str = "", way_on_words: str = "") -> None:
        super().__init__(sentence)
        self.way_on = way_on
        self.way_on_words = way_on_words


class RoleMissing(Refused):
    """Raised with a sentence that says which role an act needs."""


ASSIGNMENTS = "/annotation/"
"""Where annotators find their work: a page of the layer above, so by its address."""

_GROUPS = (SiteRole.LEAD, SiteRole.ANNOTATOR, SiteRole.READER)


def roles_of(user: User | AnonymousUser) -> frozenset[SiteRole]:
    """Return a person's roles; empty for somebody who is not signed in or not active."""
    if not user.is_authenticated or not user.is_active:
        return frozenset()
    # Asked many times while one page is made, so the answer stays with the request's own object.
    known: frozenset[SiteRole] | None = user.__dict__.get("_site_roles")
    if known is None:
        known = user.__dict__["_site_roles"] = _roles(user)
    return known


def roles_now(user_id: int) -> frozenset[SiteRole]:
    """Return a person's roles as the database has them at this moment; empty for nobody."""
    person = get_user_model().objects.filter(pk=user_id, is_active=True).first()
    return _roles(person) if person is not None else frozenset()


def is_lead(user: User | AnonymousUser) -> bool:
    """Tell whether a person may launch runs and lead campaigns."""
    return bool(roles_of(user) & {SiteRole.ADMIN, SiteRole.LEAD})


def may_read_runs(user: User | AnonymousUser) -> bool:
    """Tell whether a person may see runs and their numbers at all: annotators alone may not."""
    return bool(roles_of(user) & {SiteRole.ADMIN, SiteRole.LEAD, SiteRole.READER})


def require_lead(user: User | AnonymousUser) -> None:
    """Raise RoleMissing unless the person is a lead or an administrator."""
    if not is_lead(user):
        raise RoleMissing("Only a lead may do this. Ask a lead or an administrator of this site.")


def require_admin(user: User | AnonymousUser) -> None:
    """Raise RoleMissing unless the person is an administrator."""
    if SiteRole.ADMIN not in roles_of(user):
        raise RoleMissing("Only an administrator of this site may see this.")


def require_reader(user: User | AnonymousUser) -> None:
    """Raise RoleMissing for annotators alone: their work is on the page of assignments."""
    if not may_read_runs(user):
        raise RoleMissing(
            "Runs, their results and the rubrics are not for annotators, so that every mark is given unseen. "
            "Your work is on the page of your assignments.",
            way_on=ASSIGNMENTS,
            way_on_words="Open your assignments",
        )


def leads_only[**P, R: HttpResponseBase](
    view: Callable[Concatenate[HttpRequest, P], R],
) -> Callable[Concatenate[HttpRequest, P], R]:
    """Answer 403 to everybody who is not a lead."""

    @wraps(view)
    def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> R:
        require_lead(request.user)
        return view(request, *args, **kwargs)

    return checked


def admins_only[**P, R: HttpResponseBase](
    view: Callable[Concatenate[HttpRequest, P], R],
) -> Callable[Concatenate[HttpRequest, P], R]:
    """Answer 403 to everybody who is not an administrator."""

    @wraps(view)
    def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> R:
        require_admin(request.user)
        return view(request, *args, **kwargs)

    return checked


def readers_only[**P, R: HttpResponseBase](
    view: Callable[Concatenate[HttpRequest, P], R],
) -> Callable[Concatenate[HttpRequest, P], R]:
    """Answer 403 to annotators alone, and say where their work is."""

    @wraps(view)
    def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> R:
        require_reader(request.user)
        return view(request, *args, **kwargs)

    return checked


def _roles(user: Any) -> frozenset[SiteRole]:
    if user.is_superuser:
        return frozenset({SiteRole.ADMIN})
    names = set(user.groups.filter(name__in=_GROUPS).values_list("name", flat=True))
    roles = {SiteRole(name) for name in names}
    if user.is_staff:
        roles.add(SiteRole.LEAD)
    return frozenset(roles or {SiteRole.READER})
