"""The figures of an appendix: counts of each pair, a forest plot of each grouping, scores with their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.agreement.estimating import Resampling
from annotation.agreement.groups import GroupAgreement, group_agreements
from annotation.agreement.ratings import Ratings
from annotation.agreement.report import Report
from annotation.agreement.report_parts import PairReport
from annotation.agreement.values import Statistic, Value
from annotation.reports.chart_parts import Chart, ForestRow, Kind, Panel, Scale
from annotation.reports.charts import confusion, forest
from annotation.reports.score_charts import scatter
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
    # The chart draws second minus first, the statistics are of first minus second.
    bias, *limits = (_negated(pair.statistics.get(each)) for each in ("bias", "limit_high", "limit_low"))
    drawn = (limits[0], limits[1]) if limits[0] is not None and limits[1] is not None else None
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
    share = "po" if len(report.labels) > 2 else "accuracy"
    rows = [ForestRow(name="All units", n=pair.n, kind=Kind.ALL)]
    rows += [ForestRow(name=group.name, n=group.n) for group in groups]
    every = [pair.statistics, *(group.statistics for group in groups)]
    shares: list[Statistic | None] = [found[share] for found in every]
    kappas: list[Statistic | None] = [found["cohen_kappa"] for found in every]
    baselines = [_value(found["always_pass_accuracy"]) for found in every]
    if report.ceiling is not None:
        between = report.ceiling.human_human
        n = next((each.n for each in between.values() if isinstance(each, Value)), 0)
        rows.append(ForestRow(name="Person – person", n=n, kind=Kind.CEILING))
        shares.append(between["po"])
        kappas.append(between["cohen_kappa"])
        baselines.append(None)
    title = "Exact agreement" if share == "po" else "Accuracy"
    words = (
        f"{title} and Cohen's kappa of {pair.raters[1]} against {pair.raters[0]} by {by}, with 95% intervals. "
        f"Ticks mark the accuracy of always saying {report.positive}."
    )
    panels = [
        Panel(
            title=title,
            scale=Scale.SHARE,
            estimates=tuple(shares),
            baselines=tuple(baselines),
            baseline_words=f"always {report.positive}",
        ),
        Panel(title="Cohen's kappa", scale=Scale.COEFFICIENT, estimates=tuple(kappas)),
    ]
    return Figure(name=name, caption=words, chart=forest(rows, panels, width=_WIDE, words=words))


def _value(statistic: Statistic | None) -> float | None:
    return statistic.value if isinstance(statistic, Value) else None


def _negated(statistic: Statistic | None) -> float | None:
    value = _value(statistic)
    return None if value is None else -value
