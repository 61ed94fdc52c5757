"""The first page with what waits for whoever looks: the runs' own first page, and one's open sets on it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.own_sets import waiting_for
from people.roles import may_read_runs
from runs.views.home import home as home_of_runs

SETS_SHOWN = 4


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show a person's open sets above runs and results; to go on with a set is the first thing to do."""
    if not may_read_runs(request.user):
        return home_of_runs(request)
    waiting = waiting_for(request.user, now=timezone.now())
    mine: dict[str, Any] = {
        "waiting": waiting if waiting.open or waiting.queues else None,
        "sets_shown": SETS_SHOWN,
    }
    if waiting.first is not None:
        mine["action"] = {"label": "Continue", "href": waiting.first.assignment.get_absolute_url()}
    return home_of_runs(request, mine=mine)
