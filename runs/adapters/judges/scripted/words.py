"""Say in plain words what a step does, what was just done, and what an expectation has seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runs.adapters.judges.scripted.nouns import counted, described, many, ordinal, quoted, seconds

_GERUNDS = {
    "click": "clicking",
    "dblclick": "double-clicking",
    "hover": "pointing at",
    "focus": "focusing",
    "check": "ticking",
    "uncheck": "unticking",
    "scroll_to": "scrolling to",
}
_VERBS = {
    "click": "click",
    "dblclick": "double-click",
    "hover": "point at",
    "focus": "focus",
    "check": "tick",
    "uncheck": "untick",
    "scroll_to": "scroll to",
}


def step_words(step: Mapping[str, Any], action: str) -> str:
    """Return what a step does as a command to a person: `click the button "Add"`."""
    value = step[action]
    if action in _VERBS:
        return f"{_VERBS[action]} {described(value)}"
    if action.startswith("expect_"):
        return f"look whether {_expected_words(step, action)}"
    return _other_words(step, action, value)


def doing(step: Mapping[str, Any], action: str) -> str:
    """Return what was just done, for "(after ...)": `clicking the button "Add"`."""
    if note := step.get("note"):
        return f"the step {quoted(note)}"
    if action in _GERUNDS:
        return f"{_GERUNDS[action]} {described(step[action])}"
    words = step_words(step, action)
    verb, _, rest = words.partition(" ")
    gerund = {"choose": "choosing", "press": "pressing", "put": "putting"}.get(verb)
    if gerund is None:
        gerund = f"{verb[:-1]}ing" if verb.endswith("e") else f"{verb}ing"
    return f"{gerund} {rest}".strip()


def _other_words(step: Mapping[str, Any], action: str, value: Any) -> str:
    words: Mapping[str, Callable[[], str]] = {
        "goto": lambda: f"open {value}",
        "reload": lambda: "reload the page",
        "back": lambda: "go back",
        "forward": lambda: "go forward",
        "resize": lambda: f"make the window {value[0]} x {value[1]}",
        "wait": lambda: f"wait {seconds(value / 1000)}",
        "wait_for": lambda: f"wait for {described(value)}",
        "use_page": lambda: f"look at the {value} page",
        "fill": lambda: f"fill {quoted(step['value'])} into {described(value)}",
        "type": lambda: f"type {quoted(step['value'])} into {described(value)}",
        "press": lambda: f"press {value}" + (f" in {described(step['at'])}" if "at" in step else ""),
        "select": lambda: f"choose {_choice(step)} in {described(value)}",
        "upload": lambda: f"put {_file_names(step['files'])} into {described(value)}",
        "drag": lambda: f"drag {described(value)} to {described(step['to'])}",
        "scroll_by": lambda: f"scroll by {value[0]} x {value[1]} pixels",
        "dialog": lambda: f"{value} the dialogs that follow",
        "set_offline": lambda: "cut the network" if value else "restore the network",
        "remember": lambda: f"remember {_remembered(step)} of {described(value)}",
        "either": lambda: "try alternatives",
    }
    return words[action]()


def held_words(step: Mapping[str, Any], action: str, reading: Any) -> str:
    """Return what an expectation that held has seen: `3 rows`, `the total is "12"`."""
    target = step[action]
    if action == "expect_count" and isinstance(reading, int):
        return counted(target, reading)
    if action in {"expect_text", "expect_value", "expect_number"} and reading is not None:
        shown = f"{reading:g}" if isinstance(reading, float) else quoted(reading)
        return f"{described(target)} is {shown}"
    if action == "expect_url" and isinstance(reading, str):
        return f"the address is {quoted(reading)}"
    return _expected_words(step, action)


def _expected_words(step: Mapping[str, Any], action: str) -> str:
    value = step[action]
    if action in _EXPECTED_OF_PAGE:
        return _EXPECTED_OF_PAGE[action]
    what = action.removeprefix("expect_")
    if what == "checked":
        return f"{described(value)} is {'' if step.get('is', True) else 'not '}ticked"
    if what in {"visible", "hidden", "enabled", "disabled", "focused"}:
        return f"{described(value)} is {what}"
    if what in {"count", "texts"}:
        return f"the {many(value)} are {'as many' if what == 'count' else 'those'} as expected"
    if what == "placed":
        return f"{described(value)} is in its place"
    if what == "inside_viewport":
        return f"{described(value)} is inside the window"
    words = {
        "text": "{} reads as expected",
        "number": "{} is the expected number",
        "value": "the value of {} is as expected",
        "attribute": "the attribute {name} of {} is as expected",
        "style": "the style {property} of {} is as expected",
        "screenshot": "the look of {} is as expected",
    }
    names = {name: quoted(step.get(name, "")) for name in ("name", "property")}
    return words[what].format(described(value), **names)


_EXPECTED_OF_PAGE = {
    "expect_no_console_error": "the console shows no error",
    "expect_no_overflow": "the page fits the window's width",
    "expect_no_dialog": "no dialog opened",
    "expect_url": "the address is as expected",
    "expect_title": "the title is as expected",
    "expect_dialog": "the expected dialog opened",
    "expect_download": "the expected file was downloaded",
}


def _file_names(files: Sequence[str]) -> str:
    return ", ".join(name.rpartition("/")[2] for name in files)


def _choice(step: Mapping[str, Any]) -> str:
    if "index" in step:
        return f"the {ordinal(step['index'] + 1)} option"
    return quoted(step.get("label", step.get("value")))


def _remembered(step: Mapping[str, Any]) -> str:
    what = step.get("what", "text")
    return f"the {what['attribute']!r} attribute" if isinstance(what, Mapping) else f"the {what}"
