"""How much a person may see in an export: blindness holds for files as it does for pages."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from annotation.blindness import blind_campaigns
from annotation.models import Assignment, Campaign
from people.roles import is_lead

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class Sight(StrEnum):
    """The own marks alone, or everything: judge, peers, agents and adjudications too."""

    OWN = "own"
    ALL = "all"


class ExportRefused(PermissionError):
    """This person may not have that export; the message says why and what has to happen first."""


def sight_on_campaign(user: User | AnonymousUser, campaign: Campaign) -> Sight:
    """Return what a person sees in the export of a whole campaign. Raises ExportRefused."""
    if not is_lead(user):
        raise ExportRefused(
            "Only a lead may export a campaign. Your own sets can be exported from your list of sets."
        )
    if is_blinded(user, campaign):
        raise ExportRefused(
            "You have an open set in this campaign and mark it blind, and its export shows what others "
            "and the judge said. Submit your set or reveal it first; your own set can be exported now."
        )
    return Sight.ALL


def sight_on_assignment(user: User | AnonymousUser, assignment: Assignment) -> Sight:
    """Return what a person sees in the export of one set. Raises ExportRefused."""
    if is_lead(user) and not is_blinded(user, assignment.campaign):
        return Sight.ALL
    if user.is_authenticated and assignment.annotator_id == user.pk:
        return Sight.OWN
    if is_lead(user):
        raise ExportRefused(
            "You have an open set in this campaign and mark it blind, so you cannot have what others "
            "marked. Submit your set or reveal it first."
        )
    raise ExportRefused("This set belongs to somebody else. You can export your own sets.")


def is_blinded(user: User | AnonymousUser, campaign: Campaign) -> bool:
    """Whether a person is at work in a campaign and may not see yet what others said."""
    return campaign.pk in blind_campaigns(user)
