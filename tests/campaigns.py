"""Builders of campaigns: judged runs without a browser, people with roles, and sets to mark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.utils import timezone

from annotation import opening, queue
from annotation.models import Annotation, Assignment, Campaign
from annotation.vocabulary import Change, Distribution, MarkSet
from benchmark.models import Benchmark
from benchmark.rules.vocabulary import Mark
from people.roles import SiteRole
from runs.models import Run
from tests import make
from tests.runs import judged
from tests.runs.judged import Marks

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_numbers = count(1)

PASSWORD = "a long pass phrase"

MIXED: Marks = {"c1": (Mark.FAIL, Mark.PASS), "c2": (Mark.SKIPPED, Mark.SKIPPED)}
"""Marks of `benchmark`'s criteria: c0 passes, c1 passes in half, c2 is skipped."""


def person(name: str = "", *roles: SiteRole, password: str = "", **flags: Any) -> User:
    """An account with roles; without any an annotator. A name is made up where none is given."""
    user = get_user_model().objects.create_user(
        username=name or f"person-{next(_numbers)}", password=password or None, **flags
    )
    for role in roles or (SiteRole.ANNOTATOR,):
        group, _ = Group.objects.get_or_create(name=role.value)
        user.groups.add(group)
    return user


def people(amount: int, *, password: str = "") -> list[User]:
    """So many annotators."""
    return [person(password=password) for _ in range(amount)]


def lead(name: str = "", **more: Any) -> User:
    """A lead."""
    return person(name, SiteRole.LEAD, **more)


def benchmark(*, tasks: int = 2, criteria: int = 3, outcomes: int = 2) -> Benchmark:
    """A benchmark of several tasks `t1`... with criteria `c0`... of all three kinds."""
    kinds = ("presence", "functionality", "robustness")
    return make.benchmark(
        *(
            make.task(
                f"t{number}",
                *(
                    make.criterion(f"c{index}", outcomes=outcomes, kind=kinds[index % 3])
                    for index in range(criteria)
                ),
            )
            for number in range(1, tasks + 1)
        )
    )


def run(
    of: Benchmark | None = None, *, agent: str = "scripted", rounds: Sequence[Marks] = ({},), **more: Any
) -> Run:
    """A finished run with closed rounds and verdicts, named after its agent."""
    made = judged.finished_run(of or benchmark(), rounds=rounds, **more)
    Run.objects.filter(pk=made.pk).update(code_agent_label=agent)
    made.refresh_from_db()
    return made


def campaign(*runs: Run, annotators: Iterable[User] = (), **settings: Any) -> Campaign:
    """A draft over the given runs, or over one; settings are fields of the campaign."""
    made = Campaign.objects.create(**({"name": f"Campaign {next(_numbers)}", "seed": 7} | settings))
    made.runs.set(runs or (run(),))
    made.annotators.set(annotators)
    return made


def opened(*runs: Run, annotators: Iterable[User] = (), by: User | None = None, **settings: Any) -> Campaign:
    """An open campaign whose sets are free to be taken; without annotators it has one."""
    given = list(annotators) or [person()]
    return opening.open_campaign(campaign(*runs, annotators=given, **settings), by=by)


def planned(*runs: Run, annotators: Iterable[User] = (), **settings: Any) -> Campaign:
    """An open campaign whose sets were all given out."""
    return opened(*runs, annotators=annotators, distribution=Distribution.PLANNED, **settings)


def rated(*runs: Run, annotators: Iterable[User] = (), **settings: Any) -> Campaign:
    """An open campaign that asks for ratings from 0 to 100."""
    scales = [
        {"key": key, "title": key.title(), "definition": f"How good is {key}?", "minimum": 0, "maximum": 100}
        for key in ("semantic", "design")
    ]
    return opened(*runs, annotators=annotators, **({"mark_set": MarkSet.SCALES, "scales": scales} | settings))


def taken(of: Campaign | None = None, *, by: User | None = None) -> Assignment:
    """A set that somebody works on."""
    of = of or opened()
    return queue.take_next(of, by or of.annotators.order_by("pk")[0])


def operation(annotation: Annotation, change: Change, *, base: int = 0, **values: Any) -> dict[str, Any]:
    """An operation as the console sends it."""
    return {
        "operation": str(uuid4()),
        "annotation": annotation.pk,
        "change": change.value,
        "base": base,
        "made_at": timezone.now().isoformat(),
    } | values


def marked(annotation: Annotation, mark: Mark = Mark.PASS, *, base: int = 0, **values: Any) -> dict[str, Any]:
    """An operation that gives a mark."""
    return operation(annotation, Change.MARK, base=base, mark=mark.value, **values)


def way_in(assignment: Assignment) -> dict[str, Any]:
    """What somebody at a browser needs to sit down at a set: the address, the sign-in, and its annotations."""
    assert assignment.annotator is not None
    rows = assignment.annotations.order_by("item__position")
    return {
        "assignment": assignment.pk,
        "path": f"/annotation/{assignment.pk}/",
        "username": assignment.annotator.username,
        "password": PASSWORD,
        "annotations": list(rows.values_list("pk", flat=True)),
    }
