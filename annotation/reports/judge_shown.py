"""A judge against people in the words and cells of a page: figures with their intervals, the forest plot, warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.agreement.ceiling import Ceiling
from annotation.agreement.groups import GroupAgreement
from annotation.agreement.intervals import FEW_CLUSTERS
from annotation.agreement.report import Report
from annotation.agreement.values import Statistic, Undefined, Value
from annotation.reports.campaign_findings import By, Comparison, Folding
from annotation.reports.chart_parts import Chart, Scale
from annotation.reports.charts import written
from annotation.reports.forests import ForestWords, agreement_forest
from benchmark.display import UNDEFINED, points, whole

WIDTHS = (884, 620, 340)
"""Of charts: the page shows the widest that its card has room for."""

MOST_ROWS = 60
"""Of a forest plot."""

BY_WORDS = {By.AGENT: "Code agent", By.KIND: "Kind", By.PROJECT: "Project"}
FOLDING_WORDS = {Folding.FAIL: "Partial as Fail", Folding.PASS: "as Pass", Folding.THREE: "Three marks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stat:
    """One figure of the row on top: its value, what stands under it, and what it means."""

    name: str
    label: str
    value: str
    under: tuple[str, ...]
    definition: str
    is_hot: bool = False


def stats_of(compared: Comparison, ceiling: Ceiling | None) -> list[Stat]:
    """Return the figures that are never shown without each other."""
    found = compared.pair.statistics
    is_three = compared.ratings.n_labels > 2
    accuracy = found["po" if is_three else "accuracy"]
    always = found["always_pass_accuracy"]
    pair = compared.pair
    passed, n = int(pair.table[-1].sum()), pair.n
    rejected = int(pair.table[:-1, :-1].sum())
    human = None if ceiling is None else ceiling.human_human["cohen_kappa"]
    return [
        _share("accuracy", "Exact agreement" if is_three else "Accuracy", accuracy),
        Stat(
            name="always",
            label="Always Pass",
            value=value_words(always, Scale.SHARE),
            under=("on the same outcomes",),
            definition=_MEANS["always"],
            is_hot=beats(always, accuracy),
        ),
        _coefficient("kappa", "Cohen's kappa", found["cohen_kappa"]),
        _coefficient("ac1", "Gwet's AC1", found["gwet_ac1"]),
        _share(
            "specificity",
            "Specificity",
            found["specificity"],
            before=f"{whole(rejected)} of {whole(n - passed)}",
        ),
        Stat(
            name="prevalence",
            label="Prevalence of Pass",
            value=f"{points(passed / n)}%" if n else UNDEFINED,
            under=(f"{whole(passed)} of {whole(n)}, by people",),
            definition=_MEANS["prevalence"],
        ),
        _share("balanced", "Balanced accuracy", found["balanced_accuracy"]),
        Stat(
            name="ceiling",
            label="Human ceiling",
            value=value_words(human, Scale.COEFFICIENT),
            under=under(human, Scale.COEFFICIENT, before="kappa")
            if human is not None
            else ("no outcome was marked by two people",),
            definition=_MEANS["ceiling"],
        ),
    ]


def beats(baseline: Statistic | None, accuracy: Statistic | None) -> bool:
    """Whether a judge that looks at nothing is right as often as this one."""
    return isinstance(baseline, Value) and isinstance(accuracy, Value) and baseline.value >= accuracy.value


def headline(compared: Comparison) -> str:
    """Return what nobody may overlook, or nothing: that looking at nothing would do as well."""
    found = compared.pair.statistics
    accuracy = found["po" if compared.ratings.n_labels > 2 else "accuracy"]
    always = found["always_pass_accuracy"]
    if not (isinstance(accuracy, Value) and isinstance(always, Value) and beats(always, accuracy)):
        return ""
    table, n = compared.pair.table, compared.pair.n
    failed, rejected = int(table[:-1].sum()), int(table[:-1, :-1].sum())
    more = "which is more than" if always.value > accuracy.value else "as often as"
    sentence = (
        f"A judge that always says Pass would agree in {points(always.value)}%, {more} this judge"
        f"{f"'s {points(accuracy.value)}%" if always.value > accuracy.value else ''}."
    )
    if not failed:
        return f"{sentence} People passed all {n:,}, so nothing is known of how the judge treats a failure."
    noun = "outcome" if failed == 1 else "outcomes"
    return (
        f"{sentence} Only {failed:,} {noun} of {n:,} did not pass, and the judge found {rejected:,} of them."
    )


def forest_of(
    compared: Comparison,
    groups: Sequence[GroupAgreement],
    ceiling: Ceiling | None,
    *,
    by: By,
    hrefs: Sequence[str] = (),
    width: int,
) -> Chart:
    """Draw accuracy and kappa of all outcomes, of each group and between people; groups lead to `hrefs`."""
    return agreement_forest(
        compared.pair.statistics,
        groups,
        ceiling,
        n=compared.pair.n,
        n_labels=compared.ratings.n_labels,
        words=ForestWords(
            whole="All outcomes", positive="Pass", finding=_forest_words(compared, groups, by=by)
        ),
        width=width,
        hrefs=hrefs,
    )


def most_disputed(groups: Sequence[GroupAgreement]) -> Sequence[GroupAgreement]:
    """Return the groups that a chart has room for: where there are more, those with most disagreements."""
    if len(groups) <= MOST_ROWS:
        return groups
    ranked = sorted(groups, key=lambda group: -(group.too_kind + group.too_strict))[:MOST_ROWS]
    return [group for group in groups if group in ranked]


def caption(report: Report, compared: Comparison, *, by: By) -> str:
    """Return how the intervals were made, and where they are to be mistrusted."""
    unit = "projects" if report.is_clustered else "outcomes"
    n = compared.pair.n_clusters
    words = f"Percentile bootstrap over {n:,} {unit}, {report.resamples:,} resamples, seed {report.seed}."
    if report.is_clustered and 1 < n < FEW_CLUSTERS:
        words += (
            f" With so few projects it is too narrow: the figures above and the table of all statistics"
            f" have a jackknife interval (t, {n - 1} degrees of freedom) beside it."
        )
    if by is By.PROJECT:
        words += " A single project has no interval over projects."
    if n == 1:
        words = "All outcomes lie in one project, so there is no interval over projects."
    return words


def value_words(statistic: Statistic | None, scale: Scale) -> str:
    """Return a value as it is printed large, or a dash."""
    if not isinstance(statistic, Value):
        return UNDEFINED
    return written(statistic.value, scale) + ("%" if scale is Scale.SHARE else "")


def interval_words(statistic: Statistic | None, scale: Scale) -> str:
    """Return "90.0 to 95.6", or nothing where there is no interval."""
    if not isinstance(statistic, Value) or statistic.low is None or statistic.high is None:
        return ""
    return f"{written(statistic.low, scale)} to {written(statistic.high, scale)}"


def under(statistic: Statistic | None, scale: Scale, *, before: str = "") -> tuple[str, ...]:
    """Return the lines under a value: its interval, the jackknife's where clusters are few, or why there is none."""
    if statistic is None:
        return (before,) if before else ()
    if isinstance(statistic, Undefined):
        return (statistic.reason.sentence,)
    interval = interval_words(statistic, scale) or "no interval"
    lines = [f"{before}, {interval}" if before else interval]
    if (jackknife := statistic.jackknife) is not None:
        low = max(0.0 if scale is Scale.SHARE else -1.0, jackknife.low)
        lines.append(f"jackknife {written(low, scale)} to {written(min(1.0, jackknife.high), scale)}")
    return tuple(lines)


