"""Print the key that does something, as this person has set it."""

from __future__ import annotations

from typing import Any

from django import template
from django.contrib.auth.models import AnonymousUser
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from people.keymap import keys_of

register = template.Library()


@register.simple_tag(takes_context=True)
def keycap(context: Any, *actions: str) -> SafeString:
    """The keys of acts, each stroke in a `kbd` of its own."""
    user = getattr(context.get("request"), "user", AnonymousUser())
    keys = keys_of(user)
    return caps(" ".join(keys[action] for action in actions))


@register.simple_tag
def caps(key: str) -> SafeString:
    """A key as it is printed: `g r` is two strokes, and a capital letter is one with Shift."""
    return format_html_join(" ", "<kbd>{}</kbd>", ((_printed(stroke),) for stroke in key.split()))


def _printed(stroke: str) -> str:
    if len(stroke) == 1 and stroke.isalpha() and stroke.isupper():
        return f"⇧{stroke}"
    return stroke.lower() if len(stroke) > 1 else stroke
