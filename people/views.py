"""The page of key settings: every act with its key, changed one at a time and kept with the account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from people import keymap
from people.keymap import ACTIONS, Action, BadKey, PageGroup

if TYPE_CHECKING:
    from people.models import Preferences


@require_http_methods(["GET", "HEAD", "POST"])
def keys(request: HttpRequest) -> HttpResponse:
    """Show the keys; set one, reset one or all, and switch single keys off or on."""
    own = keymap.preferences_of(request.user)
    if request.method != "POST":
        return _page(request, own)
    match request.POST.get("do", ""):
        case "set":
            return _set(request, own, _action(request))
        case "reset":
            action = _action(request)
            return _reset(request, own, action)
        case "reset-all":
            keymap.set_keys(own, {})
            messages.info(request, "Every key is as it was delivered.")
        case "switch":
            keymap.switch_keys(own, on="on" in request.POST)
            words = "do something" if own.uses_keys else "do nothing"
            messages.info(request, f"Single keys {words} for your account.")
        case unknown:
            raise Http404(f"There is no act {unknown!r} on this page.")
    return redirect("people:keys")


def _set(request: HttpRequest, own: Preferences, action: Action) -> HttpResponse:
    given = request.POST.get("key", "")
    try:
        key = keymap.checked_key(given)
        keymap.set_key(own, action, key)
    except BadKey as bad:
        return _page(request, own, at=action, given=given, problem=str(bad))
    messages.info(request, f"{action.words} has the key {key} now.")
    return redirect(f"{reverse('people:keys')}#key-{action.name}")


def _reset(request: HttpRequest, own: Preferences, action: Action) -> HttpResponse:
    try:
        keymap.set_key(own, action, action.key)
    except BadKey as bad:
        return _page(request, own, at=action, given=action.key, problem=str(bad))
    messages.info(request, f"{action.words} has {action.key or 'no key'} again.")
    return redirect(f"{reverse('people:keys')}#key-{action.name}")


def _page(
    request: HttpRequest,
    own: Preferences,
    *,
    at: Action | None = None,
    given: str = "",
    problem: str = "",
) -> HttpResponse:
    current = keymap.merged(own.keys)
    groups = [
        {
            "words": group.words,
            "name": group.value,
            "rows": [
                _row(action, current[action.name], given=given, problem=problem if action is at else "")
                for action in ACTIONS.values()
                if action.group is group
            ],
        }
        for group in PageGroup
    ]
    context = {
        "area": "keys",
        "groups": groups,
        "uses_keys": own.uses_keys,
        "has_own": any(current[name] != action.key for name, action in ACTIONS.items()),
        "problem": problem,
    }
    return render(request, "people/keys.html", context, status=422 if problem else 200)


def _row(action: Action, key: str, *, given: str, problem: str) -> dict[str, Any]:
    return {
        "action": action,
        "key": key,
        "given": given if problem else key,
        "is_own": key != action.key,
        "problem": problem,
    }


def _action(request: HttpRequest) -> Action:
    name = request.POST.get("action", "")
    if name not in ACTIONS:
        raise Http404(f"There is no act {name!r}.")
    return ACTIONS[name]
