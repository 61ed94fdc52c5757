"""Charts of agreement as plain geometry: statistics in, paths and placed words out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import ceil, floor

from annotation.agreement.values import Statistic, Undefined, Value
from annotation.reports.chart_parts import (
    Anchor,
    Chart,
    ForestRow,
    Ink,
    Kind,
    Panel,
    Path,
    Scale,
    Voice,
    Word,
)

WIDE = 860
NARROW = 340
"""Widths in pixels; a chart is shown at the width that it was drawn for, so its words are never scaled."""

CHARACTER = 6.7
"""Pixels that a character of 12 px takes in the widest of the likely faces, on average."""

MINUS = "−"
_ROW = 30
_NARROW_ROW = 40
_HEAD = 44
_WHISKERS = {Kind.ALL: Ink.WHISKER_ALL, Kind.GROUP: Ink.WHISKER_GROUP, Kind.CEILING: Ink.WHISKER_CEILING}
_MARKERS = {Kind.ALL: Ink.MARKER_ALL, Kind.GROUP: Ink.MARKER_GROUP, Kind.CEILING: Ink.MARKER_CEILING}

type Place = Callable[[float], float]


def forest(rows: Sequence[ForestRow], panels: Sequence[Panel], *, width: int, words: str) -> Chart:
    """Draw a row for each group and a column for each statistic; below 600 px the columns stand on each other."""
    drawing = Drawing(width=width)
    if width < 600:
        top = 0.0
        for panel in panels:
            top = _narrow_panel(drawing, rows, panel, top=top, width=width) + 18
        return drawing.chart(height=top - 10, words=words)
    names = min(210.0, 16 + CHARACTER * max((len(row.name) for row in rows), default=0))
    left, room = names + 52, (width - names - 52) / max(1, len(panels))
    drawing.word(Voice.TICK, "n", names + 30, 36, Anchor.END)
    for place, panel in enumerate(panels):
        start = left + place * room + (30 if place else 14)
        _panel(drawing, rows, panel, left=start, right=left + (place + 1) * room - 52, top=0, row_height=_ROW)
    for place, row in enumerate(rows):
        y = _HEAD + _ROW * place + 19.0
        drawing.word(_voice(row), shortened(row.name, room=names - 8), 0, y, href=row.href)
        drawing.word(Voice.TICK, f"{row.n:,}", names + 30, y, Anchor.END)
    for y in _rules(rows, top=_HEAD, row_height=_ROW):
        drawing.path(Ink.RULE, f"M0 {num(y)}H{width}")
    return drawing.chart(height=_HEAD + _ROW * len(rows) + 4, words=words)


def confusion(
    table: Sequence[Sequence[int]], labels: Sequence[str], *, words: str, rows: str, columns: str
) -> Chart:
    """Draw a table of counts, the highest label first: rows are the gold rater's, shades are shares of the row."""
    drawing = Drawing(width=NARROW)
    order = range(len(labels) - 1, -1, -1)
    left, top, gap = 74.0, 46.0, 3.0
    size, height = (NARROW - left - 46) / max(1, len(labels)), 50.0
    drawing.word(Voice.TICK, columns, left + size * len(labels) / 2, 12, Anchor.MIDDLE)
    drawing.word(Voice.TICK, rows, 0, 12)
    for place, column in enumerate(order):
        x = left + size * (place + 0.5)
        drawing.word(Voice.NAME, labels[column].capitalize(), x, 34, Anchor.MIDDLE)
        total = sum(row[column] for row in table)
        drawing.word(Voice.TICK, f"{total:,}", x, top + height * len(labels) + 20, Anchor.MIDDLE)
    for down, row in enumerate(order):
        y, total = top + height * down, sum(table[row])
        drawing.word(Voice.NAME, labels[row].capitalize(), 0, y + height / 2 + 4)
        drawing.word(Voice.TICK, f"{total:,}", NARROW, y + height / 2 + 4, Anchor.END)
        for place, column in enumerate(order):
            share = table[row][column] / total if total else 0.0
            x = left + size * place
            box = f"M{num(x)} {num(y)}h{num(size - gap)}v{num(height - gap)}h{num(gap - size)}z"
            drawing.path(heat(share), box)
            if row == column:
                drawing.path(Ink.AGREES, box)
            voice = Voice.ON_DARK if share > 0.5 else Voice.STRONG
            middle = x + (size - gap) / 2
            drawing.word(voice, f"{table[row][column]:,}", middle, y + 21, Anchor.MIDDLE)
            small = Voice.ON_DARK if share > 0.5 else Voice.TICK
            drawing.word(small, f"{100 * share:.0f}%" if total else "–", middle, y + 38, Anchor.MIDDLE)
    below = top + height * len(labels) + 20
    drawing.word(Voice.TICK, "All", 0, below)
    drawing.word(Voice.TICK, f"{sum(map(sum, table)):,}", NARROW, below, Anchor.END)
    return drawing.chart(height=below + 8, words=words)


