"""The report of a campaign: judges against people, and people among themselves as their ceiling."""

from __future__ import annotations

from dataclasses import dataclass, replace

from annotation.agreement.ceiling import human_ceiling
from annotation.agreement.estimating import Resampling
from annotation.agreement.intervals import RESAMPLES
from annotation.agreement.report import SEED, Report, report
from annotation.models import Campaign
from annotation.reports.campaign_ratings import PEOPLE, CampaignRatings, Whose, campaign_ratings
from annotation.vocabulary import MarkSet


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CampaignMarks:
    """Each rater's marks, and where judges are compared with people those of the people as one."""

    each: CampaignRatings
    as_one: CampaignRatings | None


def campaign_report(
    campaign: Campaign,
    *,
    gold: str | None = None,
    scale: str = "",
    positive: str | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> Report:
    """Return the agreement in a campaign.

    Without a gold rater, or with `PEOPLE`, each judge is compared with the people as one: a person is part of
    that rater, so no person is compared with it. With more than one person their agreement among themselves
    stands beside it. With another gold rater, and for ratings on a scale, everybody is compared with everybody.

    Raises RatingsError.
    """
    return report_of(
        campaign,
        read_marks(campaign, scale=scale),
        gold=gold,
        positive=positive,
        seed=seed,
        resamples=resamples,
    )


def read_marks(campaign: Campaign, *, scale: str = "") -> CampaignMarks:
    """Return what was said in a campaign, by each person and by the people as one. Raises RatingsError."""
    each = campaign_ratings(campaign, scale=scale)
    is_compared = campaign.mark_set != MarkSet.SCALES and each.people and each.judges
    as_one = campaign_ratings(campaign, whose=Whose.PEOPLE_AS_ONE) if is_compared else None
    return CampaignMarks(each=each, as_one=as_one)


def report_of(
    campaign: Campaign,
    marks: CampaignMarks,
    *,
    gold: str | None = None,
    positive: str | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> Report:
    """Return the report of marks that were read. Raises RatingsError."""
    each, as_one = marks.each, marks.as_one
    people = each.people if len(each.people) > 1 else ()
    if as_one is None or gold not in (None, PEOPLE):
        return _noted(
            report(each.ratings, gold=gold, positive=positive, people=people, seed=seed, resamples=resamples),
            campaign,
        )
    found = report(as_one.ratings, gold=PEOPLE, positive=positive, seed=seed, resamples=resamples)
    if people:
        ceiling = human_ceiling(
            each.ratings,
            people=people,
            positive=each.ratings.label_index(found.positive),
            resampling=Resampling(resamples=resamples, seed=seed, is_clustered=each.ratings.is_clustered),
        )
        found = replace(found, ceiling=ceiling)
    return _noted(found, campaign)


def _noted(found: Report, campaign: Campaign) -> Report:
    if campaign.is_blind or campaign.is_imported:
        return found
    warning = (
        "People saw the judge's verdicts in this campaign: agreement that was not blind is no agreement."
    )
    return replace(found, warnings=(warning, *found.warnings))
