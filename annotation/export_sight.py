"""How much of a campaign or a set a person's export may hold: blindness holds for files as for pages."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from django.http import Http404

from annotation.blindness import require_not_blind
from annotation.models import Assignment, Campaign
from people.hiding import require_shown
from people.roles import ASSIGNMENTS, Refused, is_lead

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class Sight(StrEnum):
    """The own marks alone, or everything: judge, peers, agents and adjudications too."""

    OWN = "own"
    ALL = "all"


def sight_on_campaign(user: User | AnonymousUser, campaign: Campaign) -> Sight:
    """Return what a person sees in the export of a whole campaign.

    Raises Refused for who leads none, and for a lead whose own open blind set hides it: in this campaign,
    or in another one of the same runs.
    """
    if not is_lead(user):
        raise Refused(
            "Only a lead may export a campaign. Your own sets can be exported from your list of them.",
            way_on=ASSIGNMENTS,
            way_on_words="Open your assignments",
        )
    require_not_blind(user, campaign)
    for run in campaign.runs.order_by("pk").values_list("pk", flat=True):
        require_shown(user, run)
    return Sight.ALL


def sight_on_assignment(user: User | AnonymousUser, assignment: Assignment) -> Sight:
    """Return what a person sees in the export of one set.

    Raises Http404 for a set of somebody else, and Refused for a lead from whom it is hidden.
    """
    is_own = user.is_authenticated and assignment.annotator_id == user.pk
    if not is_lead(user):
        if is_own:
            return Sight.OWN
        # As where there is no such set: nobody learns which there are.
        raise Http404("There is no such assignment among yours.")
    try:
        return sight_on_campaign(user, assignment.campaign)
    except Refused:
        if is_own:
            return Sight.OWN
        raise
