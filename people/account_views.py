"""The page of the own account: how one signs in, and the tokens of one's programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from people import linking, tokens
from people.models import ApiToken
from people.roles import roles_of
from people.tokens import LIFETIMES, NewToken, TokenProblem, TokenScope

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Show the account; a posted form makes a token, whose text is in this one answer and nowhere else."""
    if request.method != "POST":
        return _page(request)
    scopes = [scope for scope in TokenScope if scope.value in request.POST.getlist("scope")]
    days = request.POST.get("days", "")
    try:
        made = tokens.make(
            _person(request),
            name=request.POST.get("name", ""),
            scopes=scopes,
            days=int(days) if days.isdecimal() and len(days) < 6 else 0,
            now=timezone.now(),
        )
    except TokenProblem as problem:
        return _page(request, problem=str(problem))
    return _page(request, made=made)


@require_POST
def revoke_token(request: HttpRequest, token_id: int) -> HttpResponse:
    """End one of the own tokens at once."""
    token = get_object_or_404(ApiToken.objects.select_related("user"), pk=token_id, user=_person(request))
    tokens.revoke(token, by=_person(request), now=timezone.now())
    messages.info(request, f"The token {token.name} opens nothing any more.")
    return redirect("people:account")


@require_POST
def unlink_identity(request: HttpRequest, identity_id: int) -> HttpResponse:
    """Take an identity of the provider from the own account."""
    person = _person(request)
    found = [identity for identity in linking.identities(person) if identity.pk == identity_id]
    if not found:
        raise Http404("There is no such identity among yours.")
    if linking.unlink(person, found[0]):
        messages.info(request, f"You cannot sign in through {settings.OIDC_NAME} any more.")
    else:
        messages.error(request, "This is your only way to sign in, so it stays.")
    return redirect("people:account")


def _page(request: HttpRequest, *, made: NewToken | None = None, problem: str = "") -> HttpResponse:
    person = _person(request)
    now = timezone.now()
    chosen = request.POST.getlist("scope") if problem else [TokenScope.READ.value]
    context: dict[str, Any] = {
        "area": "account",
        "roles": sorted(role.value for role in roles_of(person)),
        "may_change_password": settings.LOCAL_PASSWORDS and person.has_usable_password(),
        "provider_name": settings.OIDC_NAME,
        "identities": linking.identities(person),
        "link_address": _link_address(person) if settings.OIDC_ISSUER else "",
        "tokens": [
            {
                "token": token,
                "scopes": [TokenScope(scope).words for scope in token.scopes],
                "is_over": token.expires_at <= now,
            }
            for token in ApiToken.objects.filter(user=person, revoked_at=None)
        ],
        "made": made,
        "problem": problem,
        "name": request.POST.get("name", "") if problem else "",
        "scopes": [
            {"value": scope.value, "words": scope.words, "is_chosen": scope.value in chosen}
            for scope in tokens.scopes_for(person)
        ],
        "lifetimes": [
            {"days": days, "is_chosen": str(days) == (request.POST.get("days", "90") if problem else "90")}
            for days in LIFETIMES
        ],
        "longest_name": tokens.LONGEST_NAME,
        "api_address": f"{settings.PUBLIC_URL}/api/v1/me",
    }
    return render(request, "people/account.html", context, status=422 if problem else 200)


def _link_address(person: User) -> str:
    return f"{reverse('single_sign_on')}?{urlencode({'link': linking.question_for(person)})}"


def _person(request: HttpRequest) -> User:
    # The middleware lets nobody else in.
    assert request.user.is_authenticated
    return request.user
