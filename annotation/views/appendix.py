"""Send the appendix of a paper about a campaign."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotation.agreement.intervals import RESAMPLES
from annotation.agreement.ratings import RatingsError
from annotation.agreement.report import SEED
from annotation.reports.appendix import appendix_zip, campaign_appendix
from annotation.reports.asked import Asked, campaign_compared, with_scale
from annotation.reports.campaign_agreement import read_marks
from annotation.reports.campaign_findings import content_key, kept
from people import audit
from people.roles import leads_only


@leads_only
@require_safe
def agreement_appendix(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Send tables, methods, figures, frozen ratings and their script in one zip; who took it is in the log."""
    campaign = campaign_compared(request.user, campaign_id)
    asked = with_scale(campaign, Asked.of(request.GET.dict()))
    try:
        marks = read_marks(campaign, scale=asked.scale)
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
