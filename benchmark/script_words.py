"""Say a judge's script in plain words, a sentence a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

type Step = Mapping[str, Any]

_SIDES = ("above", "below", "left_of", "right_of")
_ROLE_NOUNS = {"img": "picture", "textbox": "text field", "combobox": "selection", "row": "row"}


def steps_in_words(steps: Sequence[Step]) -> list[str]:
    """One sentence for each step; a step's own note, where it has one, comes first."""
    return [_step(step) for step in steps]


def target_in_words(target: Any) -> str:
    """Where a step looks, as a person would point at it."""
    if not isinstance(target, Mapping):
        return _selector(str(target))
    if "any" in target:
        found = " or ".join(target_in_words(each) for each in target["any"])
    else:
        found = str(target["called"]) if "called" in target else _named(target)
    if "has_text" in target:
        found += f" with “{target['has_text']}”"
    if "nth" in target:
        found = f"{_nth(target['nth'])} {found.removeprefix('the ')}"
    if "within" in target:
        found += f" in {target_in_words(target['within'])}"
    return found


def _step(step: Step) -> str:
    if "note" in step:
        return _sentence(str(step["note"]))
    for action, say in _ACTIONS.items():
        if action in step:
            return _sentence(say(step))
    return _sentence(next(iter(step), "do nothing").replace("_", " "))


