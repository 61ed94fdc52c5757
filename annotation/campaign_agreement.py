"""The report of a campaign: judges against people, and people among themselves as their ceiling."""

from __future__ import annotations

from dataclasses import replace

from annotation.agreement.ceiling import human_ceiling
from annotation.agreement.estimating import Resampling
from annotation.agreement.intervals import RESAMPLES
from annotation.agreement.report import SEED, Report, report
from annotation.campaign_ratings import PEOPLE, Whose, campaign_ratings
from annotation.models import Campaign
from annotation.vocabulary import MarkSet


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
    each = campaign_ratings(campaign, scale=scale)
    people = each.people if len(each.people) > 1 else ()
    is_scale = campaign.mark_set == MarkSet.SCALES
    if is_scale or gold not in (None, PEOPLE) or (gold is None and not (each.people and each.judges)):
        return _noted(
            report(each.ratings, gold=gold, positive=positive, people=people, seed=seed, resamples=resamples),
            campaign,
        )
    as_one = campaign_ratings(campaign, whose=Whose.PEOPLE_AS_ONE)
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
