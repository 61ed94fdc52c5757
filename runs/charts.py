"""Geometry of the charts of a results page: places on a plane, no colours and no markup."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

LABEL_HEIGHT = 14.0
_CHARACTER = 6.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A share between 0 and 1 with its half-width; None where it is undefined."""

    value: float | None
    half_width: float | None = None

    @property
    def low(self) -> float | None:
        return None if self.value is None else max(0.0, self.value - (self.half_width or 0.0))

    @property
    def high(self) -> float | None:
        return None if self.value is None else min(1.0, self.value + (self.half_width or 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One agent's values in order. `slot` is 1, 2 or 3 for a coloured series, 0 for a grey one."""

    name: str
    slot: int
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A labelled place on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnLine:
    """A series as paths. `band` is empty for a grey series, and where no interval is known."""

    series: Series
    path: str
    band: str
    markers: tuple[str, ...]
    label: str
    label_y: float
    end_y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChart:
    """Rates by round, 0 to 100 upwards."""

    width: int
    height: int
    left: float
    right: float
    bottom: float
    lines: tuple[DrawnLine, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]

    @property
    def label_x(self) -> float:
        return self.right + 9


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnBar:
    """One bar from 0 with its whisker; undefined ones have a sentence in the bar's place."""

    series: Series
    y: float
    width: float
    whisker: str
    value: str
    absent: str

    @property
    def text_y(self) -> float:
        return self.y + 10


@dataclass(frozen=True, slots=True, kw_only=True)
class BarGroup:
    """All series of one kind."""

    title: str
    title_y: float
    bars: tuple[DrawnBar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """Small multiples: a group a kind, a bar a series."""

    width: int
    height: int
    left: float
    right: float
    bottom: float
    groups: tuple[BarGroup, ...]
    ticks: tuple[Tick, ...]

    @property
    def name_x(self) -> float:
        return self.left - 8


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnInterval:
    """One estimate on a scale from 0 to 100: a whisker with its marker; empty where undefined."""

    whisker: str
    marker: str


def line_chart(series: Sequence[Series], *, width: int, height: int = 244, first: int = 1) -> LineChart:
    """Draw values by round; labels stand at the ends of lines and keep clear of each other."""
    longest = max((len(each.name) for each in series), default=0)
    label_room = min(width * 0.36, (longest + 4) * _CHARACTER + 10)
    left, top, right, bottom = 32.0, 10.0, width - label_room, height - 24.0
    rounds = max((len(each.values) for each in series), default=0)

    def x_of(place: int) -> float:
        return left + 4 if rounds < 2 else left + 4 + (right - left - 8) * place / (rounds - 1)

    def y_of(share: float) -> float:
        return bottom - share * (bottom - top)

    ends = [_last(each) for each in series]
    wanted = [y_of(end) if end is not None else bottom for end in ends]
    places = spread(wanted, gap=LABEL_HEIGHT, low=top + 4, high=bottom)
    room = int((label_room - 10) / _CHARACTER)
    lines = []
    for each, end, place, end_y in zip(series, ends, places, wanted, strict=True):
        figure = "–" if end is None else f"{end * 100:.0f}"
        lines.append(
            DrawnLine(
                series=each,
                path=_path(
                    [(x_of(i), y_of(v.value)) for i, v in enumerate(each.values) if v.value is not None]
                ),
                band=_band(each, x_of, y_of) if each.slot else "",
                markers=tuple(
                    marker(each.slot, x_of(i), y_of(v.value))
                    for i, v in enumerate(each.values)
                    if v.value is not None and each.slot
                ),
                label=f"{_cut(each.name, room - len(figure) - 1)} {figure}",
                label_y=round(place + 4, 1),
                end_y=round(end_y, 1),
            )
        )
    # Grey ones first, so that what was chosen lies on top.
    lines.sort(key=lambda line: line.series.slot != 0)
    return LineChart(
        width=width,
        height=height,
        left=left,
        right=right,
        bottom=bottom,
        lines=tuple(lines),
        x_ticks=tuple(
            Tick(
                at=round(x_of(place), 1), label=f"Round {place + first}" if place == 0 else str(place + first)
            )
            for place in range(rounds)
        ),
        y_ticks=tuple(Tick(at=round(y_of(tick / 100), 1), label=str(tick)) for tick in (0, 25, 50, 75, 100)),
    )


def bar_chart(kinds: Sequence[tuple[str, Sequence[Series]]], *, width: int) -> BarChart:
    """Draw one value of each series for each kind; values stand in a column at the right."""
    longest = max((len(each.name) for _, group in kinds for each in group), default=0)
    left = min(width * 0.34, longest * _CHARACTER + 14)
    right = width - 40.0
    y = 4.0
    groups = []
    for title, group in kinds:
        title_y = y + 12
        y += 19
        bars = []
        for each in group:
            bars.append(_bar(each, y, left=left, right=right, room=int((left - 12) / _CHARACTER)))
            y += 17
        groups.append(BarGroup(title=title, title_y=title_y, bars=tuple(bars)))
        y += 8
    bottom = y
    return BarChart(
        width=width,
        height=int(bottom + 20),
        left=left,
        right=right,
        bottom=bottom,
        groups=tuple(groups),
        ticks=tuple(
            Tick(at=round(left + (right - left) * tick / 100, 1), label=str(tick)) for tick in (0, 50, 100)
        ),
    )


def interval(value: Value, *, slot: int, width: float = 240.0, y: float = 16.0) -> DrawnInterval:
    """Draw one estimate on a scale `width` wide from 0 to 100."""
    if value.value is None or value.low is None or value.high is None:
        return DrawnInterval(whisker="", marker="")
    return DrawnInterval(
        whisker=_whisker(value.low * width, value.high * width, y, tall=4.5)
        if value.half_width is not None
        else "",
        marker=marker(slot, value.value * width, y, size=4.6),
    )


def spread(wanted: Sequence[float], *, gap: float, low: float, high: float) -> list[float]:
    """Move places apart to at least `gap`, keeping their order and staying within bounds if possible."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    placed: list[float] = []
    for index in order:
        floor = placed[-1] + gap if placed else low
        placed.append(max(wanted[index], floor))
    ceiling = high
    for place in range(len(placed) - 1, -1, -1):
        placed[place] = min(placed[place], ceiling)
        ceiling = placed[place] - gap
    result = [0.0] * len(wanted)
    for place, index in enumerate(order):
        result[index] = placed[place]
    return result


def marker(slot: int, x: float, y: float, *, size: float = 4.2) -> str:
    """A path for the series' own marker: circle, square, triangle; a circle for grey ones."""
    x, y = round(x, 1), round(y, 1)
    if slot == 2:
        return f"M{x - size:.1f} {y - size:.1f}h{2 * size:.1f}v{2 * size:.1f}h{-2 * size:.1f}z"
    if slot == 3:
        return f"M{x} {y - size - 0.8:.1f}l{size + 0.8:.1f} {2 * size:.1f}h{-2 * size - 1.6:.1f}z"
    return f"M{x - size:.1f} {y}a{size} {size} 0 1 0 {2 * size:.1f} 0a{size} {size} 0 1 0 {-2 * size:.1f} 0z"


def _bar(series: Series, y: float, *, left: float, right: float, room: int) -> DrawnBar:
    value = series.values[0] if series.values else Value(value=None)
    scale = right - left
    drawn = Series(name=_cut(series.name, room), slot=series.slot, values=series.values)
    if value.value is None or value.low is None or value.high is None:
        return DrawnBar(series=drawn, y=y, width=0, whisker="", value="–", absent="undefined")
    whisker = ""
    if value.half_width is not None:
        whisker = _whisker(left + value.low * scale, left + value.high * scale, y + 6, tall=3.5)
    return DrawnBar(
        series=drawn,
        y=y,
        width=round(value.value * scale, 1),
        whisker=whisker,
        value=f"{value.value * 100:.0f}",
        absent="",
    )


def _whisker(low: float, high: float, y: float, *, tall: float) -> str:
    return (
        f"M{low:.1f} {y}H{high:.1f}M{low:.1f} {y - tall:.1f}v{2 * tall:.1f}"
        f"M{high:.1f} {y - tall:.1f}v{2 * tall:.1f}"
    )


def _last(series: Series) -> float | None:
    return series.values[-1].value if series.values else None


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) if points else ""


def _band(series: Series, x_of: Callable[[int], float], y_of: Callable[[float], float]) -> str:
    known = [(i, v) for i, v in enumerate(series.values) if v.half_width is not None and v.value is not None]
    if len(known) < 2:
        return ""
    upper = [(x_of(i), y_of(v.high or 0.0)) for i, v in known]
    lower = [(x_of(i), y_of(v.low or 0.0)) for i, v in reversed(known)]
    return _path([*upper, *lower]) + "z"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(1, most - 1)].rstrip() + "…"
