"""Fields of the two calculators: what was typed, read as numbers, with the sentence for what is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MOST_TYPED = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberField:
    """One number to type; `problem` says what is wrong with it."""

    name: str
    label: str
    value: str
    help: str
    problem: str = ""


class Typed:
    """What was typed into a form, with every problem found while it was read."""

    def __init__(self, values: Mapping[str, str], *, defaults: Mapping[str, str]) -> None:
        self._values = {name: values.get(name, text)[:MOST_TYPED].strip() for name, text in defaults.items()}
        self.problems: dict[str, str] = {}

    def text(self, name: str) -> str:
        """As it was typed."""
        return self._values[name]

    def share(self, name: str) -> float:
        """A share such as 0.8, 80% or 80; 0 with a problem where it is none."""
        text = self._values[name].replace(",", ".")
        number = _number(text.removesuffix("%").strip())
        if number is not None and (text.endswith("%") or number > 1):
            number /= 100
        if number is None or not 0 <= number <= 1:
            self.problems[name] = (
                f"{self._values[name] or 'Nothing'} is no share; give one such as 0.8 or 80%."
            )
            return 0.0
        return number

    def whole(self, name: str, *, least: int, most: int) -> int:
        """A whole number between two others, ends included; the lower one with a problem where it is none."""
        number = _number(self._values[name].replace(",", ""))
        if number is None or number != int(number) or not least <= number <= most:
            self.problems[name] = (
                f"{self._values[name] or 'Nothing'} does not do; give a whole number from {least:,} to {most:,}."
            )
            return least
        return int(number)

    def number(self, name: str, *, least: float, most: float) -> float:
        """A number between two others, ends included."""
        number = _number(self._values[name].replace(",", "."))
        if number is None or not least <= number <= most:
            self.problems[name] = (
                f"{self._values[name] or 'Nothing'} does not do; give a number from {least:g} to {most:g}."
            )
            return least
        return number

    def field(self, name: str, label: str, help_: str) -> NumberField:
        """The control of one number, once it was read."""
        return NumberField(
            name=name, label=label, value=self._values[name], help=help_, problem=self.problems.get(name, "")
        )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < 1e12 else None
