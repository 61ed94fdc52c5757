"""Set a chart as a self-contained SVG for paper: no style sheet, no theme, one palette that prints."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from annotation.reports.chart_parts import Chart, Ink, Path, Voice, Word

_FAMILY = "Helvetica, Arial, 'Liberation Sans', sans-serif"
_BLUE, _ORANGE, _TEAL, _MAGENTA, _GREY, _BLACK = (
    "#2f58c6",
    "#b85c00",
    "#067d8f",
    "#a2387f",
    "#55585f",
    "#1b1c1f",
)


def as_svg(chart: Chart) -> str:
    """Return a chart as one SVG document on white; its words are the description for who does not see it."""
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{chart.width}" height="{chart.height}" '
        f'viewBox="0 0 {chart.width} {chart.height}" role="img" font-family={quoteattr(_FAMILY)}>'
    )
    parts = [
        root,
        f"<title>{escape(chart.words)}</title>",
        f'<rect width="{chart.width}" height="{chart.height}" fill="#ffffff"/>',
        *(_path(path) for path in chart.paths),
        *(_word(word) for word in chart.texts),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _path(path: Path) -> str:
    return f"<path d={quoteattr(path.d)} {_INKS[path.ink]}/>"


def _word(word: Word) -> str:
    place = f'x="{word.x:g}" y="{word.y:g}" text-anchor="{word.anchor}"'
    return f'<text {place} font-size="12" {_VOICES[word.voice]}>{escape(word.text)}</text>'


def _stroke(colour: str, width: float, dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'fill="none" stroke="{colour}" stroke-width="{width:g}"{dashed}'


def _fill(colour: str) -> str:
    return f'fill="{colour}"'


_INKS = {
    Ink.GRID: _stroke("#d9d7d0", 0.75),
    Ink.AXIS: _stroke("#8c8a82", 1),
    Ink.RULE: _stroke("#c9c7c0", 1),
    Ink.ZERO: _stroke("#55585f", 1.25),
    Ink.BASELINE: _stroke(_MAGENTA, 2.5),
    Ink.LIMIT: _stroke(_ORANGE, 1.5, "6 4"),
    Ink.SAME: _stroke("#8c8a82", 1, "2 3"),
    Ink.BAND: f'fill="{_BLUE}" fill-opacity="0.13"',
    Ink.WHISKER_ALL: _stroke(_BLACK, 1.8),
    Ink.WHISKER_GROUP: _stroke(_BLUE, 1.8),
    Ink.WHISKER_CEILING: _stroke(_ORANGE, 1.8),
    Ink.MARKER_ALL: _fill(_BLACK),
    Ink.MARKER_GROUP: _fill(_BLUE),
    Ink.MARKER_CEILING: _fill(_ORANGE),
    Ink.POINT: f'fill="{_BLUE}" fill-opacity="0.55"',
    Ink.LINE_FIRST: _stroke(_BLUE, 1.6),
    Ink.LINE_SECOND: _stroke(_ORANGE, 1.6, "7 4"),
    Ink.LINE_THIRD: _stroke(_TEAL, 1.6, "2 3.4"),
    Ink.LINE_OTHER: _stroke(_GREY, 1),
    Ink.MARK_FIRST: _fill(_BLUE),
    Ink.MARK_SECOND: _fill(_ORANGE),
    Ink.MARK_THIRD: _fill(_TEAL),
    Ink.MARK_OTHER: _fill(_GREY),
    Ink.HEAT_0: _fill("#f3f5fb"),
    Ink.HEAT_1: _fill("#d5e0f7"),
    Ink.HEAT_2: _fill("#a9c0ee"),
    Ink.HEAT_3: _fill("#4068c0"),
    Ink.HEAT_4: _fill("#3a61c2"),
    Ink.HEAT_5: _fill("#213e8c"),
    Ink.AGREES: _stroke(_BLACK, 1.5),
}

_VOICES = {
    Voice.TICK: 'fill="#515359"',
    Voice.NAME: 'fill="#1b1c1f"',
    Voice.STRONG: 'fill="#1b1c1f" font-weight="600"',
    Voice.VALUE: 'fill="#1b1c1f"',
    Voice.REASON: 'fill="#515359" font-style="italic"',
    Voice.ON_DARK: 'fill="#ffffff" font-weight="600"',
}
