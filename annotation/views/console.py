"""The console: one set of outcomes, what they are about beside it, and what its annotator says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation import blindness, reading, saving
from annotation.vocabulary import EnvironmentProblem
from people.keymap import PageGroup, keys_on, preferences_of

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

OPEN, RATED = "open", "rated"
"""Looks of a row that has no mark: nothing was said, or a number was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedOutcome:
    """A row of the list as it is first painted."""

    id: int
    text: str
    look: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCriterion:
    """A criterion with its rows."""

    key: str
    title: str
    rows: list[ListedOutcome]


@require_safe
def console(request: HttpRequest, assignment_id: int) -> HttpResponse:
    """Show a set to its annotator, and to leads who look on; for everybody else there is none."""
    assignment = reading.assignment_for(request.user, assignment_id)
    document = reading.document(assignment, request.user) | {"closed": saving.why_closed(assignment)}
    context: dict[str, Any] = {
        "area": "annotation",
        "assignment": assignment,
        "document": document,
        "groups": listed(document),
        "marks": [
            {"value": mark, "words": mark.capitalize()} for mark in reversed(document["campaign"]["marks"])
        ],
        "is_mine": document["is_mine"],
        "may_reveal": document["is_mine"] and blindness.hides_something(assignment),
        "problems": list(EnvironmentProblem),
        "centre_template": f"annotation/components/centre_{document['campaign']['centre']}.html",
        "key_preferences": key_preferences(request.user),
    }
    answer = render(request, "annotation/console.html", context)
    # The page may take a picture of itself; what it frames may not.
    answer["Permissions-Policy"] = "display-capture=(self)"
    return answer


def listed(document: dict[str, Any]) -> list[ListedCriterion]:
    """Return the rows of the list, grouped by criterion."""
    by_id = {annotation["id"]: annotation for annotation in document["annotations"]}
    return [
        ListedCriterion(
            key=criterion["key"],
            title=criterion["title"],
            rows=[_row(by_id[pk]) for pk in criterion["annotations"]],
        )
        for criterion in document["criteria"]
    ]


def key_preferences(user: User | AnonymousUser) -> dict[str, Any]:
    """Return a person's keys of the console, and whether keys do anything."""
    return {"keys": keys_on(PageGroup.CONSOLE, user), "is_on": preferences_of(user).uses_keys}


def _row(annotation: dict[str, Any]) -> ListedOutcome:
    mark = annotation["mark"]
    look = mark or (OPEN if annotation["score"] is None else RATED)
    words = {OPEN: "Not marked", RATED: "Rated", "error": "Environment problem"}.get(look, look.capitalize())
    return ListedOutcome(id=annotation["id"], text=annotation["text"], look=look, words=words)
