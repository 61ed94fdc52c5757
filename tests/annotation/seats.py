"""Signed-in people at the site, and sets marked as the console marks them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation import saving, submitting
from annotation.models import Annotation, Assignment, Campaign
from annotation.vocabulary import Change, EnvironmentProblem
from benchmark.rules.vocabulary import Mark
from tests import campaigns

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def seat(user: User) -> Client:
    """A browser's stand-in in which a person is signed in."""
    client = Client(headers={"host": settings.SITE_HOST})
    client.force_login(user)
    return client


def mark_all(
    assignment: Assignment,
    mark: Mark = Mark.PASS,
    *,
    others: dict[int, Mark] | None = None,
    note: str = "",
    submit: bool = True,
) -> list[Annotation]:
    """Give every item of a set a mark (`others` by place), and hand it in."""
    rows = list(assignment.annotations.order_by("item__position"))
    said = [campaigns.marked(row, (others or {}).get(place, mark)) for place, row in enumerate(rows)]
    if note:
        said += [campaigns.operation(row, Change.NOTE, base=1, note=note) for row in rows]
    saved = saving.save(assignment, said)
    assert all(result.status == "saved" for result in saved.results), saved.results
    if submit:
        assert assignment.annotator is not None
        submitting.submit(assignment, by=assignment.annotator)
    return list(assignment.annotations.order_by("item__position"))


def flag(annotation: Annotation, *, text: str = "It closed when I pressed Borrow.") -> None:
    """Say that an outcome cannot be judged here."""
    said = campaigns.operation(
        annotation,
        Change.PROBLEM,
        base=annotation.version,
        problem=EnvironmentProblem.DIED.value,
        problem_text=text,
    )
    saved = saving.save(annotation.assignment, [said])
    assert [result.status for result in saved.results] == ["saved"]


def sets_of(campaign: Campaign) -> Sequence[Assignment]:
    """A campaign's sets that are not expired, in their order."""
    return list(
        campaign.assignments.exclude(state="expired")
        .select_related("annotator", "campaign")
        .order_by("round", "copy")
    )


def queries(client: Client, path: str) -> int:
    """How many queries a page takes the second time it is asked for."""
    client.get(path)
    with CaptureQueriesContext(connection) as seen:
        answer = client.get(path)
    assert answer.status_code == 200, (path, answer.status_code)
    return len(seen)