def heat(share: float) -> Ink:
    """Return the shade of a share of its row, in six steps."""
    steps = (Ink.HEAT_0, Ink.HEAT_1, Ink.HEAT_2, Ink.HEAT_3, Ink.HEAT_4, Ink.HEAT_5)
    return steps[sum(share > limit for limit in (0.05, 0.25, 0.5, 0.7, 0.9))]


class Drawing:
    """Paths and words as they are laid down; later ones lie above earlier ones."""

    def __init__(self, *, width: int) -> None:
        self._width = width
        self._paths: list[Path] = []
        self._texts: list[Word] = []

    def path(self, ink: Ink, d: str) -> None:
        self._paths.append(Path(ink=ink, d=d))

    def word(
        self, voice: Voice, text: str, x: float, y: float, anchor: Anchor = Anchor.START, *, href: str = ""
    ) -> None:
        self._texts.append(
            Word(voice=voice, text=text, x=round(x, 1), y=round(y, 1), anchor=anchor, href=href)
        )

    def chart(self, *, height: float, words: str) -> Chart:
        return Chart(
            width=self._width,
            height=ceil(height),
            words=words,
            paths=tuple(self._paths),
            texts=tuple(self._texts),
        )


def shortened(text: str, *, room: float) -> str:
    """Return text that fits so many pixels, with an ellipsis where it had to be cut."""
    most = max(1, int(room / CHARACTER))
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def written(value: float, scale: Scale) -> str:
    """Return a value as it is printed: per cent with one decimal, or a coefficient with two."""
    text = f"{100 * value:.1f}" if scale is Scale.SHARE else f"{value:.2f}"
    return (text.removeprefix("-") if not text.strip("-0.") else text).replace("-", MINUS)


def square(x: float, y: float, r: float = 5) -> str:
    return f"M{num(x - r)} {num(y - r)}h{num(2 * r)}v{num(2 * r)}h{num(-2 * r)}z"


def circle(x: float, y: float, r: float = 4.5) -> str:
    return f"M{num(x - r)} {num(y)}a{num(r)} {num(r)} 0 1 0 {num(2 * r)} 0a{num(r)} {num(r)} 0 1 0 {num(-2 * r)} 0z"


def diamond(x: float, y: float, r: float = 6) -> str:
    return f"M{num(x)} {num(y - r)}l{num(r)} {num(r)}l{num(-r)} {num(r)}l{num(-r)} {num(-r)}z"


def triangle(x: float, y: float, r: float = 5.5) -> str:
    return f"M{num(x)} {num(y - r)}l{num(r)} {num(1.8 * r)}h{num(-2 * r)}z"


