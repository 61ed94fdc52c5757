"""A campaign over the demo's run, so that a newcomer can sit down at the console at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import transaction

from annotation import opening
from annotation.models import Campaign
from annotation.vocabulary import CampaignState
from people.roles import SiteRole

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from runs.models import Run

NAME = "Did the judge see it right?"


def annotators(names: tuple[str, ...], *, password: str) -> list[User]:
    """Return accounts that may annotate and nothing else, made where they are missing."""
    group, _ = Group.objects.get_or_create(name=SiteRole.ANNOTATOR)
    found = []
    for name in names:
        user, created = get_user_model().objects.get_or_create(username=name)
        if created or not user.check_password(password):
            user.set_password(password)
            user.save()
        user.groups.add(group)
        found.append(user)
    return found


def campaign_over(run: Run, *, people: list[User], by: User | None) -> Campaign:
    """Return the open campaign over a finished run; a repeated call makes nothing new.

    Blind, pass or fail, the final round of every trial, two people for each trial.
    """
    with transaction.atomic():
        known = Campaign.objects.filter(name=NAME, runs=run).first()
        campaign = known or Campaign.objects.create(name=NAME, overlap=2, seed=run.pk, created_by=by)
        campaign.runs.add(run)
        campaign.annotators.add(*people)
        if campaign.state == CampaignState.DRAFT:
            campaign = opening.open_campaign(campaign, by=by)
    return campaign
