"""What a drawn chart of agreement is made of: paths and words with a role, which screen and paper colour each in their way."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from annotation.agreement.values import Statistic


class Ink(StrEnum):
    """What a path is, never how it looks: a style sheet, or the palette for paper, decides that."""

    GRID = "grid"
    AXIS = "axis"
    RULE = "rule"
    ZERO = "zero"
    BASELINE = "baseline"
    LIMIT = "limit"
    SAME = "same"
    BAND = "band"
    WHISKER_ALL = "whisker-all"
    WHISKER_GROUP = "whisker-group"
    WHISKER_CEILING = "whisker-ceiling"
    MARKER_ALL = "marker-all"
    MARKER_GROUP = "marker-group"
    MARKER_CEILING = "marker-ceiling"
    POINT = "point"
    LINE_FIRST = "line-1"
    LINE_SECOND = "line-2"
    LINE_THIRD = "line-3"
    LINE_OTHER = "line-0"
    MARK_FIRST = "mark-1"
    MARK_SECOND = "mark-2"
    MARK_THIRD = "mark-3"
    MARK_OTHER = "mark-0"
    HEAT_0 = "heat-0"
    HEAT_1 = "heat-1"
    HEAT_2 = "heat-2"
    HEAT_3 = "heat-3"
    HEAT_4 = "heat-4"
    HEAT_5 = "heat-5"
    AGREES = "agrees"


class Voice(StrEnum):
    """What a word is: a tick or a count, a name, a value, or the reason why there is none."""

    TICK = "tick"
    NAME = "name"
    STRONG = "strong"
    VALUE = "value"
    REASON = "reason"
    ON_DARK = "on-dark"


class Anchor(StrEnum):
    """Which end of a word stands at its place."""

    START = "start"
    MIDDLE = "middle"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """A line or a shape; `d` is the path's data in SVG."""

    ink: Ink
    d: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A piece of text at its baseline; `href` leads to what it counts, on the screen."""

    voice: Voice
    text: str
    x: float
    y: float
    anchor: Anchor = Anchor.START
    href: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart at the one size that it was drawn for; `words` state its finding to whoever does not see it."""

    width: int
    height: int
    words: str
    paths: tuple[Path, ...]
    texts: tuple[Word, ...]


class Scale(StrEnum):
    """Shares are drawn as per cent up to 100, coefficients up to 1 with a line at 0."""

    SHARE = "share"
    COEFFICIENT = "coefficient"


class Kind(StrEnum):
    """What a row of a forest plot stands for."""

    ALL = "all"
    GROUP = "group"
    CEILING = "ceiling"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestRow:
    """One row: its name, the number of outcomes, and where a click on its name leads."""

    name: str
    n: int
    kind: Kind = Kind.GROUP
    href: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One statistic of every row; None leaves a row empty.

    `baselines` are values of the same rows that a tick is drawn at, named by `baseline_words`.
    """

    title: str
    scale: Scale
    estimates: tuple[Statistic | None, ...]
    baselines: tuple[float | None, ...] = ()
    baseline_words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Successive answers of one person: when, on average, and how many of how many were right."""

    at: float
    right: int
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftLine:
    """One person's blocks in order of time."""

    name: str
    blocks: tuple[Block, ...]
