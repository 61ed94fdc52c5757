"""The shapes that values in a judge's script may have, each as a function that names what is wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

type Shape = Callable[[Any], Iterator[str]]
"""Yields a sentence part for each thing that is wrong with a value; nothing when it is right."""

LONGEST_TEXT = 5000
LONGEST_SELECTOR = 1000
LONGEST_PATTERN = 500
LONGEST_LIST = 200
DEEPEST_TARGET = 5

TARGET_WAYS = ("css", "role", "label", "placeholder", "text", "testid", "alt", "title", "any")
ROLE_STATES = ("checked", "expanded", "pressed", "selected", "disabled")
_ROLE_OPTIONS = ("name", "level", *ROLE_STATES)
_TARGET_OPTIONS = ("nth", "has_text", "within", "visible", "exact", "frame", "called")

_ROLE_WORDS = (
    "alert alertdialog application article banner blockquote button caption cell checkbox code "
    "columnheader combobox complementary contentinfo definition deletion dialog directory document "
    "emphasis feed figure form generic grid gridcell group heading img insertion link list listbox "
    "listitem log main marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter "
    "navigation none note option paragraph presentation progressbar radio radiogroup region row "
    "rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong subscript "
    "superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree "
    "treegrid treeitem"
)
ROLES = frozenset(_ROLE_WORDS.split())


def text(value: Any) -> Iterator[str]:
    """Accept any string of bounded length, also an empty one."""
    if not isinstance(value, str):
        yield f"is {shown(value)}, not a text"
    elif len(value) > LONGEST_TEXT:
        yield f"has {len(value)} characters; at most {LONGEST_TEXT} are allowed"


def filled_text(value: Any) -> Iterator[str]:
    """Accept a string that says something."""
    yield from text(value)
    if isinstance(value, str) and not value.strip():
        yield "is empty"


def flag(value: Any) -> Iterator[str]:
    """Accept true and false."""
    if not isinstance(value, bool):
        yield f"is {shown(value)}, not true or false"


def always_true(value: Any) -> Iterator[str]:
    """Accept true alone: the word says it all, and false would mean nothing."""
    if value is not True:
        yield f"is {shown(value)}; write true, or leave the step out"


def number(value: Any) -> Iterator[str]:
    """Accept a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield f"is {shown(value)}, not a number"
    elif not math.isfinite(value):
        yield "is not a finite number"


def whole(*, minimum: int, maximum: int) -> Shape:
    """Accept a whole number within bounds."""

    def check(value: Any) -> Iterator[str]:
        if isinstance(value, bool) or not isinstance(value, int):
            yield f"is {shown(value)}, not a whole number"
        elif not minimum <= value <= maximum:
            yield f"is {value}; allowed are {minimum} to {maximum}"

    return check


def tolerance(value: Any) -> Iterator[str]:
    """Accept a number that is not negative."""
    wrong = list(number(value))
    yield from wrong
    if not wrong and value < 0:
        yield f"is {value}; a tolerance is 0 or more"


def seconds(value: Any) -> Iterator[str]:
    """Accept how long a step may take, in seconds."""
    wrong = list(number(value))
    yield from wrong
    if not wrong and not 0 < value <= 30:
        yield f"is {value}; a step may take more than 0 and at most 30 seconds"


def one_of(*words: str) -> Shape:
    """Accept one of some words."""

    def check(value: Any) -> Iterator[str]:
        if value not in words:
            yield f"is {shown(value)}; known are {listed(words)}"

    return check


def texts(value: Any) -> Iterator[str]:
    """Accept a list of strings that is not empty."""
    yield from _list_of(text, value)


def held_keys(value: Any) -> Iterator[str]:
    """Accept a list of keys that are held down during a click."""
    wrong = list(texts(value))
    yield from wrong
    if not wrong:
        for key in value:
            yield from one_of("Shift", "Control", "Alt", "Meta")(key)


def pair(shape: Shape) -> Shape:
    """Accept a list of exactly two values of one shape."""

    def check(value: Any) -> Iterator[str]:
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
            yield f"is {shown(value)}, not a list of two"
            return
        for item in value:
            yield from shape(item)

    return check


def share(value: Any) -> Iterator[str]:
    """Accept a number between 0 and 1."""
    wrong = list(number(value))
    yield from wrong
    if not wrong and not 0 <= value <= 1:
        yield f"is {value}; a position is a share between 0 and 1"


def pattern(value: Any) -> Iterator[str]:
    """Accept a regular expression that can be compiled; it is never run here."""
    wrong = list(filled_text(value))
    yield from wrong
    if wrong:
        return
    if len(value) > LONGEST_PATTERN:
        yield f"has {len(value)} characters; at most {LONGEST_PATTERN} are allowed in a pattern"
        return
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        yield f"is not a regular expression: {error}"


