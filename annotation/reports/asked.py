"""What a reader asked of the agreement page: folding, groups, judge, scale, and which outcomes are listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.shortcuts import get_object_or_404

from annotation.agreement.report import Report
from annotation.export_sight import sight_on_campaign
from annotation.models import Campaign
from annotation.reports.campaign_agreement import CampaignMarks
from annotation.reports.campaign_findings import By, Comparison, Folding, comparison
from annotation.reports.compared_outcomes import Narrowed, Show
from annotation.texts import row_key
from annotation.vocabulary import CampaignState, MarkSet

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a reader asked of the page; empty words take what comes first."""

    folding: Folding
    by: By
    judge: str
    scale: str
    pair: str
    narrowed: Narrowed

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Asked:
        """Read an address; what is not known is passed over."""
        folding, by, show = values.get("partial", ""), values.get("by", ""), values.get("show", "")
        grouped = By(by) if by in set(By) else By.AGENT
        return cls(
            folding=Folding(folding) if folding in set(Folding) else Folding.FAIL,
            by=grouped,
            judge=values.get("judge", "")[:200],
            scale=values.get("scale", "")[:64],
            pair=values.get("pair", "")[:400],
            narrowed=Narrowed(
                show=Show(show) if show in set(Show) else Show.DIFFERENT,
                people=values.get("people", "")[:16],
                judge=values.get("said", "")[:16],
                by=grouped,
                group=values.get("group", "")[:300],
                after=row_key(values.get("after", "")),
            ),
        )

    def query(self, **changed: str) -> str:
        """The address of the same page with something changed; the list begins anew."""
        narrowed = self.narrowed
        values = {
            "partial": self.folding.value if self.folding is not Folding.FAIL else "",
            "by": self.by.value if self.by is not By.AGENT else "",
            "judge": self.judge,
            "scale": self.scale,
            "show": narrowed.show.value if narrowed.show is not Show.DIFFERENT else "",
            "people": narrowed.people,
            "said": narrowed.judge,
            "group": narrowed.group,
        } | changed
        return "?" + urlencode({name: value for name, value in values.items() if value})


def campaign_compared(user: User | AnonymousUser, campaign_id: int) -> Campaign:
    """Return a campaign whose agreement a person may see. Raises Http404, or Refused where it is hidden.

    As for an export: what is told here is as much as its files tell.
    """
    campaign = get_object_or_404(Campaign.objects.exclude(state=CampaignState.DRAFT), pk=campaign_id)
    sight_on_campaign(user, campaign)
    return campaign


def with_scale(campaign: Campaign, asked: Asked) -> Asked:
    """Ratings are compared on one scale at a time: the one asked for, or the first."""
    keys = [str(scale["key"]) for scale in campaign.scales] if campaign.mark_set == MarkSet.SCALES else []
    return replace(asked, scale=asked.scale if asked.scale in keys else keys[0] if keys else "")


def chosen_comparison(marks: CampaignMarks, report: Report, asked: Asked) -> Comparison | None:
    """Return the judge asked for, or the first, against the people as one; None where there is none."""
    if marks.as_one is None or not marks.as_one.judges:
        return None
    judges = marks.as_one.judges
    judge = asked.judge if asked.judge in judges else judges[0]
    return comparison(marks, report, judge=judge, folding=asked.folding)
