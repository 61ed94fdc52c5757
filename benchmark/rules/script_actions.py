"""The actions of the step language, each with the shape of its value and of its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from benchmark.rules.script_shapes import (
    Shape,
    always_true,
    filled_text,
    flag,
    held_keys,
    number,
    object_with,
    one_of,
    pair,
    path,
    pattern,
    remembered_thing,
    share,
    target,
    text,
    texts,
    tolerance,
    upload_names,
    whole,
)


class StepKind(StrEnum):
    """What a step is for."""

    NAVIGATE = "navigate"
    ACT = "act"
    REMEMBER = "remember"
    EXPECT = "expect"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionSpec:
    """One action of the language: the shape of its value, of its options, and which must be given."""

    kind: StepKind
    value: Shape
    options: Mapping[str, Shape] = field(default_factory=dict)
    needs_one_of: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    """Options that name something remembered earlier."""


def _act(value: Shape, **options: Shape) -> ActionSpec:
    return ActionSpec(kind=StepKind.ACT, value=value, options=options)


def _navigate(value: Shape, **options: Shape) -> ActionSpec:
    return ActionSpec(kind=StepKind.NAVIGATE, value=value, options=options)


def _expect(
    value: Shape,
    one_of_these: Mapping[str, Shape] | None = None,
    *,
    beside: Mapping[str, Shape] | None = None,
    needs: tuple[str, ...] = (),
) -> ActionSpec:
    comparisons = one_of_these or {}
    return ActionSpec(
        kind=StepKind.EXPECT,
        value=value,
        options={**(beside or {}), **comparisons},
        needs_one_of=tuple(comparisons),
        needs=needs,
        uses=tuple(name for name in _COMPARED if name in comparisons),
    )


_COMPARED = ("same_as", "differs_from", "less_than", "more_than")
_COUNT = whole(minimum=0, maximum=1_000_000)
_SAMENESS: Mapping[str, Shape] = {"same_as": filled_text, "differs_from": filled_text}
_ORDER: Mapping[str, Shape] = {**_SAMENESS, "less_than": filled_text, "more_than": filled_text}
_CASE: Mapping[str, Shape] = {"ignore_case": flag}
_WORDING: Mapping[str, Shape] = {
    "equals": text,
    "contains": filled_text,
    "contains_any": texts,
    "matches": pattern,
    "lacks": filled_text,
}
_LISTING: Mapping[str, Shape] = {
    "equals": texts,
    "contains_all": texts,
    "each_contains": filled_text,
    "each_matches": pattern,
    "lacks": filled_text,
    "sorted": one_of("ascending", "descending"),
    "unique": always_true,
}
_POINTER: Mapping[str, Shape] = {"position": pair(share)}
_CLICK: Mapping[str, Shape] = {
    **_POINTER,
    "button": one_of("left", "right", "middle"),
    "keys": held_keys,
}
_SIDES: Mapping[str, Shape] = dict.fromkeys(("above", "below", "left_of", "right_of"), target)

ACTIONS: Mapping[str, ActionSpec] = {
    "goto": _navigate(path),
    "reload": _navigate(always_true),
    "back": _navigate(always_true),
    "forward": _navigate(always_true),
    "resize": _navigate(pair(whole(minimum=200, maximum=4000))),
    "wait": _navigate(whole(minimum=0, maximum=10_000)),
    "wait_for": _navigate(target, state=one_of("visible", "hidden", "attached", "detached")),
    "use_page": _navigate(one_of("newest", "first")),
    "click": _act(target, **_CLICK),
    "dblclick": _act(target, **_CLICK),
    "hover": _act(target, **_POINTER),
    "focus": _act(target),
    "check": _act(target),
    "uncheck": _act(target),
    "fill": ActionSpec(kind=StepKind.ACT, value=target, options={"value": text}, needs=("value",)),
    "type": ActionSpec(kind=StepKind.ACT, value=target, options={"value": filled_text}, needs=("value",)),
    "press": _act(filled_text, at=target),
    "select": ActionSpec(
        kind=StepKind.ACT,
        value=target,
        options={"value": text, "label": filled_text, "index": _COUNT},
        needs_one_of=("value", "label", "index"),
    ),
    "upload": ActionSpec(kind=StepKind.ACT, value=target, options={"files": upload_names}, needs=("files",)),
    "drag": ActionSpec(
        kind=StepKind.ACT, value=target, options={"to": target, "position": pair(share)}, needs=("to",)
    ),
    "scroll_to": _act(target),
    "scroll_by": _act(pair(whole(minimum=-20_000, maximum=20_000)), at=target),
    "dialog": _act(one_of("accept", "dismiss"), text=text),
    "set_offline": _act(flag),
    "remember": ActionSpec(
        kind=StepKind.REMEMBER,
        value=target,
        options={"as": filled_text, "what": remembered_thing},
        needs=("as",),
    ),
    "expect_visible": _expect(target),
    "expect_hidden": _expect(target),
    "expect_enabled": _expect(target),
    "expect_disabled": _expect(target),
    "expect_checked": _expect(target, beside={"is": flag}),
    "expect_focused": _expect(target),
    "expect_text": _expect(target, {**_WORDING, **_SAMENESS}, beside=_CASE),
    "expect_texts": _expect(target, {**_LISTING, **_SAMENESS}, beside=_CASE),
    "expect_count": _expect(target, {"is": _COUNT, "at_least": _COUNT, "at_most": _COUNT, **_ORDER}),
    "expect_number": _expect(
        target,
        {"is": number, "at_least": number, "at_most": number, **_ORDER},
        beside={"tolerance": tolerance},
    ),
    "expect_value": _expect(target, {**_WORDING, **_SAMENESS}, beside=_CASE),
    "expect_attribute": _expect(
        target, {**_WORDING, **_SAMENESS}, beside={"name": filled_text, **_CASE}, needs=("name",)
    ),
    "expect_style": _expect(
        target, {**_WORDING, **_SAMENESS}, beside={"property": filled_text, **_CASE}, needs=("property",)
    ),
    "expect_screenshot": _expect(target, _SAMENESS),
    "expect_url": _expect(object_with(_WORDING)),
    "expect_title": _expect(object_with({**_WORDING, **_CASE})),
    "expect_no_console_error": _expect(always_true),
    "expect_no_overflow": _expect(always_true),
    "expect_dialog": _expect(object_with({**_WORDING, **_CASE})),
    "expect_no_dialog": _expect(always_true),
    "expect_download": _expect(
        object_with({"name_matches": pattern, "contains": filled_text, "contains_all": texts})
    ),
    "expect_inside_viewport": _expect(target),
    "expect_placed": _expect(target, _SIDES),
}
"""Every action but `either`, which holds lists of steps itself."""
