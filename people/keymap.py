"""Every act that has a key: its words, its default, the pages it is on, and each person's own choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from people.models import Preferences

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class PageGroup(StrEnum):
    """Pages on which the same keys are alive together."""

    EVERYWHERE = "everywhere"
    LISTS = "lists"
    RUN = "run"
    TRIAL = "trial"
    TASK = "task"
    SETS = "sets"
    AGREEMENT = "agreement"
    CONSOLE = "console"

    @property
    def words(self) -> str:
        """What the group is called on the page of key settings."""
        return _GROUP_WORDS[self]

    def meets(self, other: PageGroup) -> bool:
        """Whether there is a page on which keys of both are alive."""
        if self is other or PageGroup.EVERYWHERE in (self, other):
            return True
        return PageGroup.LISTS in (self, other) and PageGroup.CONSOLE not in (self, other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Something that a key does; `key` is the default, empty where a person may choose one."""

    name: str
    words: str
    key: str
    group: PageGroup


class BadKey(ValueError):
    """Raised with a sentence that says why a key cannot be used for an act, and what can."""


NAMED_KEYS = ("Space",)
"""Keys that have a name instead of a character; Enter, Escape, Tab and the arrows keep their meaning."""

_GROUP_WORDS = {
    PageGroup.EVERYWHERE: "Everywhere",
    PageGroup.LISTS: "Lists, tables and graphs",
    PageGroup.RUN: "A run",
    PageGroup.TRIAL: "A trial",
    PageGroup.TASK: "A task",
    PageGroup.SETS: "Your sets",
    PageGroup.AGREEMENT: "Agreement",
    PageGroup.CONSOLE: "Annotation console",
}


def _of(group: PageGroup, *rows: tuple[str, str, str]) -> list[Action]:
    return [Action(name=name, key=key, words=words, group=group) for name, key, words in rows]


ACTIONS: Mapping[str, Action] = {
    action.name: action
    for action in [
        *_of(
            PageGroup.EVERYWHERE,
            ("find", "/", "Find runs"),
            ("keys", "?", "Show the keys"),
            ("go-benchmarks", "g b", "Go to benchmarks"),
            ("go-runs", "g r", "Go to runs"),
            ("go-results", "g s", "Go to results"),
            ("go-annotation", "g a", "Go to annotation"),
            ("go-agreement", "g e", "Go to agreement"),
            ("theme", ".", "Light or dark"),
            ("copy-address", "y", "Copy this address"),
        ),
        *_of(
            PageGroup.LISTS,
            ("next-row", "j", "Next row"),
            ("previous-row", "k", "Previous row"),
            ("tick-row", "x", "Select the row"),
            ("graph", "g", "Into the graph"),
        ),
        *_of(
            PageGroup.RUN,
            ("cell-marks", "m", "Cells show marks"),
            ("cell-rate", "r", "Cells show the rate"),
            ("cell-time", "t", "Cells show the time"),
            ("pause-events", "Space", "Pause the events"),
        ),
        *_of(
            PageGroup.TRIAL,
            ("previous-round", "[", "Previous round"),
            ("next-round", "]", "Next round"),
            ("next-view", "v", "Next view"),
        ),
        *_of(
            PageGroup.TASK,
            ("previous-task", "[", "Previous task"),
            ("next-task", "]", "Next task"),
        ),
        *_of(
            PageGroup.SETS,
            ("continue", "c", "Continue the first set"),
            ("take-set", "t", "Take the next set"),
        ),
        *_of(
            PageGroup.AGREEMENT,
            ("fold-partial", "b", "Partial as Fail, as Pass, three marks"),
            ("cells", "c", "Into the table of counts"),
        ),
        *_of(
            PageGroup.CONSOLE,
            ("pass", "p", "Pass"),
            ("partial", "a", "Partial"),
            ("fail", "f", "Fail"),
            ("problem", "e", "Environment problem"),
            ("note", "n", "Write a note"),
            ("undo", "u", "Undo"),
            ("next", "j", "Next outcome"),
            ("previous", "k", "Previous outcome"),
            ("next-criterion", "J", "Next criterion"),
            ("previous-criterion", "K", "Previous criterion"),
            ("next-open", "U", "Next open outcome"),
            ("submit", "", "Submit the set"),
            ("sheet", "?", "Show the keys"),
            ("capture", "c", "Capture the preview"),
            ("viewport-phone", "1", "Phone"),
            ("viewport-tablet", "2", "Tablet"),
            ("viewport-fit", "3", "As wide as the pane"),
            ("reload", "r", "Reload the application"),
            ("reset", "", "Reset the application's state"),
            ("open-tab", "", "Open the application in a tab"),
            ("logs", "", "Show the application's logs"),
            ("start", "", "Start the application"),
            ("stop", "", "Stop the application"),
            ("enter-app", "g", "Give the keys to the application"),
            ("take-back", "", "Take the keys back"),
        ),
    ]
}

