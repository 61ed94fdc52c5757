"""A site in a thread, a real Chromium, and pages that are signed in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Browser, ConsoleMessage, Page

from runs.adapters.browsers import chromium_arguments, find_chromium, running_as_root

# Playwright's synchronous side keeps an event loop in this thread; Django would refuse queries beside it.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

# A form that is refused answers 422, which Chromium writes to its console like any missing file.
REFUSED = "status of 422"
# The test server has no WebSockets; a live page says so and falls back to what it has.
NO_SOCKETS = "WebSocket connection to"
# Who launches while the estimate is still on its way leaves the page, which ends that request.
LEFT = ("htmx:sendAbort", "htmx:afterRequest")

PASSWORD = "a password of nobody"


@pytest.fixture(scope="session", autouse=True)
def static_folder() -> None:
    """The folder of collected files, empty here: whitenoise warns where it is missing."""
    Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """The Chromium that judges use too."""
    found = find_chromium(os.environ.get("PROOFROOM_CHROMIUM", ""), environment=os.environ)
    if found.path is None:
        pytest.skip(found.problem)
    return {
        "executable_path": str(found.path),
        "args": list(chromium_arguments(is_root=running_as_root())),
    }


@pytest.fixture
def site(settings, live_server) -> str:
    """The address of a site that answers under its own host name."""
    host = f"proofroom.localhost:{live_server.thread.port}"
    settings.SITE_HOST = host
    settings.PUBLIC_URL = f"http://{host}"
    settings.CSRF_TRUSTED_ORIGINS = [settings.PUBLIC_URL]
    return f"http://{host}"


@pytest.fixture
def open_page(site: str, browser: Browser, django_user_model: Any) -> Iterator[Callable[..., Page]]:
    """Open a signed-in page: width, colour scheme and JavaScript as wanted; its errors fail the test."""
    django_user_model.objects.create_user("lead", password=PASSWORD, is_staff=True)
    contexts = []
    errors: list[str] = []

    def opened(path: str, *, width: int = 1440, scheme: str = "light", script: bool = True) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
            java_script_enabled=script,
            base_url=site,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if _is_trouble(said) else None)
        page.goto("/sign-in/?next=/admin/jsi18n/")
        page.fill("[name=username]", "lead")
        page.fill("[name=password]", PASSWORD)
        page.press("[name=password]", "Enter")
        page.wait_for_url("**/admin/jsi18n/")
        errors.clear()
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []


def _is_trouble(said: ConsoleMessage) -> bool:
    harmless = (REFUSED, NO_SOCKETS, *LEFT)
    return said.type == "error" and not any(sign in said.text for sign in harmless)
