"""Tags that give a mark, an icon, a time or a foreign text its one look."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from benchmark.display import UNDEFINED, Look, visible_pieces

register = template.Library()


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """A picture from the sprite; words beside it say the same, so it is hidden from readers."""
    return format_html('<svg class="icon {}" aria-hidden="true"><use href="#i-{}"/></svg>', extra, name)


@register.simple_tag
def mark(look: str, extra: str = "") -> SafeString:
    """A mark's shape, named for screen readers."""
    shown = Look(look)
    turns = "turns" if shown is Look.RUNNING else ""
    return format_html(
        '<svg class="icon mark--{} {} {}" role="img" aria-label="{}"><use href="#m-{}"/></svg>',
        shown.value,
        turns,
        extra,
        shown.word,
        shown.value,
    )


@register.simple_tag
def mark_chip(look: str, words: str = "") -> SafeString:
    """A mark with its word on its tint."""
    shown = Look(look)
    return format_html(
        '<span class="chip chip--{0}"><svg class="icon mark--{0}" aria-hidden="true">'
        '<use href="#m-{0}"/></svg>{1}</span>',
        shown.value,
        words or shown.word,
    )


@register.simple_tag
def dot(look: str) -> SafeString:
    """A mark in a grid: the outline alone, ten pixels; the cell says the counts in words."""
    # Thousands of these stand on one page, hence no format_html: the values are ours.
    value = Look(look).value
    turns = " turns" if value == "running" else ""
    return mark_safe(  # noqa: S308 - built from the closed set of Look alone
        f'<svg class="dot mark--{value}{turns}" aria-hidden="true"><use href="#d-{value}"/></svg>'
    )


@register.simple_tag
def dots(looks: Iterable[str]) -> SafeString:
    """A row of marks, one shape each."""
    return format_html(
        '<span class="dots">{}</span>', format_html_join("", "{}", ((dot(look),) for look in looks))
    )


@register.simple_tag
def clock(at: datetime | None) -> SafeString:
    """A time of day, with its date and zone on hover."""
    if at is None:
        return format_html("{}", UNDEFINED)
    here = timezone.localtime(at)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', here.isoformat(), _whole(here), f"{here:%H:%M:%S}"
    )


@register.simple_tag
def moment(at: datetime | None) -> SafeString:
    """A date and a time of day, with the zone on hover."""
    if at is None:
        return format_html("{}", UNDEFINED)
    here = timezone.localtime(at)
    return format_html(
        '<time datetime="{}" title="{}">{} {}</time>',
        here.isoformat(),
        _whole(here),
        f"{here.day} {here:%b %Y},",
        f"{here:%H:%M}",
    )


@register.filter
def shown(text: str | None) -> SafeString:
    """Foreign text, escaped, each control character replaced by a visible sign."""
    return format_html_join(
        "",
        "{}",
        (
            (
                format_html('<span class="control-sign" title="{}">{}</span>', piece.sign_for, piece.text)
                if piece.sign_for
                else piece.text,
            )
            for piece in visible_pieces(text or "")
        ),
    )


@register.inclusion_tag("components/definition.html")
def definition(name: str, title: str, text: str, our_words: str = "") -> dict[str, str]:
    """A question mark that opens what a figure means."""
    return {"name": name, "title": title, "text": text, "our_words": our_words}


def _whole(here: datetime) -> str:
    return f"{here:%A}, {here.day} {here:%B %Y, %H:%M:%S %Z}"
