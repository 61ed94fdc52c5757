"""Which runs a person may see: roles say whether any, open blind assignments hide some for a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.display import counted
from people.hiding import RunHidden, hidden_runs, require_shown
from people.roles import may_read_runs, require_reader
from runs.models import Run

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
    from django.db.models import Model, QuerySet

__all__ = [
    "RunHidden",
    "concealed_benchmarks",
    "hidden_runs",
    "hidden_words",
    "require_visible",
    "visible_rows",
    "visible_runs",
]


def visible_runs(user: User | AnonymousUser) -> QuerySet[Run]:
    """Return the runs that a person may see; none for annotators alone."""
    return visible_rows(user, Run.objects.all(), run="pk")


def visible_rows[M: Model](user: User | AnonymousUser, rows: QuerySet[M], *, run: str) -> QuerySet[M]:
    """Leave out the rows of runs that a person may not see; `run` is the way to the run's number."""
    if not may_read_runs(user):
        return rows.none()
    hidden = hidden_runs(user)
    return rows.exclude(**{f"{run}__in": sorted(hidden)}) if hidden else rows


def require_visible(user: User | AnonymousUser, run_id: int) -> None:
    """Raise RoleMissing for somebody who reads no runs, RunHidden for a run that is hidden now."""
    require_reader(user)
    require_shown(user, run_id)


def concealed_benchmarks(user: User | AnonymousUser) -> dict[int, int]:
    """Return the benchmarks of hidden runs, each with such a run: their candidates' names are agents' names."""
    hidden = hidden_runs(user)
    if not hidden:
        return {}
    return dict(Run.objects.filter(pk__in=hidden).order_by("-pk").values_list("benchmark_id", "pk"))


def hidden_words(user: User | AnonymousUser) -> str:
    """Say in a line how many runs a list leaves out; empty where it leaves out none."""
    count = len(hidden_runs(user))
    if not count:
        return ""
    verb = "is" if count == 1 else "are"
    return f"{counted(count, 'run')} {verb} hidden from you while your blind assignment is open."
