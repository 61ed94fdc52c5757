"""What annotators are told: the four conventions, and each campaign's versions of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Max

from annotation.models import Campaign, Guideline
from annotation.texts import storable
from people import audit

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST = 20_000

CONVENTIONS = """\
1. Each outcome on its own merits. What another outcome got, or what you think of the whole, does not matter here.
2. Only the literal text. Mark what the outcome says, not what it might have meant or what you would have liked.
3. Cosmetic differences are not failures. Other wording, colours or places pass where the outcome is there.
4. Complete sets. Every outcome gets a mark, or an environment problem with its reason: that the application did \
not start here, or that something on your side stopped you, is never a fail.
"""


class BadGuideline(ValueError):
    """Raised with a sentence about a text that cannot be a guideline."""


def current(campaign: Campaign) -> Guideline | None:
    """Return the newest version, which annotations from now on follow; None before the opening."""
    return Guideline.objects.filter(campaign=campaign).order_by("-version").first()


def write(campaign: Campaign, text: str, *, by: User | None) -> Guideline:
    """Add a version, unless the newest one says exactly this. Raises BadGuideline.

    Earlier annotations keep the version that they were made under.
    """
    text = storable(text).strip()
    if not text or len(text) > LONGEST:
        raise BadGuideline(f"A guideline has 1 to {LONGEST} characters; this one has {len(text)}.")
    newest = current(campaign)
    if newest is not None and newest.text == text:
        return newest
    version = (campaign.guidelines.aggregate(newest=Max("version"))["newest"] or 0) + 1
    written = Guideline.objects.create(campaign=campaign, version=version, text=text, created_by=by)
    audit.note(by, "guideline", f"campaign:{campaign.pk}", version=version)
    return written
