"""Scenes for the console: people with sets to mark, and what the database holds of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session

from annotation import comments, guidelines, queue
from annotation.models import ActiveTime, Annotation, Assignment, Guideline, Revision
from benchmark.rules.records import CriterionSpec, OutcomeSpec, TaskSpec
from people.models import Preferences
from tests import campaigns, make

CANDIDATE = Path(__file__).parent / "candidates" / "seed_library"

# title, kind, weight, what is expected
RUBRIC: tuple[tuple[str, str, int, tuple[str, ...]], ...] = (
    ("Page layout", "presence", 2, ("A catalogue, a search field and a basket are visible on opening.", "The catalogue lists at least six packets.", "A month selector stands beside the search.")),
    ("Borrow a packet", "functionality", 5, ("Borrowing adds the packet to the basket.", "The stock shown falls by one.", "The basket survives a reload.")),
    ("Limit of five packets", "robustness", 4, ("Five packets can be borrowed together.", "A sixth packet is refused and a message says why.", "After returning one packet, another can be borrowed.")),
    ("Stock stays at or above zero", "robustness", 4, ("A packet with none left cannot be borrowed.", "Two quick clicks borrow one packet.")),
    ("Return a packet", "functionality", 3, ("A loan can be returned from My loans.", "The stock shown rises by one.", "A returned packet leaves the list.")),
)  # fmt: skip


def seed_set(
    *,
    mark_set: str = "three",
    centre: str = "evidence",
    guideline: str = "",
    keys: dict[str, str] | None = None,
) -> dict[str, Any]:
    """One person with the seed library of five criteria and fourteen outcomes."""
    criteria = tuple(
        CriterionSpec(
            key=f"c{place}",
            title=title,
            kind=kind,
            weight=weight,
            outcomes=tuple(OutcomeSpec(text=text) for text in texts),
        )
        for place, (title, kind, weight, texts) in enumerate(RUBRIC)
    )
    return _taken(_task(criteria), mark_set=mark_set, centre=centre, guideline=guideline, keys=keys)


def long_set(*, outcomes: int, criteria: int = 1, centre: str = "evidence") -> dict[str, Any]:
    """One person with so many outcomes in each of so many criteria."""
    of = tuple(make.criterion(f"c{number}", outcomes=outcomes) for number in range(criteria))
    return _taken(_task(of), centre=centre)


def rated_set() -> dict[str, Any]:
    """One person who is asked for two ratings of the whole."""
    annotator = campaigns.person(password=campaigns.PASSWORD)
    of = campaigns.rated(_run(_task((make.criterion("c0"),))), annotators=[annotator])
    return campaigns.way_in(queue.take_next(of, annotator))


def stranger() -> dict[str, Any]:
    """Somebody else who may sign in."""
    return {"username": campaigns.person(password=campaigns.PASSWORD).username}


def begin_session(*, username: str) -> dict[str, Any]:
    """Sign somebody in, and give the cookie that says so."""
    person = User.objects.get(username=username)
    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.create()
    return {
        "name": settings.SESSION_COOKIE_NAME,
        "value": session.session_key,
        "domain": settings.SITE_HOST.partition(":")[0],
        "path": "/",
        "httpOnly": True,
        "secure": True,
        "sameSite": "Lax",
    }


def end_sessions(*, username: str) -> dict[str, Any]:
    """Sign one person out everywhere, as an expiry does."""
    key = str(User.objects.get(username=username).pk)
    ended = [each for each in Session.objects.all() if each.get_decoded().get("_auth_user_id") == key]
    for each in ended:
        each.delete()
    return {"ended": len(ended)}


def expire(*, assignment: int) -> dict[str, Any]:
    """Take a set back from somebody who left."""
    queue.release(Assignment.objects.get(pk=assignment), by=None, reason="left")
    return {}


def answer(*, assignment: int, text: str) -> dict[str, Any]:
    """Answer the question about the first outcome as a lead."""
    row = Assignment.objects.select_related("campaign").get(pk=assignment)
    first = row.annotations.select_related("assignment__campaign", "item").order_by("item__position")[0]
    comments.add_to_assignment(first, by=campaigns.lead(), text=text)
    return {}


def write_guideline(*, assignment: int, text: str) -> dict[str, Any]:
    """Let the lead change what annotators are told."""
    campaign = Assignment.objects.get(pk=assignment).campaign
    return {"version": guidelines.write(campaign, text, by=None).version}


def saved(*, assignment: int) -> dict[str, Any]:
    """What the site holds of a set: its history in order, and how it stands."""
    row = Assignment.objects.get(pk=assignment)
    revisions = Revision.objects.filter(assignment=row).order_by("sequence")
    annotations = Annotation.objects.filter(assignment=row).order_by("item__position")
    return {
        "state": row.state,
        "place": row.place,
        "revisions": list(revisions.values("annotation", "change", "mark", "note", "version", "problem")),
        "annotations": list(annotations.values("pk", "mark", "score", "note", "problem", "problem_text", "active_ms")),
        "times": ActiveTime.objects.filter(annotation__assignment=row).count(),
    }  # fmt: skip


def _taken(
    task: TaskSpec,
    *,
    mark_set: str = "three",
    centre: str = "evidence",
    guideline: str = "",
    keys: dict[str, str] | None = None,
) -> dict[str, Any]:
    annotator = campaigns.person(password=campaigns.PASSWORD)
    if keys is not None:
        Preferences.objects.create(user=annotator, keys=keys)
    of = campaigns.opened(_run(task), annotators=[annotator], mark_set=mark_set, centre=centre)
    if guideline:
        Guideline.objects.create(campaign=of, version=2, text=guideline)
    return campaigns.way_in(queue.take_next(of, annotator))


def _task(criteria: tuple[CriterionSpec, ...]) -> TaskSpec:
    return TaskSpec(
        key="seed-library",
        title="Seed library",
        request="Build me a page where people of our village can borrow seeds.",
        criteria=criteria,
        deploy={"kind": "static"},
    )


def _run(task: TaskSpec) -> Any:
    return campaigns.run(make.benchmark(task), workspace=CANDIDATE)
