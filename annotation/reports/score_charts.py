"""Two more charts of agreement: how people drift on known answers, and scores of two raters with their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from annotation.agreement.intervals import wilson
from annotation.agreement.values import Statistic, Value
from annotation.reports.chart_parts import Anchor, Chart, DriftLine, Ink, Voice
from annotation.reports.charts import CHARACTER, Drawing, Place, circle, num, shortened, square, triangle

_LINES = (Ink.LINE_FIRST, Ink.LINE_SECOND, Ink.LINE_THIRD)
_MARKS = (Ink.MARK_FIRST, Ink.MARK_SECOND, Ink.MARK_THIRD)
_SHAPES = (circle, square, triangle)
_LABELS_APART = 15


def difference_drawn(statistics: Mapping[str, Statistic]) -> tuple[float | None, tuple[float, float] | None]:
    """Return the mean difference of two raters' scores and its limits of agreement as a scatter draws them.

    Statistics are of the first minus the second; the chart has the second on its upright axis.
    """
    bias, low, high = (
        -each.value if isinstance(each, Value) else None
        for each in map(statistics.get, ("bias", "limit_high", "limit_low"))
    )
    return bias, (low, high) if low is not None and high is not None else None


def drift(lines: Sequence[DriftLine], *, width: int, words: str) -> Chart:
    """Draw the share of known answers that people marked right, block after block, on an axis of time.

    At most three people have a colour; each block has its Wilson interval. Times are seconds since 1970.
    """
    drawing = Drawing(width=width)
    names = min(
        150.0 if width > 500 else 96.0, 40 + CHARACTER * max((len(line.name) for line in lines), default=0)
    )
    left, right, top, bottom = 34.0, width - names, 12.0, 196.0
    times = [block.at for line in lines for block in line.blocks]
    first, last = min(times, default=0.0), max(times, default=1.0)
    span = max(1.0, last - first)

    def x_of(at: float) -> float:
        return left + 10 + (right - left - 20) * ((at - first) / span if last > first else 0.5)

    def y_of(share: float) -> float:
        return bottom - (bottom - top) * share

    for tick in (0, 25, 50, 75, 100):
        y = y_of(tick / 100)
        drawing.path(Ink.GRID, f"M{num(left)} {num(y)}H{num(right)}")
        drawing.word(Voice.TICK, str(tick), left - 8, y + 4, Anchor.END)
    drawing.word(Voice.TICK, _day(first), left, bottom + 22)
    if _day(last) != _day(first):
        drawing.word(Voice.TICK, _day(last), right, bottom + 22, Anchor.END)
    ends = []
    for place in range(len(lines) - 1, -1, -1):
        line = lines[place]
        ink = _LINES[place] if place < 3 else Ink.LINE_OTHER
        mark = _MARKS[place] if place < 3 else Ink.MARK_OTHER
        points = [(x_of(block.at), y_of(block.right / block.n)) for block in line.blocks]
        for block, (x, _) in zip(line.blocks, points, strict=True):
            interval = wilson(block.right / block.n, block.n)
            drawing.path(
                mark, f"M{num(x - 0.7)} {num(y_of(interval.high))}h1.4V{num(y_of(interval.low))}h-1.4z"
            )
        if len(points) > 1:
            drawing.path(ink, "M" + "L".join(f"{num(x)} {num(y)}" for x, y in points))
        for x, y in points:
            drawing.path(mark, _SHAPES[min(place, 2)](x, y))
        ends.append((points[-1][1] + 4, line))
    for y, line in _apart(sorted(ends, key=lambda end: end[0]), lowest=bottom + 4):
        block = line.blocks[-1]
        share = f" {100 * block.right / block.n:.0f}"
        name = shortened(line.name, room=names - 10 - CHARACTER * len(share))
        drawing.word(Voice.NAME, name + share, right + 8, y)
    return drawing.chart(height=bottom + 30, words=words)


def scatter(
    points: Sequence[tuple[float, float]],
    *,
    names: tuple[str, str],
    ends: tuple[float, float],
    bias: float | None,
    limits: tuple[float, float] | None,
    width: int,
    words: str,
) -> Chart:
    """Draw the scores of two raters against each other, with the line of equal scores.

    `bias` is the mean of second minus first, `limits` the limits of agreement of that difference; each is a
    line beside that of equal scores. `ends` are those of the scale.
    """
    drawing = Drawing(width=width)
    size = min(width - 60, 320)
    left, top = 44.0, 30.0
    right, bottom = left + size, top + size
    low, high = ends
    length = (high - low) or 1.0

    def x_of(score: float) -> float:
        return left + size * (score - low) / length

    def y_of(score: float) -> float:
        return bottom - size * (score - low) / length

    for step in range(5):
        tick = low + length * step / 4
        drawing.path(Ink.GRID, f"M{num(left)} {num(y_of(tick))}H{num(right)}")
        drawing.path(Ink.GRID, f"M{num(x_of(tick))} {num(top)}V{num(bottom)}")
        drawing.word(Voice.TICK, f"{tick:g}", left - 7, y_of(tick) + 4, Anchor.END)
        drawing.word(Voice.TICK, f"{tick:g}", x_of(tick), bottom + 17, Anchor.MIDDLE)
    drawing.path(Ink.SAME, _diagonal(0.0, low=low, high=high, x_of=x_of, y_of=y_of))
    for offset, ink in ((bias, Ink.WHISKER_ALL), *((each, Ink.LIMIT) for each in limits or ())):
        if offset is not None and abs(offset) < length:
            drawing.path(ink, _diagonal(offset, low=low, high=high, x_of=x_of, y_of=y_of))
    for first, second in points:
        drawing.path(Ink.POINT, circle(x_of(first), y_of(second), 3.5))
    drawing.word(Voice.NAME, f"{shortened(names[0], room=size - 10)} →", right, bottom + 36, Anchor.END)
    drawing.word(Voice.NAME, f"↑ {shortened(names[1], room=size - 20)}", left, 14)
    return drawing.chart(height=bottom + 44, words=words)


def _diagonal(offset: float, *, low: float, high: float, x_of: Place, y_of: Place) -> str:
    start, end = max(low, low - offset), min(high, high - offset)
    return f"M{num(x_of(start))} {num(y_of(start + offset))}L{num(x_of(end))} {num(y_of(end + offset))}"


def _apart(ends: Sequence[tuple[float, DriftLine]], *, lowest: float) -> list[tuple[float, DriftLine]]:
    """Labels moved apart where two would touch, never below the axis."""
    ys: list[float] = []
    for y, _ in ends:
        ys.append(max(y, ys[-1] + _LABELS_APART) if ys else max(y, 12.0))
    floor = lowest
    for place in range(len(ys) - 1, -1, -1):
        ys[place] = min(ys[place], floor)
        floor = ys[place] - _LABELS_APART
    return [(y, line) for y, (_, line) in zip(ys, ends, strict=True)]


def _day(at: float) -> str:
    day = datetime.fromtimestamp(at, tz=UTC)
    return f"{day.day} {day:%b %Y}"
