"""Send the appendix of a paper about a campaign."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from annotation.agreement.intervals import RESAMPLES
from annotation.agreement.ratings import RatingsError
from annotation.agreement.report import SEED
from annotation.export_sight import sight_on_campaign
from annotation.models import Campaign
from annotation.reports.appendix import appendix_zip, campaign_appendix
from annotation.reports.campaign_agreement import read_marks
from annotation.reports.campaign_findings import content_key, kept
from annotation.vocabulary import CampaignState, MarkSet
from people import audit
from people.roles import leads_only


@leads_only
@require_safe
def agreement_appendix(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Send tables, methods, figures, frozen ratings and their script in one zip; who took it is in the log."""
    campaign = get_object_or_404(Campaign.objects.exclude(state=CampaignState.DRAFT), pk=campaign_id)
    # As for an export: the files tell as much as those do.
    sight_on_campaign(request.user, campaign)
    try:
        marks = read_marks(campaign, scale=_scale(campaign, request.GET.get("scale", "")))
        content = kept(
            content_key(campaign, marks),
            "appendix",
            lambda: appendix_zip(campaign_appendix(campaign, marks, seed=SEED, resamples=RESAMPLES)),
        )
    except RatingsError as error:
        raise Http404(str(error)) from error
    audit.note(request.user, "export", f"campaign:{campaign.pk}", kind="agreement appendix")
    answer = HttpResponse(content, content_type="application/zip")
    answer["Content-Disposition"] = f'attachment; filename="campaign-{campaign.pk}-appendix.zip"'
    answer["Cache-Control"] = "private, no-store"
    return answer


def _scale(campaign: Campaign, asked: str) -> str:
    """Ratings are compared on one scale at a time: the one asked for, or the first."""
    keys = [str(scale["key"]) for scale in campaign.scales] if campaign.mark_set == MarkSet.SCALES else []
    return asked if asked in keys else keys[0] if keys else ""
