"""The curve of a planner: how many outcomes an interval needs, by its width."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10

from annotation.reports.chart_parts import Anchor, Chart, Ink, Voice
from annotation.reports.charts import CHARACTER, Drawing, num, square


def plan_curve(
    points: Sequence[tuple[float, int]], *, wanted: tuple[float, int], width: int, words: str
) -> Chart:
    """Draw numbers of outcomes, on a scale of powers of ten, over widths; `wanted` is marked on the curve."""
    drawing = Drawing(width=width)
    left, right, top, bottom = 52.0, width - 14.0, 26.0, 236.0
    everything = sorted({*points, wanted})
    low = floor(log10(min(n for _, n in everything)))
    high = max(low + 1, ceil(log10(max(n for _, n in everything))))
    first, last = everything[0][0], max(everything[-1][0], everything[0][0] + 0.01)

    def x_of(share: float) -> float:
        return left + 8 + (right - left - 16) * (share - first) / (last - first)

    def y_of(n: float) -> float:
        return bottom - (bottom - top) * (log10(n) - low) / (high - low)

    for power in range(low, high + 1):
        drawing.path(Ink.GRID, f"M{num(left)} {num(y_of(10**power))}H{num(right)}")
        drawing.word(Voice.TICK, f"{10**power:,}", left - 8, y_of(10**power) + 4, Anchor.END)
    step = 0.1 if width > 500 or last - first > 0.35 else 0.05
    for place in range(ceil(first / step - 1e-9), floor(last / step + 1e-9) + 1):
        tick = place * step
        drawing.path(Ink.GRID, f"M{num(x_of(tick))} {num(top)}V{num(bottom)}")
        drawing.word(Voice.TICK, f"{tick:.2g}", x_of(tick), bottom + 18, Anchor.MIDDLE)
    drawing.word(Voice.TICK, "Outcomes", 0, 12)
    drawing.word(Voice.TICK, "Width of the interval", right, bottom + 38, Anchor.END)
    drawing.path(Ink.LINE_FIRST, "M" + "L".join(f"{num(x_of(x))} {num(y_of(n))}" for x, n in everything))
    x, y = x_of(wanted[0]), y_of(wanted[1])
    drawing.path(Ink.LIMIT, f"M{num(left)} {num(y)}H{num(x)}V{num(bottom)}")
    drawing.path(Ink.MARKER_ALL, square(x, y))
    text = f"{wanted[1]:,} outcomes"
    is_far = x + 12 + CHARACTER * len(text) > right
    drawing.word(
        Voice.STRONG, text, x - 10 if is_far else x + 10, y - 8, Anchor.END if is_far else Anchor.START
    )
    return drawing.chart(height=bottom + 44, words=words)
