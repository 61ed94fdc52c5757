"""How one number is written: shares as percentages, counts whole, undefined as a dash."""

from __future__ import annotations

from benchmark.rules.records import Estimate
from benchmark.rules.vocabulary import Unit

DASH = "–"
MINUS = "−"


def value_text(estimate: Estimate | None, unit: Unit) -> str:
    """The value alone: `83.6`, `4`, or a dash where it is undefined."""
    if estimate is None or estimate.value is None:
        return DASH
    if unit is Unit.COUNT:
        text = f"{estimate.value:.10g}"
    else:
        text = f"{100 * estimate.value:.1f}"
    # A rounded zero has no sign.
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", MINUS)


def half_width_text(estimate: Estimate | None, unit: Unit) -> str:
    """The 95% half-width, or nothing where there is none."""
    if estimate is None or estimate.value is None or estimate.half_width is None:
        return ""
    return f"{100 * estimate.half_width:.1f}" if unit is Unit.SHARE else f"{estimate.half_width:.1f}"
