"""Campaigns for pages: a draft, one at work with people who differ, and a queue with free sets."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import Group, User
from django.utils import timezone
from PIL import Image, ImageDraw

from annotation import comments, opening, pictures, saving, submitting
from annotation.blindness import reveal
from annotation.designing import KnownAnswer
from annotation.drafting import set_known_answers
from annotation.models import Annotation, Assignment, Campaign
from annotation.vocabulary import (
    Change,
    Distribution,
    EnvironmentProblem,
    OverlapUnit,
    PictureSource,
    SampleMethod,
)
from benchmark.models import ExpectedOutcome
from benchmark.rules.vocabulary import Mark
from runs.models import Round, Run

PASSWORD = "a long enough password"
NAMES = ("annotator-one", "annotator-two", "annotator-three")
NOTES = (
    "The message is out of sight until one scrolls back up to the basket.",
    "It says why, in plain words, below the button.",
    "",
)


def annotators() -> list[User]:
    """Three people with the role annotator, made once."""
    group, _ = Group.objects.get_or_create(name="annotator")
    people = []
    for name in NAMES:
        person, is_new = User.objects.get_or_create(username=name)
        if is_new:
            person.set_password(PASSWORD)
            person.save()
        person.groups.add(group)
        people.append(person)
    return people


def draft(runs: Sequence[Run], people: Sequence[User], *, by: User, name: str = "Village study") -> Campaign:
    """A campaign that is planned: stratified, with an overlap of two on a third of the trials."""
    made = Campaign.objects.create(
        name=name,
        method=SampleMethod.STRATIFIED,
        sample_size=4,
        strata=["agent", "kind"],
        seed=7,
        overlap=2,
        overlap_share=0.34,
        overlap_unit=OverlapUnit.TRIAL,
        created_by=by,
    )
    made.runs.set(runs)
    made.annotators.set(people)
    return made


def at_work(runs: Sequence[Run], people: Sequence[User], *, by: User, is_blind: bool = True) -> Campaign:
    """An open campaign: everybody has sets, two people differ, one has left, one had a problem."""
    made = Campaign.objects.create(
        name="Judge scripted against people, May",
        seed=11,
        tasks=["seed-library", "corner-shop"],
        overlap=2,
        distribution=Distribution.PLANNED,
        is_blind=is_blind,
        deadline=timezone.now() + timedelta(days=12),
        created_by=by,
    )
    made.runs.set(runs)
    made.annotators.set(people)
    rounds = (
        Round.objects.filter(trial__run__in=runs).select_related("trial__task").order_by("trial", "-number")
    )
    final = {
        round_.trial_id: round_ for round_ in reversed(list(rounds)) if round_.trial.task.key in made.tasks
    }
    outcomes = ExpectedOutcome.objects.filter(
        criterion__task__trials__in=list(final),
        verdicts__judging__round__in=final.values(),
        verdicts__mark="pass",
    )
    known = []
    for round_ in list(final.values())[:4]:
        outcome = outcomes.filter(criterion__task=round_.trial.task_id).order_by("pk").first()
        if outcome is not None:
            known.append(KnownAnswer(round=round_.pk, outcome=outcome.pk, mark=Mark.PASS))
    set_known_answers(made, known)
    opening.open_campaign(made, by=by)
    for place, assignment in enumerate(made.assignments.select_related("campaign").order_by("pk")):
        share = (1.0, 1.0, 0.6, 1.0, 0.3, 0.0)[place % 6]
        mark_some(assignment, share=share, turn=place)
    quiet = made.assignments.select_related("annotator").order_by("pk")[2]
    Assignment.objects.filter(pk=quiet.pk).update(lease_until=timezone.now() + timedelta(hours=3))
    _talk(made, by=by)
    if is_blind:
        assert quiet.annotator is not None
        reveal(quiet, by=quiet.annotator, reason="The page names its agent in the title.")
    return made


def _talk(of: Campaign, *, by: User) -> None:
    """An annotator asks, a lead answers; the leads have a thread of their own."""
    row = (
        Annotation.objects.filter(assignment__campaign=of)
        .select_related("assignment__campaign", "item")
        .order_by("pk")[0]
    )
    person = row.assignment.annotator
    assert person is not None
    asked = comments.add_to_assignment(
        row, by=person, text="Does a message in the console of the browser count?"
    )
    comments.answer(asked, by=by, text="No: only what a person sees.")
    comments.add_to_assignment(row, by=person, text="And one that goes away after a second?")
    comments.add_among_leads(row.item, by=by, text="The wording of this outcome is unclear; note it for v2.")


def queue_of_sets(runs: Sequence[Run], people: Sequence[User], *, by: User) -> Campaign:
    """An open campaign whose sets are free."""
    made = Campaign.objects.create(name="Second look at round 3", seed=3, created_by=by)
    made.runs.set(runs)
    made.annotators.set(people)
    opening.open_campaign(made, by=by)
    return made


def mark_some(assignment: Assignment, *, share: float, turn: int) -> None:
    """Mark a share of a set through the same door as the console; a whole one is submitted."""
    person = assignment.annotator
    assert person is not None
    rows = list(
        Annotation.objects.filter(assignment=assignment).select_related("item").order_by("item__position")
    )
    for place, row in enumerate(rows[: round(len(rows) * share)]):
        said = row.item.judge_mark if row.item.judge_mark in ("pass", "fail") else "fail"
        differs = (row.item.pk * 7 + turn) % 9 == 0
        mark = {"pass": "fail", "fail": "pass"}[said] if differs else said
        sent: list[dict[str, Any]] = [
            _operation(row, Change.MARK, base=0, mark=mark)
            if (place, turn % 5) != (3, 2)
            else _operation(row, Change.PROBLEM, base=0, problem=EnvironmentProblem.DIED.value)
        ]
        if NOTES[place % 3]:
            sent.append(_operation(row, Change.NOTE, base=1, note=NOTES[place % 3]))
        saving.save(assignment, sent)
        Annotation.objects.filter(pk=row.pk).update(active_ms=31_000 + 900 * ((place * 13 + turn) % 40))
    if turn == 0:
        for row in rows[:12]:
            picture_on(row)
    if share == 1.0:
        submitting.submit(assignment, by=person)


def picture_on(annotation: Annotation) -> None:
    """A screenshot that its annotator pasted."""
    image = Image.new("RGB", (640, 400), "#f2efe6")
    ImageDraw.Draw(image).rectangle((40, 60, 600, 120), fill="#35533f")
    stream = io.BytesIO()
    image.save(stream, "PNG")
    person = annotation.assignment.annotator
    assert person is not None
    pictures.add_picture(
        annotation,
        by=person,
        operation=uuid4(),
        source=PictureSource.PASTE,
        content=stream.getvalue(),
        now=timezone.now(),
    )


def _operation(row: Annotation, change: Change, *, base: int, **values: Any) -> dict[str, Any]:
    return {
        "operation": str(uuid4()),
        "annotation": row.pk,
        "change": change.value,
        "base": base,
        "made_at": timezone.now().isoformat(),
    } | values