def _sentence(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def _selector(selector: str) -> str:
    if selector.startswith("text="):
        return f"“{selector.removeprefix('text=')}”"
    return f"‘{selector}’"


def _named(target: Step) -> str:
    if "role" in target:
        noun = _ROLE_NOUNS.get(target["role"], target["role"])
        return f"the {noun} “{target['name']}”" if "name" in target else f"the {noun}"
    words = {
        "css": "‘{}’",
        "label": "the field “{}”",
        "placeholder": "the field with the hint “{}”",
        "text": "“{}”",
        "testid": "the element marked ‘{}’",
        "alt": "the picture “{}”",
        "title": "the element titled “{}”",
    }
    for key, form in words.items():
        if key in target:
            return form.format(target[key])
    return "an element"


def _nth(place: int) -> str:
    if place < 0:
        return "the last" if place == -1 else f"the {-place}th last"
    return (
        "the " + ("first", "second", "third", "fourth", "fifth")[place] if place < 5 else f"the {place + 1}th"
    )


def _at(step: Step, action: str) -> str:
    return target_in_words(step[action])


def _plain(verb: str, action: str) -> Callable[[Step], str]:
    return lambda step: f"{verb} {_at(step, action)}"


def _expected(adjective: str, action: str) -> Callable[[Step], str]:
    return lambda step: f"expect {_at(step, action)} to be {adjective}"


def _comparison(step: Step) -> str:
    parts = []
    for key, form in _COMPARISONS.items():
        if key in step:
            value = step[key]
            text = ", ".join(f"“{each}”" for each in value) if isinstance(value, list) else f"“{value}”"
            parts.append(form.format(text if not isinstance(value, int | float) else f"{value:g}"))
    return " and ".join(parts) or "be there"


def _compared(noun: str, action: str) -> Callable[[Step], str]:
    return lambda step: f"expect the {noun} of {_at(step, action)} to {_comparison(step)}"


def _page_compared(noun: str, action: str) -> Callable[[Step], str]:
    return lambda step: f"expect the {noun} to {_comparison(step[action])}"


def _remember(step: Step) -> str:
    what = step.get("what", "text")
    noun = f"attribute {what['attribute']}" if isinstance(what, Mapping) else what
    return f"remember the {noun} of {_at(step, 'remember')} as ‘{step.get('as', '')}’"


def _press(step: Step) -> str:
    where = f" in {target_in_words(step['at'])}" if "at" in step else ""
    return f"press {step['press']}{where}"


def _select(step: Step) -> str:
    chosen = step.get("label", step.get("value", step.get("index", "")))
    return f"choose “{chosen}” in {_at(step, 'select')}"


def _wait_for(step: Step) -> str:
    return f"wait until {_at(step, 'wait_for')} is {step.get('state', 'visible')}"


def _placed(step: Step) -> str:
    sides = [f"{side.replace('_', ' ')} {target_in_words(step[side])}" for side in _SIDES if side in step]
    return f"expect {_at(step, 'expect_placed')} {' and '.join(sides)}"


def _either(step: Step) -> str:
    branches = [" ".join(steps_in_words(branch)) for branch in step["either"]]
    return "either: " + " Or: ".join(branches)


_COMPARISONS = {
    "equals": "be {}",
    "is": "be {}",
    "contains": "contain {}",
    "contains_any": "contain one of {}",
    "contains_all": "contain all of {}",
    "each_contains": "contain {} each",
    "matches": "match {}",
    "each_matches": "match {} each",
    "name_matches": "match {}",
    "lacks": "lack {}",
    "at_least": "be at least {}",
    "at_most": "be at most {}",
    "same_as": "be the same as {}",
    "differs_from": "differ from {}",
    "less_than": "be less than {}",
    "more_than": "be more than {}",
    "sorted": "be sorted {}",
    "unique": "be all different",
    "tolerance": "within {}",
}

_ACTIONS: Mapping[str, Callable[[Step], str]] = {
    "goto": lambda step: f"open {step['goto']}",
    "reload": lambda _: "load the page again",
    "back": lambda _: "go back",
    "forward": lambda _: "go forward",
    "resize": lambda step: f"make the window {step['resize'][0]} x {step['resize'][1]} pixels",
    "wait": lambda step: f"wait {step['wait']} ms",
    "wait_for": _wait_for,
    "use_page": lambda step: f"go on with the {step['use_page']} window",
    "click": _plain("click", "click"),
    "dblclick": _plain("double-click", "dblclick"),
    "hover": _plain("point at", "hover"),
    "focus": _plain("focus", "focus"),
    "check": _plain("tick", "check"),
    "uncheck": _plain("untick", "uncheck"),
    "fill": lambda step: f"type “{step.get('value', '')}” into {_at(step, 'fill')}",
    "type": lambda step: f"type “{step.get('value', '')}” into {_at(step, 'type')}, key by key",
    "press": _press,
    "select": _select,
    "upload": lambda step: f"give {', '.join(step.get('files', []))} to {_at(step, 'upload')}",
    "drag": lambda step: f"drag {_at(step, 'drag')} to {target_in_words(step.get('to', ''))}",
    "scroll_to": _plain("scroll to", "scroll_to"),
    "scroll_by": lambda step: f"scroll by {step['scroll_by'][0]} across and {step['scroll_by'][1]} down",
    "dialog": lambda step: f"{step['dialog']} the dialogs that follow",
    "set_offline": lambda step: "cut the network" if step["set_offline"] else "restore the network",
    "remember": _remember,
    "expect_visible": _expected("visible", "expect_visible"),
    "expect_hidden": _expected("hidden", "expect_hidden"),
    "expect_enabled": _expected("usable", "expect_enabled"),
    "expect_disabled": _expected("disabled", "expect_disabled"),
    "expect_checked": lambda step: (
        f"expect {_at(step, 'expect_checked')} to be {'ticked' if step.get('is', True) else 'not ticked'}"
    ),
    "expect_focused": _expected("focused", "expect_focused"),
    "expect_inside_viewport": _expected("inside the window", "expect_inside_viewport"),
    "expect_text": _compared("text", "expect_text"),
    "expect_texts": _compared("texts", "expect_texts"),
    "expect_count": _compared("number", "expect_count"),
    "expect_number": _compared("value", "expect_number"),
    "expect_value": _compared("content", "expect_value"),
    "expect_attribute": lambda step: (
        f"expect the attribute {step.get('name', '')} of {_at(step, 'expect_attribute')} to {_comparison(step)}"
    ),
    "expect_style": lambda step: (
        f"expect the {step.get('property', 'style')} of {_at(step, 'expect_style')} to {_comparison(step)}"
    ),
    "expect_screenshot": _compared("picture", "expect_screenshot"),
    "expect_url": _page_compared("address", "expect_url"),
    "expect_title": _page_compared("title", "expect_title"),
    "expect_no_dialog": lambda _: "expect no dialog",
    "expect_placed": _placed,
    "expect_dialog": _page_compared("dialog", "expect_dialog"),
    "expect_download": _page_compared("name of a download", "expect_download"),
    "expect_no_console_error": lambda _: "expect no error in the console",
    "expect_no_overflow": lambda _: "expect the page not to be wider than the window",
    "either": _either,
}
