"""How one number is written in a report: shares as percentages, counts whole, undefined as a dash."""

from __future__ import annotations

from benchmark.display import MINUS, UNDEFINED, points
from benchmark.rules.records import Estimate
from benchmark.rules.vocabulary import Unit


def value_text(estimate: Estimate | None, unit: Unit) -> str:
    """The value alone: `83.6`, `4`, or a dash where it is undefined."""
    if estimate is None or estimate.value is None:
        return UNDEFINED
    if unit is Unit.SHARE:
        return points(estimate.value)
    # Without thousands separators: these figures are copied into tables and programs.
    return f"{estimate.value:.10g}".replace("-", MINUS)


def half_width_text(estimate: Estimate | None, unit: Unit) -> str:
    """The 95% half-width, or nothing where there is none."""
    if estimate is None or estimate.value is None or estimate.half_width is None:
        return ""
    return points(estimate.half_width) if unit is Unit.SHARE else f"{estimate.half_width:.1f}"
