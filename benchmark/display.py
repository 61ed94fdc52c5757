"""How numbers, durations, sizes and foreign text are written on a page."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any

from benchmark.rules.records import Estimate
from benchmark.rules.vocabulary import Mark, Unit

MINUS = "−"
UNDEFINED = "–"


class Look(StrEnum):
    """The shapes that a grid, a list or a graph shows: five marks, and two states before a mark."""

    PASS = "pass"
    PARTIAL = "partial"
    FAIL = "fail"
    SKIPPED = "skipped"
    ERROR = "error"
    RUNNING = "running"
    WAITING = "waiting"

    @property
    def word(self) -> str:
        return self.value.capitalize()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number ready to print: its value, its half-width, and why it is missing where it is."""

    value: str
    plus_minus: str = ""
    n: int = 0
    reason: str = ""

    @property
    def is_defined(self) -> bool:
        return not self.reason


def figure(estimate: Estimate, *, unit: Unit, with_sign: bool = True) -> Figure:
    """Return an estimate as text; shares become per cent, with the sign or (in a table) without."""
    if estimate.value is None:
        return Figure(value=UNDEFINED, n=estimate.n, reason=estimate.reason or "not known")
    if unit is Unit.COUNT:
        return Figure(value=whole(estimate.value), n=estimate.n)
    width = "" if estimate.half_width is None else f"± {points(estimate.half_width)}"
    value = points(estimate.value) + ("%" if with_sign else "")
    return Figure(value=value, plus_minus=width, n=estimate.n)


def points(share: float) -> str:
    """A share as per cent with one decimal, without the sign; a rounded zero is never negative."""
    text = f"{share * 100:.1f}"
    return "0.0" if text == "-0.0" else text.replace("-", MINUS)


def signed_points(share: float) -> str:
    """A difference of shares as points, always with its sign."""
    text = points(abs(share))
    if text == "0.0":
        return text
    return (MINUS if share < 0 else "+") + text


def whole(number: float) -> str:
    """A count with thousands separators."""
    return f"{number:,.0f}".replace("-", MINUS)


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 trial`, `5 trials`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(words: Sequence[str], *, most: int = 4, last: str = "and") -> str:
    """`a, b and c`; above `most` the rest is a count."""
    if len(words) > most:
        return f"{', '.join(words[:most])} {last} {len(words) - most} more"
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def duration(seconds: float) -> str:
    """`18 s`, `38 min`, `2 h 05 min`; below ten seconds with a decimal."""
    if seconds < 9.95:
        return f"{max(seconds, 0):.1f} s"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def file_size(size: int) -> str:
    """A number of bytes in the unit a person would use."""
    if size < 1000:
        return counted(size, "byte")
    amount = float(size)
    for unit in ("kB", "MB", "GB"):
        amount /= 1000
        if amount < 999.5 or unit == "GB":
            return f"{amount:.1f} {unit}" if amount < 9.95 else f"{amount:.0f} {unit}"
    raise AssertionError(size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of text: as it is, or a control character's visible sign with its name."""

    text: str
    sign_for: str = ""


def visible_pieces(text: str) -> Iterator[Piece]:
    """Cut foreign text so that no control character stays invisible, or is sent to a terminal.

    Line ends and tabs are left alone. Characters that turn the reading direction are shown too:
    with them a text can read otherwise than it is.
    """
    # CR LF is an ordinary line end; a lone CR is not.
    for is_sign, run in groupby(text.replace("\r\n", "\n"), key=_needs_sign):
        if not is_sign:
            yield Piece(text="".join(run))
            continue
        for character in run:
            yield Piece(text=_sign(character), sign_for=_character_name(character))


def settings_in_words(settings: Mapping[str, Any]) -> list[str]:
    """`threshold 0.5`, `mode dag`, ... for the line below a title."""
    return [f"{name.replace('_', ' ')} {plain_value(value)}" for name, value in settings.items()]


def plain_value(value: object) -> str:
    """The value of a setting as a person writes it: `3`, `0.5`, `dag`."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def mark_of_outcomes(marks: Sequence[Mark]) -> Look:
    """What a criterion's row shows for the marks of its outcomes.

    The half diamond stands for "some passed"; whether that satisfies the criterion is said beside it.
    """
    given = set(marks)
    if not given:
        return Look.WAITING
    if given == {Mark.SKIPPED}:
        return Look.SKIPPED
    if given == {Mark.PASS}:
        return Look.PASS
    if given & {Mark.FAIL, Mark.PARTIAL}:
        return Look.PARTIAL if given & {Mark.PASS, Mark.PARTIAL} else Look.FAIL
    return Look.ERROR


def _needs_sign(character: str) -> bool:
    return character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co")


def _sign(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"U+{code:04X}"


def _character_name(character: str) -> str:
    known = unicodedata.name(character, "").lower()
    return known or f"control character U+{ord(character):04X}"
