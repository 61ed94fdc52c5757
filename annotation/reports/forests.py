"""The forest plot of agreement, on a page and on paper: the share of agreement and kappa, of all and of each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.agreement.ceiling import Ceiling
from annotation.agreement.groups import GroupAgreement
from annotation.agreement.values import Statistic, Value
from annotation.reports.chart_parts import Chart, ForestRow, Kind, Panel, Scale
from annotation.reports.charts import forest


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestWords:
    """What a forest plot calls all units together and its positive label, and what it finds in a sentence."""

    whole: str
    positive: str
    finding: str


def share_of(n_labels: int) -> tuple[str, str]:
    """Return which share of agreement is drawn, by its name and in words: accuracy where there are two labels."""
    return ("po", "Exact agreement") if n_labels > 2 else ("accuracy", "Accuracy")


def agreement_forest(
    statistics: Mapping[str, Statistic],
    groups: Sequence[GroupAgreement],
    ceiling: Ceiling | None,
    *,
    n: int,
    n_labels: int,
    words: ForestWords,
    width: int,
    hrefs: Sequence[str] = (),
) -> Chart:
    """Draw the share of agreement beside what the positive label alone would reach, and kappa.

    One row is of all n units, with their `statistics`, then one of each group, which leads to its `hrefs`; the
    last is of people among themselves where there is a ceiling.
    """
    name, title = share_of(n_labels)
    rows = [ForestRow(name=words.whole, n=n, kind=Kind.ALL)]
    rows += [
        ForestRow(name=group.name, n=group.n, href=href)
        for group, href in zip(groups, hrefs or [""] * len(groups), strict=True)
    ]
    every = [statistics, *(group.statistics for group in groups)]
    shares: list[Statistic | None] = [found[name] for found in every]
    kappas: list[Statistic | None] = [found["cohen_kappa"] for found in every]
    always = [found["always_pass_accuracy"] for found in every]
    baselines = [each.value if isinstance(each, Value) else None for each in always]
    if ceiling is not None:
        between = ceiling.human_human
        compared = next((each.n for each in between.values() if isinstance(each, Value)), 0)
        rows.append(ForestRow(name="Person – person", n=compared, kind=Kind.CEILING))
        shares.append(between["po"])
        kappas.append(between["cohen_kappa"])
        baselines.append(None)
    panels = [
        Panel(
            title=title,
            scale=Scale.SHARE,
            estimates=tuple(shares),
            baselines=tuple(baselines),
            baseline_words=f"always {words.positive}",
        ),
        Panel(title="Cohen's kappa", scale=Scale.COEFFICIENT, estimates=tuple(kappas)),
    ]
    return forest(rows, panels, width=width, words=words.finding)
