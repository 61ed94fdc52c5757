"""Charts as plain geometry: numbers in, paths and placed words out; a template sets them as SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmark.display import UNDEFINED
from benchmark.rules.records import Estimate
from runs.chart_parts import (
    Bar,
    BarChart,
    BarGroup,
    Interval,
    Line,
    LineChart,
    Segment,
    Series,
    Style,
    Word,
)

WIDE = 416
NARROW = 340
"""Widths in pixels; a chart is shown at the width that it was drawn for, so its words are never scaled."""

LINE_HEIGHT = 15
_CHARACTER = 6.9
"""Pixels that a character of 12 px takes in the widest of the likely faces, on average."""

_TICKS = (0, 25, 50, 75, 100)

type _Scale = Callable[[float], float]
type _Place = Callable[[int], float]


def interval_axis(width: int) -> tuple[Word, ...]:
    """The words above a column of intervals."""
    return tuple(Word(text=str(tick), x=_along(tick / 100, width), y=11, anchor="middle") for tick in _TICKS)


def interval_of(estimate: Estimate | None, *, style: Style, width: int, height: int = 30) -> Interval:
    """Draw one mean with its interval; what lies beyond 0 or 100 is cut off and left open."""
    grid = tuple(
        Segment(x1=_along(tick / 100, width), y1=0, x2=_along(tick / 100, width), y2=height)
        for tick in _TICKS
    )
    if estimate is None or estimate.value is None:
        reason = estimate.reason if estimate is not None and estimate.reason else "Not known."
        return Interval(
            width=width,
            height=height,
            style=style,
            grid=grid,
            span="",
            marker="",
            words=f"undefined: {reason}",
        )
    middle = height / 2
    words = f"{100 * estimate.value:.1f} per cent"
    span = ""
    if estimate.half_width is not None:
        low, high = estimate.value - estimate.half_width, estimate.value + estimate.half_width
        span = _span(low, high, width=width, y=middle)
        words += f", interval {100 * low:.1f} to {100 * high:.1f}"
    return Interval(
        width=width,
        height=height,
        style=style,
        grid=grid,
        span=span,
        marker=marker(style, _along(_clamped(estimate.value), width), middle),
        words=words,
    )


def line_chart(series: Sequence[Series], *, width: int, label_width: int = 128) -> LineChart:
    """Draw rates by round, each series labelled at its end.

    Bands are drawn for coloured series; a round without a number breaks the line.
    """
    rounds = max((len(each.estimates) for each in series), default=1)
    bottom = max(208, 10 + LINE_HEIGHT * len(series))
    left, right, top = 34.0, float(width - label_width), 10.0

    def x_of(place: int) -> float:
        return _rounded(left if rounds == 1 else left + (right - left) * place / (rounds - 1))

    def y_of(share: float) -> float:
        return _rounded(bottom - (bottom - top) * _clamped(share))

    grid = tuple(Segment(x1=left, y1=y_of(t / 100), x2=right, y2=y_of(t / 100)) for t in _TICKS)
    ticks = [Word(text=str(t), x=left - 8, y=y_of(t / 100) + 4, anchor="end") for t in _TICKS]
    ticks += [
        Word(
            text=f"Round {place + 1}" if place == 0 else str(place + 1),
            x=x_of(place),
            y=bottom + 22,
            anchor="start" if place == 0 else "end" if place == rounds - 1 else "middle",
        )
        for place in range(rounds)
    ]
    drawn = sorted(series, key=lambda each: each.style is not Style.OTHER)
    labels = _end_labels(drawn, x=right + 9, y_of=y_of, room=label_width - 9, lowest=bottom + 4)
    lines = tuple(
        Line(
            style=each.style,
            path=_path(each.estimates, x_of=x_of, y_of=y_of),
            band="" if each.style is Style.OTHER else _band(each.estimates, x_of=x_of, y_of=y_of),
            markers=()
            if each.style is Style.OTHER and rounds > 1
            else tuple(
                marker(each.style, x_of(place), y_of(estimate.value))
                for place, estimate in enumerate(each.estimates)
                if estimate is not None and estimate.value is not None
            ),
            label=label,
        )
        for each, label in zip(drawn, labels, strict=True)
    )
    return LineChart(width=width, height=int(bottom + 30), grid=grid, ticks=tuple(ticks), lines=lines)


def bar_chart(titles: Sequence[str], series: Sequence[Series], *, width: int) -> BarChart:
    """Draw a small multiple for each title; the estimates of a series are in the order of the titles."""
    name_width = min(126.0, 12 + _CHARACTER * max((len(each.name) for each in series), default=0))
    left, right = _rounded(name_width), float(width - 44)
    groups: list[BarGroup] = []
    y = 0.0
    for place, title in enumerate(titles):
        bars = tuple(
            _bar(each, each.estimates[place], y=y + 22 + 17 * row, left=left, right=right, width=width)
            for row, each in enumerate(series)
        )
        groups.append(BarGroup(title=Word(text=title, x=0, y=y + 14), bars=bars))
        y += 30 + 17 * len(series)
    bottom = max(y - 4, 20)
    ticks = (0, 50, 100)
    xs = [_rounded(left + (right - left) * tick / 100) for tick in ticks]
    return BarChart(
        width=width,
        height=int(bottom + 20),
        grid=tuple(Segment(x1=x, y1=0, x2=x, y2=bottom) for x in xs),
        ticks=tuple(
            Word(text=str(tick), x=x, y=bottom + 15, anchor="middle")
            for tick, x in zip(ticks, xs, strict=True)
        ),
        groups=tuple(groups),
    )


def marker(style: Style, x: float, y: float) -> str:
    """The path of a marker: a circle, a square or a triangle, by style."""
    if style is Style.SECOND:
        return f"M{_n(x - 3.8)} {_n(y - 3.8)}h7.6v7.6h-7.6z"
    if style is Style.THIRD:
        return f"M{_n(x)} {_n(y - 5)}L{_n(x + 5)} {_n(y + 4)}H{_n(x - 5)}z"
    radius = 3.4 if style is Style.OTHER else 4.2
    return f"M{_n(x - radius)} {_n(y)}a{radius} {radius} 0 1 0 {2 * radius} 0a{radius} {radius} 0 1 0 {-2 * radius} 0z"


def shortened(text: str, *, room: float) -> str:
    """The text, cut so that it fits into `room` pixels of 12 px type."""
    most = max(3, int(room / _CHARACTER))
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _bar(each: Series, estimate: Estimate | None, *, y: float, left: float, right: float, width: int) -> Bar:
    name = Word(text=shortened(each.name, room=left - 8), x=left - 8, y=y + 9, anchor="end")
    nothing = Word(text=UNDEFINED, x=width, y=y + 9, anchor="end")
    if estimate is None or estimate.value is None:
        reason = estimate.reason if estimate is not None and estimate.reason else "not known"
        missing = Word(text=shortened(reason.rstrip("."), room=right - left - 8), x=left + 6, y=y + 9)
        return Bar(
            style=each.style,
            name=name,
            x=left,
            y=y,
            width=0,
            height=11,
            whisker="",
            value=nothing,
            missing=missing,
        )
    whisker = ""
    if estimate.half_width is not None:
        low = left + (right - left) * _clamped(estimate.value - estimate.half_width)
        high = left + (right - left) * _clamped(estimate.value + estimate.half_width)
        middle = y + 5.5
        whisker = (
            f"M{_n(low)} {_n(middle)}H{_n(high)}M{_n(low)} {_n(middle - 3)}v6M{_n(high)} {_n(middle - 3)}v6"
        )
    return Bar(
        style=each.style,
        name=name,
        x=left,
        y=y,
        width=_rounded((right - left) * _clamped(estimate.value)),
        height=11,
        whisker=whisker,
        value=Word(text=f"{100 * estimate.value:.0f}", x=width, y=y + 9, anchor="end"),
    )


def _end_labels(
    drawn: Sequence[Series], *, x: float, y_of: _Scale, room: float, lowest: float
) -> list[Word | None]:
    """A label at the end of each series, moved apart where two would touch, never past the axis."""
    wanted: list[tuple[float, int]] = []
    texts: dict[int, str] = {}
    for place, each in enumerate(drawn):
        last = next((e for e in reversed(each.estimates) if e is not None and e.value is not None), None)
        if last is None or last.value is None:
            continue
        value = f" {100 * last.value:.0f}"
        texts[place] = shortened(each.name, room=room - _CHARACTER * len(value)) + value
        wanted.append((y_of(last.value) + 4, place))
    wanted.sort()
    ys: list[float] = []
    for y, _ in wanted:
        ys.append(max(y, ys[-1] + LINE_HEIGHT) if ys else max(y, 12))
    floor = lowest
    for index in range(len(ys) - 1, -1, -1):
        ys[index] = min(ys[index], floor)
        floor = ys[index] - LINE_HEIGHT
    labels: list[Word | None] = [None] * len(drawn)
    for (_, place), y in zip(wanted, ys, strict=True):
        labels[place] = Word(text=texts[place], x=x, y=_rounded(y))
    return labels


def _path(estimates: Sequence[Estimate | None], *, x_of: _Place, y_of: _Scale) -> str:
    parts: list[str] = []
    is_open = False
    for place, estimate in enumerate(estimates):
        if estimate is None or estimate.value is None:
            is_open = False
            continue
        parts.append(f"{'L' if is_open else 'M'}{_n(x_of(place))} {_n(y_of(estimate.value))}")
        is_open = True
    return "".join(parts)


def _band(estimates: Sequence[Estimate | None], *, x_of: _Place, y_of: _Scale) -> str:
    """Upper edge there, lower edge back, a closed piece for each stretch that has intervals."""
    pieces: list[str] = []
    stretch: list[tuple[float, float, float]] = []
    for place, estimate in enumerate([*estimates, None]):
        if estimate is not None and estimate.value is not None and estimate.half_width is not None:
            low, high = estimate.value - estimate.half_width, estimate.value + estimate.half_width
            stretch.append((x_of(place), y_of(high), y_of(low)))
            continue
        if len(stretch) > 1:
            there = "L".join(f"{_n(x)} {_n(high)}" for x, high, _ in stretch)
            back = "L".join(f"{_n(x)} {_n(low)}" for x, _, low in reversed(stretch))
            pieces.append(f"M{there}L{back}z")
        stretch = []
    return "".join(pieces)


def _span(low: float, high: float, *, width: int, y: float) -> str:
    start, end = _along(_clamped(low), width), _along(_clamped(high), width)
    path = f"M{_n(start)} {_n(y)}H{_n(end)}"
    if low >= 0:
        path += f"M{_n(start)} {_n(y - 4)}v8"
    if high <= 1:
        path += f"M{_n(end)} {_n(y - 4)}v8"
    return path


def _along(share: float, width: int) -> float:
    """Where a share stands on an axis that leaves room for half a tick's word at either end."""
    return _rounded(12 + (width - 24) * share)


def _clamped(share: float) -> float:
    return min(1.0, max(0.0, share))


def _rounded(number: float) -> float:
    return round(number, 1)


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