def _share(name: str, label: str, statistic: Statistic, *, before: str = "") -> Stat:
    return _stat(name, label, statistic, Scale.SHARE, before=before)


def _coefficient(name: str, label: str, statistic: Statistic) -> Stat:
    return _stat(name, label, statistic, Scale.COEFFICIENT)


def _stat(name: str, label: str, statistic: Statistic, scale: Scale, *, before: str = "") -> Stat:
    return Stat(
        name=name,
        label=label,
        value=value_words(statistic, scale),
        under=under(statistic, scale, before=before),
        definition=_MEANS[name],
    )


def _forest_words(compared: Comparison, groups: Sequence[GroupAgreement], *, by: By) -> str:
    """The finding of the forest plot in a sentence."""
    known: list[tuple[float, str]] = []
    for group in groups:
        kappa = group.statistics["cohen_kappa"]
        if isinstance(kappa, Value):
            known.append((kappa.value, group.name))
    words = f"Accuracy and Cohen's kappa by {BY_WORDS[by].lower()}, with 95% intervals."
    if len(known) > 1:
        (low, lowest), (high, highest) = min(known), max(known)
        words += f" Kappa is lowest for {lowest}, {low:.2f}, and highest for {highest}, {high:.2f}."
    return words


_MEANS = {
    "accuracy": "The share of outcomes on which the judge gives the same mark as people.",
    "always": "What a judge that passes everything without looking would reach on the same outcomes. "
    "An accuracy near it says nothing of the judge.",
    "kappa": "Agreement beyond what two raters with these shares of Pass would reach by chance: "
    "0 is chance, 1 is perfect. Where nearly everything passes it is unstable; read AC1 and specificity with it.",
    "ac1": "Agreement beyond chance after Gwet, whose chance is small where nearly everything passes.",
    "specificity": "Of the outcomes that people did not pass, the share that the judge did not pass either.",
    "prevalence": "The share of outcomes that people passed.",
    "balanced": "The mean of the shares found among passed and among failed outcomes: 50% is chance.",
    "ceiling": "Cohen's kappa between people, pooled over their pairs, on outcomes that two or more marked. "
    "A judge cannot be shown to be better than that.",
}
