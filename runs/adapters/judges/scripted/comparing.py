"""Compare what was read with what a step expects, and say the difference as one sentence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from operator import eq, gt, lt
from typing import Any

from runs.adapters.judges.scripted.nouns import counted, many, quoted
from runs.adapters.judges.scripted.readings import is_sorted, shown_number

type Found = Callable[[str, str, bool], Awaitable[bool]]
"""Answers whether a pattern is found in a text, without case if asked."""


async def wording_shortfall(thing: str, seen: str, step: Mapping[str, Any], *, found: Found) -> str | None:
    """Return what is wrong with a text, None when everything that the step says holds."""
    ignore_case = step.get("ignore_case", False)

    def folded(text: str) -> str:
        return text.casefold() if ignore_case else text

    here = folded(seen)
    saw = f"saw {quoted(seen)}" if seen else "saw nothing"
    if "equals" in step and here != folded(step["equals"]):
        return f"Expected {thing} to be {quoted(step['equals'])}, {saw}."
    if "contains" in step and folded(step["contains"]) not in here:
        return f"Expected {thing} to contain {quoted(step['contains'])}, {saw}."
    if "contains_any" in step and not any(folded(each) in here for each in step["contains_any"]):
        return f"Expected {thing} to contain {_alternatives(step['contains_any'])}, {saw}."
    if "lacks" in step and folded(step["lacks"]) in here:
        return f"Expected {thing} not to contain {quoted(step['lacks'])}, {saw}."
    if "matches" in step and not await found(step["matches"], seen, ignore_case):
        return f"Expected {thing} to have another form, {saw}."
    return None


def sameness_shortfall(
    thing: str, seen: Any, step: Mapping[str, Any], remembered: Mapping[str, Any]
) -> str | None:
    """Return what is wrong when a reading is compared with an earlier one."""
    if "same_as" in step and seen != (earlier := remembered[step["same_as"]]):
        return f"Expected {thing} to stay {_shown(earlier)}, saw {_shown(seen)}."
    if "differs_from" in step and seen == remembered[step["differs_from"]]:
        return f"Expected {thing} to change, but it stayed {_shown(seen)}."
    return None


async def texts_shortfall(
    target: Any, seen: Sequence[str], step: Mapping[str, Any], *, found: Found
) -> str | None:
    """Return what is wrong with a list of texts; an empty list satisfies nothing but `lacks`."""
    if not seen and set(step) & {"each_contains", "each_matches", "sorted", "unique"}:
        return f"Expected {many(target)}, saw none."
    ignore_case = step.get("ignore_case", False)

    def folded(text: str) -> str:
        return text.casefold() if ignore_case else text

    here = [folded(text) for text in seen]
    saw = f"saw {_shown(seen)}"
    if "equals" in step and here != [folded(text) for text in step["equals"]]:
        return f"Expected the {many(target)} to be {_shown(step['equals'])}, {saw}."
    for text in step.get("contains_all", ()):
        if not any(folded(text) in each for each in here):
            return f"Expected {quoted(text)} among the {many(target)}, {saw}."
    if "each_contains" in step:
        odd = next((text for text in seen if folded(step["each_contains"]) not in folded(text)), None)
        if odd is not None:
            return (
                f"Expected all {many(target)} to contain {quoted(step['each_contains'])}, saw {quoted(odd)}."
            )
    if "lacks" in step:
        odd = next((text for text in seen if folded(step["lacks"]) in folded(text)), None)
        if odd is not None:
            return (
                f"Expected none of the {many(target)} to contain {quoted(step['lacks'])}, saw {quoted(odd)}."
            )
    return await _shape_shortfall(target, seen, here, step, found=found)


async def _shape_shortfall(
    target: Any, seen: Sequence[str], here: Sequence[str], step: Mapping[str, Any], *, found: Found
) -> str | None:
    if "unique" in step and len(set(here)) < len(here):
        twice = next(text for position, text in enumerate(seen) if here.index(here[position]) < position)
        return f"Expected each of the {many(target)} once, saw {quoted(twice)} more than once."
    if "sorted" in step and not is_sorted(here, descending=step["sorted"] == "descending"):
        order = "from high to low" if step["sorted"] == "descending" else "from low to high"
        return f"Expected the {many(target)} in order {order}, saw {_shown(seen)}."
    for text in seen if "each_matches" in step else ():
        if not await found(step["each_matches"], text, step.get("ignore_case", False)):
            return f"Expected all {many(target)} to have another form, saw {quoted(text)}."
    return None


def count_shortfall(
    target: Any, seen: int, step: Mapping[str, Any], remembered: Mapping[str, Any]
) -> str | None:
    """Return what is wrong with a number of things: `Expected 3 rows, saw 2.`"""
    if "is" in step and seen != step["is"]:
        return f"Expected {counted(target, step['is'])}, saw {seen}."
    if "at_least" in step and seen < step["at_least"]:
        return f"Expected at least {counted(target, step['at_least'])}, saw {seen}."
    if "at_most" in step and seen > step["at_most"]:
        return f"Expected at most {counted(target, step['at_most'])}, saw {seen}."
    for name, holds, words in (
        ("same_as", eq, "as many {} as before"),
        ("less_than", lt, "fewer {} than before"),
        ("more_than", gt, "more {} than before"),
    ):
        if name in step and not holds(seen, earlier := _number(remembered[step[name]])):
            return f"Expected {words.format(many(target))} ({shown_number(earlier)}), saw {seen}."
    if "differs_from" in step and seen == _number(remembered[step["differs_from"]]):
        return f"Expected the number of {many(target)} to change, but it stayed {seen}."
    return None


def number_shortfall(
    thing: str, seen: float, step: Mapping[str, Any], remembered: Mapping[str, Any]
) -> str | None:
    """Return what is wrong with a number; `tolerance` widens every comparison but less and more."""
    slack = float(step.get("tolerance", 0)) + 1e-9
    saw = f"saw {shown_number(seen)}"
    if "is" in step and abs(seen - step["is"]) > slack:
        return f"Expected {thing} to be {shown_number(step['is'])}, {saw}."
    if "at_least" in step and seen < step["at_least"] - slack:
        return f"Expected {thing} to be at least {shown_number(step['at_least'])}, {saw}."
    if "at_most" in step and seen > step["at_most"] + slack:
        return f"Expected {thing} to be at most {shown_number(step['at_most'])}, {saw}."
    if "same_as" in step and abs(seen - (earlier := _number(remembered[step["same_as"]]))) > slack:
        return f"Expected {thing} to stay {shown_number(earlier)}, {saw}."
    for name, holds, words in (("less_than", lt, "less"), ("more_than", gt, "more")):
        if name in step and not holds(seen, earlier := _number(remembered[step[name]])):
            return f"Expected {thing} to be {words} than {shown_number(earlier)}, {saw}."
    if "differs_from" in step and abs(seen - _number(remembered[step["differs_from"]])) <= slack:
        return f"Expected {thing} to change, but it stayed {shown_number(seen)}."
    return None


def _number(value: Any) -> float:
    """Return a remembered number; TypeError when something else was remembered under that name."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("The script compares a number with something remembered that is none.")
    return value


def _alternatives(texts: Sequence[str]) -> str:
    return " or ".join(quoted(text) for text in texts)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list | tuple):
        shown = ", ".join(quoted(each) for each in value[:12])
        return f"{shown} and {len(value) - 12} more" if len(value) > 12 else shown or "none"
    if value is None:
        return "nothing"
    return shown_number(value) if isinstance(value, int | float) else quoted(value)
