"""What every page knows of the person who looks at it: roles and keys, asked for only where used."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import AnonymousUser

from people.keymap import keys_of as own_keys
from people.keymap import preferences_of
from people.roles import is_lead, may_read_runs

if TYPE_CHECKING:
    from django.http import HttpRequest


def person(request: HttpRequest) -> dict[str, Any]:
    """Give templates `may_lead`, `may_read_runs`, and `keymap` (JSON) for the scripts of a page."""
    # A page for a wrong host is made before anybody is known.
    user = getattr(request, "user", AnonymousUser())
    return {
        "may_lead": partial(is_lead, user),
        "may_read_runs": partial(may_read_runs, user),
        "keymap": partial(_keymap, user),
        "keys_are_on": partial(_keys_are_on, user),
    }


def _keys_are_on(user: Any) -> bool:
    return preferences_of(user).uses_keys


def _keymap(user: Any) -> str:
    return json.dumps({"keys": own_keys(user), "on": preferences_of(user).uses_keys})
