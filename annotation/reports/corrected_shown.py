"""Corrected pass rates beside the judge's own, as rows of a table and as a chart."""

from __future__ import annotations

from typing import Any

from annotation.agreement.corrected import Corrected
from annotation.agreement.values import Flag, Interval, Statistic, Undefined, Value
from annotation.reports.campaign_corrected import CorrectedRuns
from annotation.reports.chart_parts import Chart, ForestRow, Kind, Panel, Scale
from annotation.reports.charts import forest, written
from annotation.reports.judge_shown import interval_words, value_words
from benchmark.display import UNDEFINED, signed_points, whole

WIDTHS = (620, 340)


def corrected_rows(found: CorrectedRuns) -> list[dict[str, Any]]:
    """Return all code agents together, then each, the best corrected figure first."""
    ordered = _ordered(found)
    return [
        {
            "name": name,
            "is_all": not place,
            "n": whole(each.n),
            "n_labelled": whole(each.n_labelled),
            "figures": [
                _cell(each.raw),
                _cell(each.prediction_powered),
                _cell(each.rogan_gladen),
                _cell(each.people),
            ],
            "bias": signed_points(each.bias.value) if isinstance(each.bias, Value) else UNDEFINED,
            "bias_interval": _bias_interval(each.bias),
        }
        for place, (name, each) in enumerate(ordered)
    ]


def other_rows(found: CorrectedRuns) -> list[dict[str, Any]]:
    """Return what else is corrected of all code agents together: for projects like these, and whole projects."""
    shown: list[tuple[str, Corrected | Undefined]] = [
        ("For projects like these", found.over_projects),
        ("Mean over projects", found.per_project),
        ("Projects completed", found.completed),
    ]
    return [{"name": name} | _other(each) for name, each in shown]


def corrected_notes(found: CorrectedRuns) -> list[str]:
    """Return what to know of the corrected figures, each once with the code agents that it concerns."""
    notes = []
    for flag in Flag:
        names = [name for name, each in _ordered(found) if flag in each.flags]
        if names:
            notes.append(f"{flag.sentence.rstrip('.')}: {', '.join(names)}.")
    return notes


def corrected_charts(found: CorrectedRuns) -> list[Chart]:
    """Draw the judge's own pass rate and the corrected one of each code agent, in the order of the latter."""
    ordered = _ordered(found)
    rows = [
        ForestRow(name=name, n=each.n_labelled, kind=Kind.GROUP if place else Kind.ALL)
        for place, (name, each) in enumerate(ordered)
    ]
    panels = [
        Panel(title="Judge's own", scale=Scale.SHARE, estimates=tuple(each.raw for _, each in ordered)),
        Panel(
            title="Corrected",
            scale=Scale.SHARE,
            estimates=tuple(each.prediction_powered for _, each in ordered),
            baselines=tuple(each.raw.value if isinstance(each.raw, Value) else None for _, each in ordered),
            baseline_words="judge's own",
        ),
    ]
    return [forest(rows, panels, width=width, words=_words(found)) for width in WIDTHS]


def _ordered(found: CorrectedRuns) -> list[tuple[str, Corrected]]:
    def rank(entry: tuple[str, Corrected]) -> tuple[float, str]:
        figure = entry[1].prediction_powered
        return (-figure.value if isinstance(figure, Value) else 1.0, entry[0])

    return [("All agents", found.all), *sorted(found.by_agent.items(), key=rank)]


def _other(each: Corrected | Undefined) -> dict[str, Any]:
    if isinstance(each, Undefined):
        return {"reason": each.reason.sentence}
    powered = each.prediction_powered
    bootstrap = powered.bootstrap if isinstance(powered, Value) else None
    return {
        "figures": [_cell(each.raw), _cell(powered), _cell(each.rogan_gladen), _cell(each.people)],
        "bootstrap": "" if bootstrap is None else _interval_words(bootstrap),
    }


def _interval_words(interval: Interval) -> str:
    return f"{written(interval.low, Scale.SHARE)} to {written(interval.high, Scale.SHARE)}"


def _words(found: CorrectedRuns) -> str:
    raw, powered = found.all.raw, found.all.prediction_powered
    if not (isinstance(raw, Value) and isinstance(powered, Value)):
        return "Pass rates of the judge; they cannot be corrected here."
    return (
        f"The judge passes {written(raw.value, Scale.SHARE)}% of all outcomes; corrected by people's labels "
        f"it is {written(powered.value, Scale.SHARE)}%."
    )


def _cell(statistic: Statistic) -> dict[str, str]:
    reason = statistic.reason.sentence if isinstance(statistic, Undefined) else ""
    return {
        "value": value_words(statistic, Scale.SHARE),
        "interval": interval_words(statistic, Scale.SHARE),
        "reason": reason,
        "note": Flag.NO_ERROR_SEEN.sentence
        if isinstance(statistic, Value) and Flag.NO_ERROR_SEEN in statistic.flags
        else "",
    }


def _bias_interval(bias: Statistic) -> str:
    if not isinstance(bias, Value) or bias.low is None or bias.high is None:
        return ""
    return f"{signed_points(bias.low)} to {signed_points(bias.high)}"