# The console shows its own sheet in place of the site's, so these two may share a key.
_SAME_ACT = {"sheet": "keys", "keys": "sheet"}


def keys_of(user: User | AnonymousUser) -> dict[str, str]:
    """Return the key of every act: the person's own choice, else the default.

    A key is what a browser calls it ("p", "J" with Shift, "Space"); two in a row are "g r".
    """
    return merged(preferences_of(user).keys)


def keys_on(group: PageGroup, user: User | AnonymousUser) -> dict[str, str]:
    """Return the keys of the acts of one group of pages that have one."""
    keys = keys_of(user)
    return {name: keys[name] for name, action in ACTIONS.items() if action.group is group and keys[name]}


def merged(own: Mapping[str, object]) -> dict[str, str]:
    """Lay a person's choices over the defaults; what names no act or no key is passed over."""
    keys = {name: action.key for name, action in ACTIONS.items()}
    return keys | {name: key for name, key in own.items() if name in keys and isinstance(key, str)}


def preferences_of(user: User | AnonymousUser) -> Preferences:
    """Return what a person has set, asked of the database once a request; unsaved where nothing is."""
    if not user.is_authenticated:
        return Preferences()
    known: Preferences | None = user.__dict__.get("_own_preferences")
    if known is None:
        known = Preferences.objects.filter(user=user).first() or Preferences(user=user)
        user.__dict__["_own_preferences"] = known
    return known


def set_key(own: Preferences, action: Action, key: str) -> None:
    """Give an act another key; raises BadKey where that key does something else on the same pages."""
    if action.group is PageGroup.CONSOLE and " " in key:
        raise BadKey(f"{key!r} is two strokes; in the annotation console each act is one. Type one key.")
    current = merged(own.keys)
    other = conflict(action.name, key, current)
    if other is not None:
        raise BadKey(
            f"{key} already means {other.words!r} ({other.group.words}), on pages where both would be alive. "
            "Choose another key, or change that one first."
        )
    set_keys(own, current | {action.name: key})


def set_keys(own: Preferences, keys: Mapping[str, str]) -> None:
    """Keep what differs from the defaults."""
    own.keys = {name: key for name, key in keys.items() if key != ACTIONS[name].key}
    own.save()


def switch_keys(own: Preferences, *, on: bool) -> None:
    """Let single keys do something, or nothing, for this person."""
    own.uses_keys = on
    own.save()


def checked_key(text: str) -> str:
    """Return a typed key in the one way of writing it; raises BadKey with a sentence."""
    parts = text.split()
    if text and not parts:
        parts = ["Space"]
    if not 1 <= len(parts) <= 2:
        raise BadKey(f"{text[:20]!r} is no key. Type one character, two with a blank between, or Space.")
    return " ".join(_one_key(part, text) for part in parts)


def conflict(name: str, key: str, keys: Mapping[str, str]) -> Action | None:
    """Return the other act that this key already does on a page where both are alive."""
    group = ACTIONS[name].group
    if not key:
        return None
    for other in ACTIONS.values():
        if other.name == name or _SAME_ACT.get(name) == other.name:
            continue
        if keys[other.name] == key and group.meets(other.group):
            return other
    return None


def _one_key(part: str, text: str) -> str:
    for named in NAMED_KEYS:
        if part.casefold() == named.casefold():
            return named
    if len(part) == 1 and part.isprintable():
        return part
    raise BadKey(
        f"{text[:20]!r} is no key that can be used. Type one character such as p or P, two with a blank "
        "between such as g r, or Space. Enter, Escape, Tab and the arrows keep their own meaning."
    )