def path(value: Any) -> Iterator[str]:
    """Accept a path on the candidate's own origin."""
    wrong = list(filled_text(value))
    yield from wrong
    if not wrong and (not value.startswith("/") or value.startswith("//") or "\\" in value):
        yield f'is {shown(value)}; only a path such as "/cart" is allowed, never another address'


def upload_name(value: Any) -> Iterator[str]:
    """Accept the name of a file below uploads/."""
    wrong = list(filled_text(value))
    yield from wrong
    if wrong:
        return
    parts = value.split("/")
    if parts[0] != "uploads" or len(parts) < 2 or any(part in {"", ".", ".."} for part in parts):
        yield f'is {shown(value)}; name a file of the task such as "uploads/list.csv"'
    elif "\\" in value or "\0" in value:
        yield f"is {shown(value)}; write the path with plain slashes"


def upload_names(value: Any) -> Iterator[str]:
    """Accept a list of files below uploads/."""
    yield from _list_of(upload_name, value)


def remembered_thing(value: Any) -> Iterator[str]:
    """Accept what may be remembered of an element."""
    words = ("text", "number", "count", "value", "texts", "screenshot")
    if isinstance(value, Mapping):
        if set(value) != {"attribute"}:
            yield f'is {shown(value)}; write {{"attribute": "name"}}'
        else:
            yield from filled_text(value["attribute"])
    elif value not in words:
        yield f'is {shown(value)}; known are {listed(words)} and {{"attribute": "name"}}'


def target(value: Any, *, depth: int = 0) -> Iterator[str]:
    """Accept a description of an element: a selector, or an object with one way of finding."""
    if isinstance(value, str):
        yield from _selector(value)
        return
    if not isinstance(value, Mapping):
        yield f'is {shown(value)}; write a selector or an object such as {{"role": "button"}}'
        return
    if depth >= DEEPEST_TARGET:
        yield f"is nested more than {DEEPEST_TARGET} deep"
        return
    ways = [way for way in TARGET_WAYS if way in value]
    if len(ways) != 1:
        yield f"names {len(ways)} ways of finding; give exactly one of {listed(TARGET_WAYS)}"
        return
    way = ways[0]
    known = {way, *_TARGET_OPTIONS, *(_ROLE_OPTIONS if way == "role" else ())}
    for name in value:
        if name not in known:
            yield f"has the unknown option {name!r}; known beside {way!r} are {listed(sorted(known - {way}))}"
    for name, shape in _target_shapes(way, depth).items():
        if name in value:
            yield from (f"{name!r} {wrong}" for wrong in shape(value[name]))


def object_with(shapes: Mapping[str, Shape]) -> Shape:
    """Accept an object that holds at least one of some options and nothing else."""

    def check(value: Any) -> Iterator[str]:
        if not isinstance(value, Mapping) or not value:
            yield f"is {shown(value)}, not an object with one of {listed(list(shapes))}"
            return
        for name, given in value.items():
            if name not in shapes:
                yield f"has the unknown option {name!r}; known are {listed(list(shapes))}"
            else:
                yield from (f"{name!r} {wrong}" for wrong in shapes[name](given))

    return check


def shown(value: Any) -> str:
    """Return a value short enough for a sentence."""
    printed = repr(value)
    return printed if len(printed) <= 60 else f"{printed[:57]}..."


def listed(words: Collection[str]) -> str:
    """Return words as a list for a sentence."""
    return ", ".join(words)


def _target_shapes(way: str, depth: int) -> Mapping[str, Shape]:
    def nested(value: Any) -> Iterator[str]:
        yield from target(value, depth=depth + 1)

    def alternatives(value: Any) -> Iterator[str]:
        yield from _list_of(nested, value)

    def role(value: Any) -> Iterator[str]:
        if not isinstance(value, str) or value not in ROLES:
            yield f"is {shown(value)}, which is no ARIA role"

    ways: dict[str, Shape] = {"css": _selector, "role": role, "any": alternatives}
    return {
        way: ways.get(way, filled_text),
        "name": filled_text,
        "level": whole(minimum=1, maximum=6),
        **dict.fromkeys(ROLE_STATES, flag),
        "nth": whole(minimum=-1, maximum=10_000),
        "has_text": filled_text,
        "within": nested,
        "visible": flag,
        "exact": flag,
        "frame": _selector,
        "called": filled_text,
    }


def _selector(value: Any) -> Iterator[str]:
    wrong = list(filled_text(value))
    yield from wrong
    if not wrong and len(value) > LONGEST_SELECTOR:
        yield f"has {len(value)} characters; at most {LONGEST_SELECTOR} are allowed in a selector"


def _list_of(shape: Shape, value: Any) -> Iterator[str]:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        yield f"is {shown(value)}, not a list"
    elif not value:
        yield "is an empty list"
    elif len(value) > LONGEST_LIST:
        yield f"has {len(value)} entries; at most {LONGEST_LIST} are allowed"
    else:
        for position, item in enumerate(value, start=1):
            yield from (f"entry {position} {wrong}" for wrong in shape(item))
