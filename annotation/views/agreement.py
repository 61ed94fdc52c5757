"""Whether a judge can be believed: a campaign's agreement, its charts and the outcomes behind each number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.agreement.ratings import RatingsError
from annotation.agreement.report import Report
from annotation.agreement.values import Statistic
from annotation.agreement_chart_parts import Chart
from annotation.agreement_formats import AgreementFormat, written
from annotation.agreement_people import (
    drift_charts,
    pair_heads,
    pair_rows,
    people_stats,
    score_charts,
)
from annotation.agreement_shown import (
    BY_WORDS,
    FOLDING_WORDS,
    WIDTHS,
    caption,
    counts_of,
    forest_of,
    headline,
    stats_of,
)
from annotation.agreement_svg import as_svg
from annotation.campaign_agreement import CampaignMarks, read_marks
from annotation.campaign_corrected import BUDGET, corrected_runs, judged_outcomes
from annotation.campaign_findings import (
    By,
    Comparison,
    Folding,
    comparison,
    content_key,
    kept,
    kept_ceiling,
    kept_groups,
    kept_report,
)
from annotation.campaign_progress import calibration_answers
from annotation.campaign_ratings import JUDGE
from annotation.compared_outcomes import Narrowed, Show, counts_by_show, outcome_page
from annotation.corrected_shown import corrected_charts, corrected_rows
from annotation.export_sight import sight_on_campaign
from annotation.models import Annotation, Assignment, Campaign
from annotation.statistic_names import interval_text, remark_text, value_text, words_of
from annotation.texts import row_key
from annotation.vocabulary import AssignmentState, CampaignState, MarkSet
from benchmark.display import whole
from people import audit
from people.roles import leads_only


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


@leads_only
@require_safe
def agreement(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Show how far the judge of a campaign can be believed, and the outcomes on which it differs from people."""
    campaign = _campaign(request, campaign_id)
    asked = _with_scale(campaign, Asked.of(request.GET.dict()))
    context = _frame(campaign, asked)
    try:
        marks = read_marks(campaign, scale=asked.scale)
    except RatingsError:
        return _empty(request, campaign, context)
    if not marks.each.people:
        return _empty(request, campaign, context)
    key = content_key(campaign, marks)
    report = kept_report(campaign, marks, key=key)
    context |= _common(report, marks)
    compared = _compared(marks, report, asked)
    if compared is None:
        context |= _of_people(campaign, marks, report, asked)
    else:
        context |= _of_judge(marks, report, compared, asked, key=key)
        context |= _corrected(campaign, marks, asked)
        context |= _outcomes(marks, report, compared, asked)
    context |= _drift(campaign)
    return render(request, "annotation/agreement.html", context)


@leads_only
@require_safe
def agreement_file(request: HttpRequest, campaign_id: int, name: str, kind: str) -> HttpResponse:
    """Send the report or a chart of it as a file."""
    campaign = _campaign(request, campaign_id)
    asked = _with_scale(campaign, Asked.of(request.GET.dict()))
    if (name, kind) not in _FILES:
        raise Http404("There is no such file.")
    try:
        marks = read_marks(campaign, scale=asked.scale)
    except RatingsError as error:
        raise Http404(str(error)) from error
    report = kept_report(campaign, marks, key=content_key(campaign, marks))
    if kind == "svg":
        text = as_svg(_chart(name, campaign, marks, report, asked))
    else:
        text = written(report, _FORMATS[kind])
    audit.note(request.user, "export", f"campaign:{campaign.pk}", kind=f"agreement {name}.{kind}")
    answer = HttpResponse(text, content_type=_TYPES[kind])
    answer["Content-Disposition"] = f'attachment; filename="campaign-{campaign.pk}-{name}.{kind}"'
    return answer


def _campaign(request: HttpRequest, campaign_id: int) -> Campaign:
    campaign = get_object_or_404(Campaign.objects.exclude(state=CampaignState.DRAFT), pk=campaign_id)
    # As for an export: the page tells as much as the files do.
    sight_on_campaign(request.user, campaign)
    return campaign


def _with_scale(campaign: Campaign, asked: Asked) -> Asked:
    """Ratings are compared on one scale at a time: the one asked for, or the first."""
    keys = [str(scale["key"]) for scale in campaign.scales] if campaign.mark_set == MarkSet.SCALES else []
    return replace(asked, scale=asked.scale if asked.scale in keys else keys[0] if keys else "")


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
        "query": asked.query(),
    }


