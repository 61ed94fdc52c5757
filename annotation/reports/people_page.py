"""The part of the agreement page that compares people with each other, and with known answers over time."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from annotation.agreement.report import Report
from annotation.campaign_progress import calibration_answers
from annotation.models import Campaign
from annotation.reports.asked import Asked
from annotation.reports.campaign_agreement import CampaignMarks
from annotation.reports.judge_page import all_statistics
from annotation.reports.people_shown import drift_charts, pair_heads, pair_rows, people_stats, score_charts
from benchmark.display import whole


def people_context(campaign: Campaign, marks: CampaignMarks, report: Report, asked: Asked) -> dict[str, Any]:
    """Return what people agree on among themselves, pair by pair, with the scores of one pair."""
    ratings = marks.each.ratings
    rows = pair_rows(report)
    context: dict[str, Any] = {
        "title": "People among themselves",
        "n": whole(ratings.n_units),
        "stats": people_stats(report),
        "warnings": [
            warning.replace("clusters", "projects")
            for warning in report.warnings
            # Scores have no list of labels that could have been declared.
            if ratings.numbers is None or not warning.startswith("The labels were not declared")
        ],
        "pair_heads": pair_heads(report),
        "pairs": [
            {
                "row": row,
                "href": f"{asked.query(pair=f'{row.first}|{row.second}')}#scores",
            }
            for row in rows
        ],
        "all_statistics": all_statistics(report.statistics, report),
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


def drift_context(campaign: Campaign) -> dict[str, Any]:
    """Return how people did on known answers over time."""
    answers = calibration_answers(campaign)
    names = dict(
        User.objects.filter(pk__in={answer.annotator for answer in answers}).values_list("pk", "username")
    )
    return {"drift": drift_charts(answers, names), "drift_n": whole(len(answers))}
