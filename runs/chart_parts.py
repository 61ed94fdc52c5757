"""What a drawn chart is made of: series that go in, placed words, paths and bars that come out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from benchmark.rules.records import Estimate


class Style(StrEnum):
    """How a series is told apart: colour, marker and dash together; OTHER is grey."""

    FIRST = "1"
    SECOND = "2"
    THIRD = "3"
    OTHER = "0"


COLOURED = (Style.FIRST, Style.SECOND, Style.THIRD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One run's estimates along an axis, shares between 0 and 1; None where there is no number."""

    name: str
    style: Style
    estimates: tuple[Estimate | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A piece of text with its place."""

    text: str
    x: float
    y: float
    anchor: str = "start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A straight line of the grid."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean with its 95% interval on an axis from 0 to 100; empty paths where there is none."""

    width: int
    height: int
    style: Style
    grid: tuple[Segment, ...]
    span: str
    marker: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One series of a line chart."""

    style: Style
    path: str
    band: str
    markers: tuple[str, ...]
    label: Word | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChart:
    """Lines over rounds; grey ones come first, so that coloured ones lie above them."""

    width: int
    height: int
    grid: tuple[Segment, ...]
    ticks: tuple[Word, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar with its whisker; `missing` says in words why there is none."""

    style: Style
    name: Word
    x: float
    y: float
    width: float
    height: float
    whisker: str
    value: Word
    missing: Word | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BarGroup:
    """A small multiple: the bars of one kind."""

    title: Word
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """Small multiples below each other, on one axis."""

    width: int
    height: int
    grid: tuple[Segment, ...]
    ticks: tuple[Word, ...]
    groups: tuple[BarGroup, ...]