def _empty(request: HttpRequest, campaign: Campaign, context: dict[str, Any]) -> HttpResponse:
    sets = Assignment.objects.filter(campaign=campaign).exclude(state=AssignmentState.EXPIRED)
    waiting = Annotation.objects.filter(assignment__in=sets).count()
    context |= {
        "is_empty": True,
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


def _compared(marks: CampaignMarks, report: Report, asked: Asked) -> Comparison | None:
    if marks.as_one is None or not marks.as_one.judges:
        return None
    judges = marks.as_one.judges
    judge = asked.judge if asked.judge in judges else judges[0]
    return comparison(marks, report, judge=judge, folding=asked.folding)


def _of_judge(
    marks: CampaignMarks, report: Report, compared: Comparison, asked: Asked, *, key: str
) -> dict[str, Any]:
    ceiling = kept_ceiling(marks, asked.folding, report=report, key=key)
    groups = kept_groups(compared, asked.by, report=report, key=key)
    hrefs = [f"{asked.query(group=group.name, people='', said='')}#outcomes" for group in groups]
    assert marks.as_one is not None
    return {
        "compared": compared,
        "title": f"{_judge_words(compared.judge)} against people",
        "n": whole(compared.pair.n),
        "has_partial": marks.as_one.ratings.n_labels > 2,
        "folding_words": _FOLDED_WORDS[asked.folding],
        "judges": [
            {
                "label": _judge_words(judge, is_short=True),
                "href": asked.query(judge=judge),
                "is_current": judge == compared.judge,
            }
            for judge in marks.as_one.judges
        ],
        "foldings": [
            {
                "label": words,
                "href": asked.query(partial=folding.value),
                "is_current": folding is asked.folding,
            }
            for folding, words in FOLDING_WORDS.items()
        ],
        "headline": headline(compared),
        "warnings": _warnings(report, compared),
        "stats": stats_of(compared, ceiling),
        "counts": counts_of(compared),
        "bys": [
            {
                "label": words,
                "href": f"{asked.query(by=by.value, group='')}#groups",
                "is_current": by is asked.by,
            }
            for by, words in BY_WORDS.items()
        ],
        "by_words": BY_WORDS[asked.by],
        "forest": [
            forest_of(compared, groups, ceiling, by=asked.by, hrefs=hrefs, width=width) for width in WIDTHS
        ],
        "groups": [
            {
                "group": group,
                "cells": [
                    (value_text(name, group.statistics[name]), interval_text(name, group.statistics[name]))
                    for name in ("po", "always_pass_accuracy", "cohen_kappa", "gwet_ac1", "specificity")
                ],
                "href": href,
                "kind_href": f"{asked.query(group=group.name, show=Show.KIND, people='', said='')}#outcomes",
                "strict_href": f"{asked.query(group=group.name, show=Show.STRICT, people='', said='')}#outcomes",
            }
            for group, href in zip(groups, hrefs, strict=True)
        ],
        "caption": caption(report, compared),
        "has_ceiling": ceiling is not None,
        "all_statistics": _all_statistics(compared.pair.statistics, report),
        "judge_rows": _judge_rows(marks, report, asked),
    }


def _judge_rows(marks: CampaignMarks, report: Report, asked: Asked) -> list[dict[str, Any]]:
    """Each judge of the campaign beside the others, where there are several."""
    assert marks.as_one is not None
    if len(marks.as_one.judges) < 2:
        return []
    rows = []
    for judge in marks.as_one.judges:
        compared = comparison(marks, report, judge=judge, folding=asked.folding)
        if compared is not None:
            counts = counts_by_show(compared)
            found = compared.pair.statistics
            rows.append(
                {
                    "name": _judge_words(judge),
                    "href": asked.query(judge=judge),
                    "n": whole(compared.pair.n),
                    "kind": whole(counts[Show.KIND]),
                    "strict": whole(counts[Show.STRICT]),
                    "kind_href": f"{asked.query(judge=judge, show=Show.KIND)}#outcomes",
                    "strict_href": f"{asked.query(judge=judge, show=Show.STRICT)}#outcomes",
                    "cells": [
                        (value_text(name, found[name]), interval_text(name, found[name]))
                        for name in ("po", "always_pass_accuracy", "cohen_kappa", "gwet_ac1", "specificity")
                    ],
                }
            )
    return rows


def _outcomes(marks: CampaignMarks, report: Report, compared: Comparison, asked: Asked) -> dict[str, Any]:
    whole_marks = comparison(marks, report, judge=compared.judge, folding=Folding.THREE)
    assert whole_marks is not None
    labels = whole_marks.ratings.labels
    original = {
        item: (labels[people], labels[judge])
        for item, (people, judge) in zip(whole_marks.items, whole_marks.ratings.codes.tolist(), strict=True)
    }
    page = outcome_page(compared, asked.narrowed, original=original)
    counts = counts_by_show(compared)
    is_cell = bool(asked.narrowed.people and asked.narrowed.judge)
    return {
        "outcomes": page,
        "outcomes_total": whole(page.total),
        "shows": [
            {
                "label": words,
                "count": whole(counts[show]),
                "href": f"{asked.query(show=show.value, people='', said='', group='')}#outcomes",
                "is_current": show is asked.narrowed.show and not is_cell and not asked.narrowed.group,
            }
            for show, words in _SHOW_WORDS.items()
        ],
        "narrowed": asked.narrowed,
        "is_cell": is_cell,
        "cell_query": asked.query(people="", said="", group="", show=""),
        "clear": f"{asked.query(people='', said='', group='', show='')}#outcomes",
        "next_page": f"{asked.query(after=str(page.following))}#outcomes" if page.following else "",
        "first_page": f"{asked.query()}#outcomes" if asked.narrowed.after else "",
    }


def _corrected(campaign: Campaign, marks: CampaignMarks, asked: Asked) -> dict[str, Any]:
    outcomes = judged_outcomes(campaign, marks, asked.folding)
    if outcomes is None:
        return {}
    found = kept(outcomes.key, "corrected", lambda: corrected_runs(outcomes))
    return {
        "corrected": corrected_rows(found),
        "corrected_charts": corrected_charts(found),
        "error_warning": getattr(found.test, "warning", None),
        "error_test": found.test,
        "following": found.following,
        "budget": BUDGET,
    }


def _of_people(campaign: Campaign, marks: CampaignMarks, report: Report, asked: Asked) -> dict[str, Any]:
    ratings = marks.each.ratings
    rows = pair_rows(report)
    context: dict[str, Any] = {
        "title": "People among themselves",
        "n": whole(ratings.n_units),
        "stats": people_stats(report),
        "warnings": report.warnings,
        "pair_heads": pair_heads(report),
        "pairs": [
            {
                "row": row,
                "href": f"{asked.query(pair=f'{row.first}|{row.second}')}#scores",
            }
            for row in rows
        ],
        "all_statistics": _all_statistics(report.statistics, report),
        "is_scored": ratings.numbers is not None,
    }
    if ratings.numbers is None or not rows:
        return context
    wanted = next((row for row in rows if f"{row.first}|{row.second}" == asked.pair), rows[0])
    scale = next(scale for scale in campaign.scales if scale["key"] == asked.scale)
    statistics = next(
        pair.statistics for pair in report.pairs if pair.raters == (wanted.first, wanted.second)
    )
    return context | {
        "scatter": score_charts(
            ratings,
            statistics,
            first=wanted.first,
            second=wanted.second,
            ends=(float(scale["minimum"]), float(scale["maximum"])),
        ),
        "scatter_pair": wanted,
    }


def _drift(campaign: Campaign) -> dict[str, Any]:
    answers = calibration_answers(campaign)
    names = dict(
        User.objects.filter(pk__in={answer.annotator for answer in answers}).values_list("pk", "username")
    )
    return {"drift": drift_charts(answers, names), "drift_n": whole(len(answers))}


def _chart(name: str, campaign: Campaign, marks: CampaignMarks, report: Report, asked: Asked) -> Chart:
    """One chart at its widest. Raises Http404 where there is nothing to draw."""
    from annotation.agreement_charts import confusion

    compared = _compared(marks, report, asked)
    if compared is None:
        raise Http404("There is no judge to compare with people here.")
    key = content_key(campaign, marks)
    if name == "confusion":
        return confusion(
            compared.pair.table.tolist(),
            compared.ratings.labels,
            words=f"{_judge_words(compared.judge)} against people, {compared.pair.n:,} outcomes.",
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


def _warnings(report: Report, compared: Comparison) -> list[str]:
    """What the report warns of besides the headline, in the words of a reader who looks at one judge."""
    key = f"{compared.pair.key}: "
    about_others = [f"{pair.key}: " for pair in report.pairs if pair.key != compared.pair.key]
    shown = []
    for warning in report.warnings:
        if warning.startswith(f"{key}a judge that") or any(map(warning.startswith, about_others)):
            continue
        text = warning.removeprefix(key)
        shown.append(text[:1].upper() + text[1:])
    return shown


def _all_statistics(statistics: Mapping[str, Statistic], report: Report) -> list[dict[str, str]]:
    return [
        {
            "label": words_of(name, positive=report.positive),
            "value": value_text(name, statistic),
            "interval": interval_text(name, statistic),
            "jackknife": _jackknife(statistic),
            "remark": remark_text(name, statistic),
        }
        for name, statistic in statistics.items()
    ]


def _jackknife(statistic: Statistic) -> str:
    interval = getattr(statistic, "jackknife", None)
    return "" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}".replace("-", "−")


def _judge_words(judge: str, *, is_short: bool = False) -> str:
    name = judge.removeprefix(JUDGE)
    return name if is_short else f"Judge {name}"


_SHOW_WORDS = {
    Show.DIFFERENT: "All disagreements",
    Show.KIND: "Judge too kind",
    Show.STRICT: "Judge too strict",
    Show.ALL: "All outcomes",
}
_FOLDED_WORDS = {
    Folding.FAIL: "Partial folded into Fail",
    Folding.PASS: "Partial folded into Pass",
    Folding.THREE: "Three marks",
}
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
