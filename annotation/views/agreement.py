"""Whether a judge can be believed: a campaign's agreement, its charts and the outcomes behind each number."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.agreement.ratings import RatingsError
from annotation.agreement.report import Report
from annotation.models import Annotation, Assignment, Campaign
from annotation.reports.asked import Asked, campaign_compared, chosen_comparison, with_scale
from annotation.reports.campaign_agreement import CampaignMarks, read_marks
from annotation.reports.campaign_corrected import corrected_runs, judged_outcomes
from annotation.reports.campaign_findings import content_key, kept, kept_ceiling, kept_groups, kept_report
from annotation.reports.chart_parts import Chart
from annotation.reports.charts import confusion
from annotation.reports.corrected_shown import corrected_charts
from annotation.reports.formats import AgreementFormat, written
from annotation.reports.judge_page import corrected_context, judge_context, judge_words, outcomes_context
from annotation.reports.judge_shown import WIDTHS, forest_of
from annotation.reports.people_page import drift_context, people_context
from annotation.reports.svg import as_svg
from annotation.vocabulary import AssignmentState, MarkSet
from benchmark.display import whole
from people import audit
from people.roles import leads_only


@leads_only
@require_safe
def agreement(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Show how far the judge of a campaign can be believed, and the outcomes on which it differs from people."""
    campaign = campaign_compared(request.user, campaign_id)
    asked = with_scale(campaign, Asked.of(request.GET.dict()))
    context = _frame(campaign, asked)
    try:
        marks = read_marks(campaign, scale=asked.scale)
    except RatingsError as error:
        return _empty(request, campaign, context, problem=str(error))
    if not marks.each.people:
        return _empty(request, campaign, context)
    key = content_key(campaign, marks)
    report = kept_report(campaign, marks, key=key)
    context |= _common(report, marks)
    compared = chosen_comparison(marks, report, asked)
    if compared is None:
        context |= people_context(campaign, marks, report, asked)
    else:
        context |= judge_context(marks, report, compared, asked, key=key)
        context |= corrected_context(campaign, marks, asked)
        context |= outcomes_context(marks, report, compared, asked)
    context |= drift_context(campaign)
    return render(request, "annotation/agreement.html", context)


@leads_only
@require_safe
def agreement_file(request: HttpRequest, campaign_id: int, file: str, extension: str) -> HttpResponse:
    """Send the report or a chart of it as a file."""
    campaign = campaign_compared(request.user, campaign_id)
    asked = with_scale(campaign, Asked.of(request.GET.dict()))
    if (file, extension) not in _FILES:
        raise Http404("There is no such file.")
    try:
        marks = read_marks(campaign, scale=asked.scale)
    except RatingsError as error:
        raise Http404(str(error)) from error
    report = kept_report(campaign, marks, key=content_key(campaign, marks))
    if extension == "svg":
        text = as_svg(_chart(file, campaign, marks, report, asked))
    else:
        text = written(report, _FORMATS[extension])
    audit.note(request.user, "export", f"campaign:{campaign.pk}", kind=f"agreement {file}.{extension}")
    answer = HttpResponse(text, content_type=_TYPES[extension])
    answer["Content-Disposition"] = f'attachment; filename="campaign-{campaign.pk}-{file}.{extension}"'
    return answer


def _frame(campaign: Campaign, asked: Asked) -> dict[str, Any]:
    return {
        "area": "agreement",
        "campaign": campaign,
        "guideline": campaign.guidelines.order_by("-version").first(),
        "title": "Agreement",
        "scales": [
            {
                "label": scale["title"],
                "href": asked.query(scale=scale["key"]),
                "is_current": scale["key"] == asked.scale,
            }
            for scale in campaign.scales
        ]
        if campaign.mark_set == MarkSet.SCALES
        else [],
        "same": asked.query(),
    }


def _empty(
    request: HttpRequest, campaign: Campaign, context: dict[str, Any], *, problem: str = ""
) -> HttpResponse:
    sets = Assignment.objects.filter(campaign=campaign).exclude(state=AssignmentState.EXPIRED)
    waiting = Annotation.objects.filter(assignment__in=sets).count()
    context |= {
        "is_empty": True,
        "problem": problem if sets.filter(state=AssignmentState.SUBMITTED).exists() else "",
        "assigned": whole(waiting),
        "begun": sets.filter(state=AssignmentState.OPEN, taken_at__isnull=False).count(),
    }
    return render(request, "annotation/agreement.html", context)


def _common(report: Report, marks: CampaignMarks) -> dict[str, Any]:
    return {
        "people_count": len(marks.each.people),
        "projects": report.n_clusters,
        "excluded": report.excluded,
        "excluded_n": whole(sum(each.n for each in report.excluded)),
        "methods": report.methods,
    }


def _chart(name: str, campaign: Campaign, marks: CampaignMarks, report: Report, asked: Asked) -> Chart:
    """One chart at its widest. Raises Http404 where there is nothing to draw."""
    compared = chosen_comparison(marks, report, asked)
    if compared is None:
        raise Http404("There is no judge to compare with people here.")
    key = content_key(campaign, marks)
    if name == "confusion":
        return confusion(
            compared.pair.table.tolist(),
            compared.ratings.labels,
            words=f"{judge_words(compared.judge)} against people, {compared.pair.n:,} outcomes.",
            rows="People",
            columns="Judge",
        )
    if name == "corrected":
        outcomes = judged_outcomes(campaign, marks, asked.folding)
        if outcomes is None:
            raise Http404("Nothing is labelled that the judge marked.")
        return corrected_charts(kept(outcomes.key, "corrected", lambda: corrected_runs(outcomes)))[0]
    groups = kept_groups(compared, asked.by, report=report, key=key)
    ceiling = kept_ceiling(marks, asked.folding, report=report, key=key)
    return forest_of(compared, groups, ceiling, by=asked.by, width=WIDTHS[0])


_FORMATS = {"csv": AgreementFormat.CSV, "tex": AgreementFormat.LATEX, "json": AgreementFormat.JSON}
_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
}
_FILES = {
    ("statistics", "csv"),
    ("statistics", "tex"),
    ("agreement", "json"),
    ("confusion", "svg"),
    ("forest", "svg"),
    ("corrected", "svg"),
}
