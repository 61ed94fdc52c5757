"""Go to the provider and come back; there is no page of its own in between."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.internal import statekit
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_safe
from requests import RequestException

from people.linking import PROVIDER, is_asked_by
from people.single_sign_on.identity import CheckedIdentity, ProviderBroken
from people.single_sign_on.refusals import refused

if TYPE_CHECKING:
    from typing import Any


@login_not_required
@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """Send to the provider, with a state, a nonce and a code challenge that only this session knows.

    With `link` (made by the account page for this person) the identity is added to the account that is
    signed in; without it, it signs in.
    """
    if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
        return redirect("sign_in")
    wants_link = "link" in request.GET
    if wants_link and not is_asked_by(request.user, request.GET["link"]):
        return redirect("people:account")
    following = reverse("people:account") if wants_link else request.GET.get("next", "")
    if not url_has_allowed_host_and_scheme(
        following, {request.get_host()}, require_https=request.is_secure()
    ):
        following = resolve_url(settings.LOGIN_REDIRECT_URL)
    nonce = secrets.token_urlsafe(32)
    try:
        provider = get_adapter().get_provider(request, provider=PROVIDER)
        CheckedIdentity(request, PROVIDER, nonce=nonce).require_sound()
        answer: HttpResponse = provider.redirect(
            request,
            process="connect" if wants_link else "login",
            next_url=following,
            auth_params={"nonce": nonce},
            nonce=nonce,
        )
    except (RequestException, ProviderBroken, KeyError, ValueError) as problem:
        return refused(
            request,
            f"{settings.OIDC_NAME} cannot be reached, or answers in a way that cannot be used. Try again in a "
            "moment, or tell an administrator of this site.",
            reason=repr(problem),
            status=502,
        )
    return answer


@login_not_required
@require_safe
def back(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Check what the provider says, and sign in or link; every refusal is one sentence."""
    if provider_id != PROVIDER:
        raise Http404("There is no such provider.")
    stashed: Any = statekit.get_states(request).get(request.GET.get("state", ""))
    nonce = stashed[0].get("nonce", "") if stashed else ""
    view = OAuth2CallbackView.adapter_view(CheckedIdentity(request, PROVIDER, nonce=nonce))
    try:
        answer: HttpResponse = view(request)
    except ImmediateHttpResponse as immediate:
        answer = immediate.response
    except (KeyError, ValueError, TypeError) as problem:
        # Whatever the provider left out or wrote in another shape than the standard says.
        return refused(request, f"What {settings.OIDC_NAME} answered cannot be used.", reason=repr(problem))
    return answer
