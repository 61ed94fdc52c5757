"""The part of the agreement page that compares a judge with people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.agreement.judge_error_by_agent import ErrorTest
from annotation.agreement.report import Report
from annotation.agreement.values import Statistic
from annotation.models import Campaign
from annotation.reports.asked import Asked
from annotation.reports.campaign_agreement import CampaignMarks
from annotation.reports.campaign_corrected import BUDGET, corrected_runs, judged_outcomes
from annotation.reports.campaign_findings import (
    Comparison,
    Folding,
    comparison,
    kept,
    kept_ceiling,
    kept_groups,
)
from annotation.reports.campaign_ratings import JUDGE
from annotation.reports.compared_outcomes import Show, counts_by_show, outcome_page
from annotation.reports.corrected_shown import corrected_charts, corrected_notes, corrected_rows, other_rows
from annotation.reports.counts import counts_of
from annotation.reports.judge_shown import (
    BY_WORDS,
    FOLDING_WORDS,
    WIDTHS,
    caption,
    forest_of,
    headline,
    most_disputed,
    stats_of,
)
from annotation.reports.statistic_names import interval_text, remark_text, value_text, words_of
from benchmark.display import whole


def judge_context(
    marks: CampaignMarks, report: Report, compared: Comparison, asked: Asked, *, key: str
) -> dict[str, Any]:
    """Return figures, table of counts, forest plot and warnings of one judge."""
    ceiling = kept_ceiling(marks, asked.folding, report=report, key=key)
    groups = kept_groups(compared, asked.by, report=report, key=key)
    hrefs = [f"{asked.query(group=group.name, people='', said='')}#outcomes" for group in groups]
    drawn = most_disputed(groups)
    drawn_hrefs = [href for group, href in zip(groups, hrefs, strict=True) if group in drawn]
    assert marks.as_one is not None
    return {
        "left_out_of_chart": len(groups) - len(drawn),
        "compared": compared,
        "title": f"{judge_words(compared.judge)} against people",
        "n": whole(compared.pair.n),
        "has_partial": marks.as_one.ratings.n_labels > 2,
        "folding_words": _FOLDED_WORDS[asked.folding],
        "judges": [
            {
                "label": judge_words(judge, is_short=True),
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
            forest_of(compared, drawn, ceiling, by=asked.by, hrefs=drawn_hrefs, width=width)
            for width in WIDTHS
        ],
        "groups": [
            {
                "group": group,
                "cells": [
                    (value_text(name, group.statistics[name]), interval_text(name, group.statistics[name]))
                    for name in ("po", "always_pass_accuracy", "cohen_kappa", "gwet_ac1", "specificity")
                ],
                "href": href,
                "kind_href": f"{asked.query(group=group.name, show=Show.TOO_KIND, people='', said='')}#outcomes",
                "strict_href": f"{asked.query(group=group.name, show=Show.TOO_STRICT, people='', said='')}#outcomes",
            }
            for group, href in zip(groups, hrefs, strict=True)
        ],
        "caption": caption(report, compared, by=asked.by),
        "has_ceiling": ceiling is not None,
        "all_statistics": all_statistics(compared.pair.statistics, report),
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
                    "name": judge_words(judge),
                    "href": asked.query(judge=judge),
                    "n": whole(compared.pair.n),
                    "kind": whole(counts[Show.TOO_KIND]),
                    "strict": whole(counts[Show.TOO_STRICT]),
                    "kind_href": f"{asked.query(judge=judge, show=Show.TOO_KIND)}#outcomes",
                    "strict_href": f"{asked.query(judge=judge, show=Show.TOO_STRICT)}#outcomes",
                    "cells": [
                        (value_text(name, found[name]), interval_text(name, found[name]))
                        for name in ("po", "always_pass_accuracy", "cohen_kappa", "gwet_ac1", "specificity")
                    ],
                }
            )
    return rows


def outcomes_context(
    marks: CampaignMarks, report: Report, compared: Comparison, asked: Asked
) -> dict[str, Any]:
    """Return the list of outcomes behind a number, a page of it."""
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


def corrected_context(campaign: Campaign, marks: CampaignMarks, asked: Asked) -> dict[str, Any]:
    """Return the runs' pass rates corrected by what people labelled; nothing where none can be."""
    outcomes = judged_outcomes(campaign, marks, asked.folding)
    if outcomes is None:
        return {}
    found = kept(outcomes.key, "corrected", lambda: corrected_runs(outcomes))
    return {
        "corrected": corrected_rows(found),
        "corrected_partial": _CORRECTED_PARTIAL[asked.folding],
        "corrected_notes": corrected_notes(found),
        "corrected_charts": corrected_charts(found),
        "corrected_others": other_rows(found),
        "error_warnings": [
            test.warning for test in found.tests if isinstance(test, ErrorTest) and test.warning
        ],
        "following": found.following,
        "budget": BUDGET,
    }


def _warnings(report: Report, compared: Comparison) -> list[str]:
    """What the report warns of besides the headline, in the words of a reader who looks at one judge."""
    key = f"{compared.pair.key}: "
    about_others = [f"{pair.key}: " for pair in report.pairs if pair.key != compared.pair.key]
    shown = []
    for warning in report.warnings:
        if warning.startswith(f"{key}a judge that") or any(map(warning.startswith, about_others)):
            continue
        # In a campaign clusters are projects, which is what its pages call them.
        text = warning.removeprefix(key).replace("clusters", "projects")
        shown.append(text[:1].upper() + text[1:])
    return shown


def all_statistics(statistics: Mapping[str, Statistic], report: Report) -> list[dict[str, str]]:
    """Return every statistic as a row of text."""
    return [
        {
            "label": words_of(name, positive=report.positive),
            "value": value_text(name, statistic),
            "interval": interval_text(name, statistic),
            "remark": remark_text(name, statistic),
        }
        for name, statistic in statistics.items()
    ]


def judge_words(judge: str, *, is_short: bool = False) -> str:
    """Return what a judge is called on the page."""
    name = judge.removeprefix(JUDGE)
    return name if is_short else f"Judge {name}"


_SHOW_WORDS = {
    Show.DIFFERENT: "All disagreements",
    Show.TOO_KIND: "Judge too kind",
    Show.TOO_STRICT: "Judge too strict",
    Show.ALL: "All outcomes",
}
_CORRECTED_PARTIAL = {
    Folding.FAIL: "Partial counts as Fail.",
    Folding.PASS: "Partial counts as Pass.",
    Folding.THREE: "Partial counts as half a Pass.",
}
_FOLDED_WORDS = {
    Folding.FAIL: "Partial folded into Fail",
    Folding.PASS: "Partial folded into Pass",
    Folding.THREE: "Three marks",
}