def num(value: float) -> str:
    """Return a coordinate with one decimal at most."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _narrow_panel(
    drawing: Drawing, rows: Sequence[ForestRow], panel: Panel, *, top: float, width: int
) -> float:
    """A panel by itself: the name and the number of outcomes of a row stand above its interval."""
    _panel(drawing, rows, panel, left=8, right=width - 50, top=top, row_height=_NARROW_ROW, drop=8)
    for place, row in enumerate(rows):
        y = top + _HEAD + _NARROW_ROW * place + 14
        name = f"{shortened(row.name, room=width - 110)}, n {row.n:,}"
        drawing.word(_voice(row), name, 0, y, href=row.href)
    for y in _rules(rows, top=top + _HEAD, row_height=_NARROW_ROW):
        drawing.path(Ink.RULE, f"M0 {num(y)}H{width}")
    return top + _HEAD + _NARROW_ROW * len(rows)


def _panel(
    drawing: Drawing,
    rows: Sequence[ForestRow],
    panel: Panel,
    *,
    left: float,
    right: float,
    top: float,
    row_height: int,
    drop: float = 0,
) -> None:
    low, ticks = _axis(panel)
    bottom = top + _HEAD + row_height * len(rows)

    def x_of(value: float) -> float:
        return left + (right - left) * (min(1.0, max(low, value)) - low) / (1.0 - low)

    drawing.word(Voice.STRONG, panel.title, left, top + 14)
    if panel.baseline_words:
        x = left + 10 + CHARACTER * 1.06 * len(panel.title)
        drawing.path(Ink.BASELINE, f"M{num(x)} {num(top + 4)}v12")
        drawing.word(Voice.TICK, panel.baseline_words, x + 7, top + 14)
    for tick in ticks:
        is_zero = panel.scale is Scale.COEFFICIENT and tick == 0
        drawing.path(Ink.ZERO if is_zero else Ink.GRID, f"M{num(x_of(tick))} {num(top + 42)}V{num(bottom)}")
        drawing.word(Voice.TICK, _tick(tick, panel.scale), x_of(tick), top + 36, Anchor.MIDDLE)
    baselines = panel.baselines or (None,) * len(rows)
    for place, (row, estimate, baseline) in enumerate(zip(rows, panel.estimates, baselines, strict=True)):
        y = top + _HEAD + row_height * place + row_height / 2 + drop
        _estimate(drawing, row, estimate, panel.scale, x_of=x_of, y=y, left=left, right=right)
        if baseline is not None:
            drawing.path(Ink.BASELINE, f"M{num(x_of(baseline))} {num(y - 9)}v18")


def _estimate(
    drawing: Drawing,
    row: ForestRow,
    estimate: Statistic | None,
    scale: Scale,
    *,
    x_of: Place,
    y: float,
    left: float,
    right: float,
) -> None:
    if estimate is None:
        return
    if isinstance(estimate, Undefined):
        reason = estimate.reason.sentence.rstrip(".").partition(",")[0]
        drawing.word(
            Voice.REASON, shortened(f"undefined: {_lower(reason)}", room=right - left + 44), left + 6, y + 4
        )
        return
    x = x_of(estimate.value)
    if estimate.low is not None and estimate.high is not None:
        low, high = x_of(estimate.low), x_of(estimate.high)
        drawing.path(_WHISKERS[row.kind], _whisker(low, high, y))
    shape = {Kind.ALL: square, Kind.GROUP: circle, Kind.CEILING: diamond}[row.kind]
    drawing.path(_MARKERS[row.kind], shape(x, y))
    drawing.word(Voice.VALUE, written(estimate.value, scale), right + 46, y + 4, Anchor.END)


def _axis(panel: Panel) -> tuple[float, tuple[float, ...]]:
    """Where an axis begins, in round numbers below everything that is drawn, and its ticks."""
    seen = [value for value in panel.baselines if value is not None]
    for each in panel.estimates:
        if isinstance(each, Value):
            seen += [each.value, *(end for end in (each.low, each.high) if end is not None)]
    least = min(seen, default=0.0)
    if panel.scale is Scale.COEFFICIENT:
        low = max(-1.0, -ceil(4 * max(0.0, -least) - 1e-9) / 4)
        low = -0.1 if -0.1 <= least < 0 else low
        return low, tuple(tick for tick in (-1.0, -0.5, 0.0, 0.5, 1.0) if tick >= low)
    low = min(0.9, max(0.0, floor(10 * least + 1e-9) / 10))
    step = 0.05 if low >= 0.9 else 0.1 if low >= 0.7 else 0.2 if low >= 0.4 else 0.25
    first = 1.0 - step * floor((1.0 - low) / step + 1e-9)
    return low, tuple(round(first + step * place, 4) for place in range(round((1.0 - first) / step) + 1))


def _rules(rows: Sequence[ForestRow], *, top: float, row_height: int) -> list[float]:
    """Heights at which one kind of row ends and another begins."""
    pairs = pairwise(rows)
    return [
        top + row_height * place for place, (one, next_) in enumerate(pairs, 1) if one.kind is not next_.kind
    ]


def _whisker(low: float, high: float, y: float) -> str:
    return f"M{num(low)} {num(y)}H{num(high)}M{num(low)} {num(y - 4)}v8M{num(high)} {num(y - 4)}v8"


def _voice(row: ForestRow) -> Voice:
    return Voice.NAME if row.kind is Kind.GROUP else Voice.STRONG


def _tick(tick: float, scale: Scale) -> str:
    return f"{100 * tick:.0f}" if scale is Scale.SHARE else f"{tick:g}".replace("-", MINUS)


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
