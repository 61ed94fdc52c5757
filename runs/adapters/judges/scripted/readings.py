"""Read texts as a person would: white space, numbers in their many spellings, order."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST_READING = 20_000
"""Characters of one element's text that are looked at; more never decides anything."""

_NUMBER = re.compile(
    r"""(?<![\w.,])                       # not inside a word or another number
        (?P<sign>[-+\u2212\u2013]?)
        (?:[$\u20ac\u00a3\u00a5\u20b9]\s?)?
        (?P<inner_sign>[-\u2212]?)
        (?P<digits>\d{1,3}(?:[ \u00a0\u202f'\u2019]\d{3})+(?!\d)(?:[.,]\d+)?
            |\d[\d.,]*\d|\d|\.\d+)
        (?P<exponent>[eE][-+]?\d{1,3}\b)?""",
    re.VERBOSE,
)
_MINUS = {"-", "\u2212", "\u2013"}
_UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def cleaned(text: str) -> str:
    """Return text that any database, JSON column and terminal can hold: no NUL, no lone surrogate."""
    return _UNSAFE.sub("\ufffd", text)


def plain(text: str) -> str:
    """Return text with every run of white space as one space, as a reader sees it."""
    return " ".join(cleaned(text[:LONGEST_READING]).split())


def first_number(text: str) -> float | None:
    """Return the first number in a text, None where there is none.

    Thousands separators and currency signs are understood: "$1,234.50", "1.234,50", "1 234,5", "-3".
    A single comma before exactly three digits separates thousands, a single point decimals.
    """
    found = _NUMBER.search(text[:LONGEST_READING])
    if found is None:
        return None
    digits = _decimal(re.sub(r"[ \u00a0\u202f'\u2019]", "", found["digits"]))
    negative = found["sign"] in _MINUS or found["inner_sign"] in _MINUS
    try:
        value = float(digits + (found["exponent"] or ""))
    except ValueError:
        return None
    return -value if negative else value


def is_sorted(texts: Sequence[str], *, descending: bool) -> bool:
    """Tell whether texts are in order: as numbers if each holds one, else as words without case."""
    numbers = [_whole_number(text) for text in texts]
    known = [number for number in numbers if number is not None]
    if len(known) == len(numbers):
        return known == sorted(known, reverse=descending)
    words = [text.casefold() for text in texts]
    return words == sorted(words, reverse=descending)


def shown_number(value: float) -> str:
    """Return a number as a person writes it: 3, 3.5, -0.25."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.10g}"


def _whole_number(text: str) -> float | None:
    """Return the number of a text that is about nothing else: "$ 12.50", "12 %", "no. 3" is none."""
    stripped = re.sub(r"^[^\w.\-+\u2212]+|[^\w]+$", "", text.strip())
    found = _NUMBER.match(stripped)
    if found is None or len(stripped) - (found.end() - found.start()) > 4:
        return None
    return first_number(stripped)


def _decimal(digits: str) -> str:
    commas, points = digits.count(","), digits.count(".")
    if commas and points:
        if digits.rindex(",") > digits.rindex("."):
            return digits.replace(".", "").replace(",", ".")
        return digits.replace(",", "")
    if re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+", digits):
        return digits.replace(",", "")
    if commas > 1 or points > 1:
        grouped = points > 1 and re.fullmatch(r"[1-9]\d{0,2}(\.\d{3})+", digits)
        return digits.replace(".", "") if grouped else re.split(r"[.,]", digits)[0]
    return digits.replace(",", ".")
