"""The figures of an appendix: counts of each pair, a forest plot of each grouping, scores with their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.agreement.estimating import Resampling
from annotation.agreement.groups import GroupAgreement, group_agreements
from annotation.agreement.ratings import Ratings
from annotation.agreement.report import Report
from annotation.agreement.report_parts import PairReport
from annotation.reports.chart_parts import Chart
from annotation.reports.charts import confusion
from annotation.reports.forests import ForestWords, agreement_forest, share_of
from annotation.reports.score_charts import difference_drawn, scatter
from annotation.reports.svg import as_svg

MOST_LABELS_DRAWN = 6
MOST_GROUPS = 60
MOST_PAIRS = 12
_WIDE, _SQUARE = 884, 420

type Groups = Mapping[str, Mapping[str, tuple[GroupAgreement, ...]]]
"""By pair, then by what units are grouped by: kind, agent or cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart for paper under the name of its files."""

    name: str
    caption: str
    chart: Chart

    @property
    def svg(self) -> str:
        return as_svg(self.chart)


def groups_of(report: Report, ratings: Ratings, agents: Mapping[str, str]) -> Groups:
    """Return each rater against gold by kind, code agent and cluster, where there are from 2 to 60 of them."""
    found: dict[str, dict[str, tuple[GroupAgreement, ...]]] = {}
    for pair in _gold_pairs(report):
        two = ratings.pair(*pair.raters)
        groupings = {
            "kind": [kind or "no kind" for kind in two.kinds or ()],
            "agent": [agents[unit] for unit in two.units if unit in agents],
            "cluster": [two.clusters[index] for index in two.cluster_of.tolist()] if two.is_clustered else [],
        }
        found[pair.key] = {
            by: group_agreements(
                two,
                names,
                positive=ratings.label_index(report.positive),
                resampling=Resampling(
                    resamples=report.resamples, seed=report.seed, is_clustered=two.is_clustered
                ),
            )
            for by, names in groupings.items()
            if 2 <= len(set(names)) <= MOST_GROUPS
        }
    return {key: by for key, by in found.items() if by}


def figures_of(report: Report, ratings: Ratings, groups: Groups) -> list[Figure]:
    """Return every figure; a report of very many pairs has those of the first ones."""
    figures = []
    for number, pair in enumerate(_drawn_pairs(report), start=1):
        suffix = f"-{number}"
        if 0 < pair.table.size <= MOST_LABELS_DRAWN**2 and ratings.numbers is None:
            figures.append(_confusion(pair, report, name=f"confusion{suffix}"))
        if ratings.numbers is not None and pair.n:
            figures.append(_scatter(pair, ratings, name=f"scores{suffix}"))
        figures += [
            _forest(pair, report, by, found, name=f"forest-{by}{suffix}")
            for by, found in groups.get(pair.key, {}).items()
        ]
    return figures


def _gold_pairs(report: Report) -> list[PairReport]:
    return [pair for pair in report.pairs if pair.confusion is not None]


def _drawn_pairs(report: Report) -> list[PairReport]:
    return (_gold_pairs(report) or list(report.pairs))[:MOST_PAIRS]


def _confusion(pair: PairReport, report: Report, *, name: str) -> Figure:
    first, second = pair.raters
    words = (
        f"What {first} (rows) and {second} (columns) said of {pair.n:,} units. Shades are shares of the row."
    )
    chart = confusion(pair.table.tolist(), report.labels, words=words, rows=first, columns=second)
    return Figure(name=name, caption=words, chart=chart)


def _scatter(pair: PairReport, ratings: Ratings, *, name: str) -> Figure:
    first, second = pair.raters
    scores = ratings.pair(first, second).scores
    assert ratings.numbers is not None
    bias, drawn = difference_drawn(pair.statistics)
    words = f"Scores of {first} and {second} on {pair.n:,} units."
    if bias is not None and drawn is not None:
        words += (
            f" {second} minus {first} is {bias:.2f} on average; the limits of agreement are {drawn[0]:.2f} "
            f"and {drawn[1]:.2f}. Dotted: equal scores; solid: the mean difference; dashed: the limits."
        )
    chart = scatter(
        sorted({(float(one), float(other)) for one, other in scores}),
        names=(first, second),
        ends=(float(ratings.numbers.min()), float(ratings.numbers.max())),
        bias=bias,
        limits=drawn,
        width=_SQUARE,
        words=words,
    )
    return Figure(name=name, caption=words, chart=chart)


def _forest(
    pair: PairReport, report: Report, by: str, groups: Sequence[GroupAgreement], *, name: str
) -> Figure:
    _, title = share_of(len(report.labels))
    words = (
        f"{title} and Cohen's kappa of {pair.raters[1]} against {pair.raters[0]} by {by}, with 95% intervals. "
        f"Ticks mark the accuracy of always saying {report.positive}."
    )
    chart = agreement_forest(
        pair.statistics,
        groups,
        report.ceiling,
        n=pair.n,
        n_labels=len(report.labels),
        words=ForestWords(whole="All units", positive=report.positive, finding=words),
        width=_WIDE,
    )
    return Figure(name=name, caption=words, chart=chart)
