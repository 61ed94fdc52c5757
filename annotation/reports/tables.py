"""A report of agreement as tables of text, the same for every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotation.agreement.report import Report
from annotation.agreement.report_parts import PairReport
from annotation.agreement.values import Method, Statistic, Value
from annotation.reports.statistic_names import interval_text, remark_text, value_text, with_interval, words_of

MOST_LABELS_SHOWN = 12
# Agreement is never shown without what chance, or always giving one answer, would reach.
_WITHOUT_GOLD = ("po", "pe_cohen", "cohen_kappa", "gwet_ac1", "krippendorff_nominal")
_WITH_GOLD = ("accuracy", "always_pass_accuracy", "cohen_kappa", "gwet_ac1", "specificity", "f1")
_FIRST = (
    "accuracy",
    "always_pass_accuracy",
    "always_fail_accuracy",
    "cohen_kappa",
    "gwet_ac1",
    "specificity",
    "prevalence_index_signed",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table whose cells are written; the first column names the row."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def facts_of(report: Report) -> tuple[str, ...]:
    """Return what was compared, a line each."""
    clusters = f"{report.n_clusters:,} clusters" if report.is_clustered else "no clusters given"
    missing = report.n_units * len(report.raters) - report.n_ratings
    size = f"{report.n_units:,} units, {len(report.raters)} raters, {clusters}"
    return (
        f"{size}, {report.n_ratings:,} ratings, {missing:,} missing",
        f"Labels, lowest first: {', '.join(report.labels[:50])}{', ...' if len(report.labels) > 50 else ''}",
        f"Positive label: {report.positive}. Gold rater: {report.gold or 'none'}",
        *(f"Left out: {each.n:,}, {each.reason}" for each in report.excluded),
    )


def tables_of(report: Report) -> tuple[TextTable, ...]:
    """Return every table of a report: pairs first, then each in full, then all raters and what changes them."""
    return tuple(_tables(report))


def _tables(report: Report) -> Iterator[TextTable]:
    positive = report.positive
    with_gold = [pair for pair in report.pairs if pair.raters[0] == report.gold]
    others = [pair for pair in report.pairs if pair.raters[0] != report.gold]
    if with_gold:
        yield _pairs(with_gold, _WITH_GOLD, title=f"Against {report.gold}", positive=positive)
    if others:
        title = "The other pairs" if with_gold else "Pairs of raters"
        yield _pairs(others, _WITHOUT_GOLD, title=title, positive=positive)
    for pair in with_gold or (others if len(others) == 1 else []):
        if 0 < len(report.labels) <= MOST_LABELS_SHOWN and pair.table.size:
            yield _crossed(pair, report)
        yield _in_full(" and ".join(pair.raters), pair.statistics, positive=positive)
    if len(report.pairs) > 1:
        yield _in_full("All raters together", report.statistics, positive=positive)
    for fold, pairs in report.folds.items():
        if not pairs:
            continue
        highest, lowest = report.labels[-1], report.labels[0]
        kept = [pair for pair in pairs if pair.raters[0] == report.gold] or list(pairs)
        columns = _WITH_GOLD if kept[0].raters[0] == report.gold else _WITHOUT_GOLD
        target = lowest if fold.value.endswith("fail") else highest
        title = f"Two labels: what lies between {lowest} and {highest} as {target}"
        yield _pairs(kept, columns, title=title, positive=kept[0].positive)
    if report.sensitivity:
        title = "Over units with two or more ratings only"
        yield _in_full(title, report.sensitivity, positive=positive)
    if report.ceiling is not None:
        people = "People among themselves", "The others against people", "Difference"
        parts = report.ceiling.human_human, report.ceiling.judge_human, report.ceiling.gap
        yield TextTable(
            title="The human ceiling",
            head=("Statistic", *people),
            rows=tuple(
                (
                    words_of(name, positive=positive),
                    *(with_interval(name, part.get(name)) for part in parts),
                )
                for name in report.ceiling.human_human
            ),
        )


def _pairs(pairs: Sequence[PairReport], columns: Sequence[str], *, title: str, positive: str) -> TextTable:
    return TextTable(
        title=title,
        head=("Pair", "n", *(words_of(name, positive=positive) for name in columns)),
        rows=tuple(
            (
                " and ".join(pair.raters),
                f"{pair.n:,}",
                *(with_interval(name, pair.statistics.get(name)) for name in columns),
            )
            for pair in pairs
        ),
        note="95% intervals in brackets.",
    )


def _crossed(pair: PairReport, report: Report) -> TextTable:
    counts = pair.table
    first, second = pair.raters
    body = [
        (label, *(f"{count:,}" for count in row), f"{row.sum():,}")
        for label, row in zip(report.labels, counts, strict=True)
    ]
    totals = ("all", *(f"{count:,}" for count in counts.sum(axis=0)), f"{counts.sum():,}")
    return TextTable(
        title=f"What {first} (rows) and {second} (columns) said",
        head=(first, *report.labels, "all"),
        rows=(*body, totals),
    )


def _in_full(title: str, statistics: Mapping[str, Statistic], *, positive: str) -> TextTable:
    names = [*(name for name in _FIRST if name in statistics), *(n for n in statistics if n not in _FIRST)]
    methods = Counter(each.method for each in statistics.values() if isinstance(each, Value))
    usual = str(methods.most_common(1)[0][0]) if methods else ""
    return TextTable(
        title=title,
        head=("Statistic", "Value", "95% interval", "n", "Remark"),
        rows=tuple(
            (
                words_of(name, positive=positive),
                value_text(name, statistics[name]),
                interval_text(name, statistics[name]),
                _count(statistics[name]),
                remark_text(name, statistics[name], usual=usual),
            )
            for name in names
        ),
        note=f"Intervals without a remark: {usual}." if usual not in ("", Method.NONE) else "",
    )


def _count(statistic: Statistic) -> str:
    return f"{statistic.n:,}" if isinstance(statistic, Value) else ""
