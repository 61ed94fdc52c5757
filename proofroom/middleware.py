"""What every request passes: its id, the one host of the site, and writes from its own pages only."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

type Answer = Callable[[HttpRequest], HttpResponse]

DEVICES = ", ".join(
    f"{name}=()"
    for name in (
        *("accelerometer", "camera", "geolocation", "gyroscope", "hid", "magnetometer", "microphone", "midi"),
        *("payment", "publickey-credentials-get", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking"),
    )
)
"""What no page of the site asks for, nor a preview inside one; an annotator's screenshot needs the screen."""

SAFE_METHODS = ("GET", "HEAD", "OPTIONS", "TRACE")
IN_CLEAR = (
    "This came over plain http, so whoever was between could read it: use https, and revoke a token sent so. "
    "Where it did come over https, the web server in front must pass X-Forwarded-Proto."
)
LOCAL = re.compile(r"^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$")


def request_id(answer: Answer) -> Answer:
    """Name each request, so that an error page and a log line can be laid beside each other."""

    def middleware(request: HttpRequest) -> HttpResponse:
        request.request_id = secrets.token_hex(6)  # type: ignore[attr-defined]
        response = answer(request)
        response["X-Request-Id"] = request.request_id  # type: ignore[attr-defined]
        return response

    return middleware


def site_host(answer: Answer) -> Answer:
    """Answer under the public address; elsewhere say how to reach it.

    A sign-in form under another plain-http host could not work: browsers refuse its cookies.
    The API answers on this machine's loopback names too, because programs cannot resolve
    *.localhost; it still needs a session of the site there.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        host = request.META.get("HTTP_HOST", "")
        is_api = request.path.startswith("/api/")
        if is_api and LOCAL.match(host):
            return answer(request)
        if host.lower() == settings.SITE_HOST:
            if is_api and settings.PUBLIC_URL.startswith("https:") and not request.is_secure():
                return JsonResponse({"detail": IN_CLEAR}, status=403)
            return answer(request)
        if request.path.startswith("/api/"):
            return JsonResponse(
                {"detail": f"This site answers under {settings.PUBLIC_URL} only."}, status=421
            )
        context = {"public_url": settings.PUBLIC_URL, "host": host, "path": request.path}
        return render(request, "wrong_host.html", context, status=421)

    return middleware


def own_pages_only(answer: Answer) -> Answer:
    """Answer nothing that another origin's page asks for itself; only people may come from there.

    A preview's page is "same site", so its requests carry the visitor's session. It could not read
    the answers, but it could keep the browser's few connections to this host busy with them.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        relation = request.headers.get("Sec-Fetch-Site", "same-origin")
        is_visit = request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"
        if relation in ("same-origin", "none") or is_visit:
            return answer(request)
        return HttpResponse(
            "This request came from another site's page and was refused.",
            status=403,
            content_type="text/plain; charset=utf-8",
        )

    return middleware


def same_origin_writes(answer: Answer) -> Answer:
    """Refuse unsafe requests that another origin's page sent, previews included.

    Previews are "same site" to a browser, so SameSite cookies alone would let their pages post
    with the visitor's session. Browsers state the origin's relation in Sec-Fetch-Site; those that
    do not send it are still held by the CSRF token.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        relation = request.headers.get("Sec-Fetch-Site", "same-origin")
        if request.method in SAFE_METHODS or relation in ("same-origin", "none"):
            return answer(request)
        sentence = "This request came from another site's page and was refused. Nothing was changed."
        if request.path.startswith("/api/"):
            return JsonResponse({"detail": sentence}, status=403)
        return HttpResponse(
            sentence,
            status=403,
            content_type="text/plain; charset=utf-8",
        )

    return middleware


class SignedInOnly(LoginRequiredMiddleware):
    """Every page needs a sign-in unless it says otherwise; the API says so itself, as data."""

    def process_view(
        self,
        request: HttpRequest,
        view_func: Callable[..., HttpResponseBase],
        view_args: Any,
        view_kwargs: Any,
    ) -> HttpResponseBase | None:
        """Let the API answer 401 where a page would send to the sign-in form."""
        if request.path.startswith("/api/"):
            return None
        return super().process_view(request, view_func, view_args, view_kwargs)


def kept_apart(answer: Answer) -> Answer:
    """Keep what a page could be used for from other origins: its event loop, its bytes, its devices."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = answer(request)
        # A busy preview would stop this page's timers if they shared an event loop.
        response["Origin-Agent-Cluster"] = "?1"
        response["Cross-Origin-Resource-Policy"] = "same-origin"
        response["Permissions-Policy"] = DEVICES
        return response

    return middleware
