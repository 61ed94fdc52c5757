"""A campaign before it is opened: its draft as settings of a design, its guideline, its double."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation import guidelines
from annotation.campaign_checks import Design, missing_for_opening, save
from annotation.campaign_forms import Given
from annotation.designing import CampaignSettings, DesignPreview, KnownAnswer, known_answers, preview
from annotation.models import Annotation, Campaign, Guideline, Item
from annotation.progress import USUAL_SECONDS, newest_times
from annotation.vocabulary import CampaignState, Distribution, MarkSet, OverlapUnit, SampleMethod, Stratum
from people import audit

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Seconds that an outcome takes, and from how many marks that is known (0: only supposed)."""

    seconds: float
    n: int


def preview_of(design: Design, *, known: Sequence[KnownAnswer] = ()) -> DesignPreview:
    """Return what opening a form as it stands would make; writes nothing."""
    fields = design.fields
    return preview(
        CampaignSettings(
            runs=design.runs,
            tasks=tuple(fields["tasks"]),
            rounds=tuple(fields["rounds"]),
            mark_set=MarkSet(fields["mark_set"]),
            scales=tuple(scale["key"] for scale in fields["scales"]),
            method=SampleMethod(fields["method"]),
            sample_size=fields["sample_size"],
            strata=tuple(Stratum(word) for word in fields["strata"]),
            seed=fields["seed"],
            only_executed=fields["only_executed"],
            overlap=fields["overlap"],
            overlap_unit=OverlapUnit(fields["overlap_unit"]),
            overlap_share=fields["overlap_share"],
            distribution=Distribution(fields["distribution"]),
            annotators=design.annotators,
            known=tuple(known),
        )
    )


def lacks_of(campaign: Campaign) -> dict[str, str]:
    """Return what a draft still lacks for being opened, a sentence by the field's name."""
    return missing_for_opening(
        campaign, runs=campaign.runs.count(), annotators=campaign.annotators.count(), now=timezone.now()
    )


def pace() -> Pace:
    """Return how long the newest marks of this site took, or what is usual where there are none."""
    times = newest_times(Annotation.objects.all())
    if not times:
        return Pace(seconds=USUAL_SECONDS, n=0)
    return Pace(seconds=median(times) / 1000, n=len(times))


@transaction.atomic
def save_draft(campaign: Campaign | None, design: Design, *, by: User) -> Campaign:
    """Write a form into a campaign, new or old, with its guideline.

    Raises guidelines.BadGuideline. A draft keeps one version of its guideline; an open campaign gets a
    new one for each change, and marks keep the version they were made under.
    """
    is_new = campaign is None
    if campaign is not None:
        # As it is now, and until this is done: one that was opened meanwhile keeps its sample.
        campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    campaign = save(campaign or Campaign(created_by=by), design)
    is_draft = campaign.state == CampaignState.DRAFT
    newest = guidelines.current(campaign)
    if design.guideline and (newest is None or newest.text != design.guideline):
        if is_draft:
            Guideline.objects.filter(campaign=campaign).delete()
        guidelines.write(campaign, design.guideline, by=by)
    elif not design.guideline and is_draft:
        Guideline.objects.filter(campaign=campaign).delete()
    if is_draft:
        _drop_foreign_calibration(campaign)
    audit.note(by, "campaign_draft" if is_new else "campaign_edit", f"campaign:{campaign.pk}")
    return campaign


@transaction.atomic
def duplicate(campaign: Campaign, *, by: User) -> Campaign:
    """Return a new draft with the same design, people, guideline and calibration items, and no deadline."""
    text = guidelines.current(campaign)
    known = list(known_answers(campaign))
    runs, annotators = list(campaign.runs.all()), list(campaign.annotators.all())
    copied = {name: getattr(campaign, name) for name in _COPIED}
    made = Campaign.objects.create(**copied, name=_name_of_double(campaign.name), created_by=by)
    made.runs.set(runs)
    made.annotators.set(annotators)
    if text is not None:
        guidelines.write(made, text.text, by=by)
    set_known_answers(made, known)
    audit.note(by, "campaign_draft", f"campaign:{made.pk}", like=campaign.pk)
    return made


@transaction.atomic
def set_known_answers(campaign: Campaign, known: Sequence[KnownAnswer]) -> None:
    """Make these a draft's calibration items; they stand in its rows until the opening lays out all items."""
    if campaign.state != CampaignState.DRAFT:
        raise ValueError(
            "Calibration items are part of the sample, which was drawn when the campaign was opened."
        )
    Item.objects.filter(campaign=campaign).delete()
    Item.objects.bulk_create(
        Item(
            campaign=campaign,
            round_id=answer.round,
            outcome_id=answer.outcome,
            scale=answer.scale,
            position=place,
            known_mark=answer.mark or "",
            known_score=answer.score,
        )
        for place, answer in enumerate(known)
    )


def fingerprint(campaign: Campaign | None) -> str:
    """Return a word that changes when anybody changes the draft: two leads do not undo each other unseen."""
    if campaign is None:
        return ""
    return hashlib.sha256(repr(Given.from_campaign(campaign)).encode()).hexdigest()[:16]


_COPIED = (
    "tasks", "rounds", "mark_set", "scales", "centre", "is_blind", "method", "sample_size", "strata", "seed",
    "only_executed", "overlap", "overlap_unit", "overlap_share", "distribution", "lease_hours", "webhook_url",
    "webhook_secret",
)  # fmt: skip


def _name_of_double(name: str) -> str:
    return f"{name[:192]} (again)"


def _drop_foreign_calibration(campaign: Campaign) -> None:
    """A run that is chosen no longer takes its calibration items with it."""
    Item.objects.filter(campaign=campaign).exclude(round__trial__run__in=campaign.runs.all()).delete()
    if campaign.mark_set == MarkSet.SCALES:
        keys = [scale["key"] for scale in campaign.scales]
        Item.objects.filter(campaign=campaign).exclude(scale__in=keys).delete()
    else:
        Item.objects.filter(campaign=campaign, outcome=None).delete()
