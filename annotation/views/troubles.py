"""What a lead has to look at in a campaign: outcomes that could not be judged, and looks behind the blind."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from annotation.models import Annotation, Assignment, Campaign
from annotation.vocabulary import AssignmentState, EnvironmentProblem
from people.models import AuditEntry

PROBLEMS_SHOWN = 50
REVEALS_SHOWN = 50


def problems_of(shown: Campaign) -> dict[str, Any]:
    """The newest environment problems; what was marked since is none any more."""
    rows = (
        Annotation.objects.filter(assignment__campaign=shown)
        .exclude(problem="")
        .exclude(assignment__state=AssignmentState.EXPIRED)
        .select_related("assignment__annotator", "item__outcome__criterion", "item__round__trial__task")
        .order_by("-saved_at", "-pk")
    )
    return {
        "rows": [
            {
                "annotation": row,
                "reason": EnvironmentProblem(row.problem).words,
                "item": row.item,
                "task": row.item.round.trial.task,
            }
            for row in rows[:PROBLEMS_SHOWN]
        ],
        "most": PROBLEMS_SHOWN,
    }


def reveals_of(shown: Campaign) -> list[AuditEntry]:
    """Who looked at what blindness hides, newest first, with the reason given."""
    sets = [f"assignment:{pk}" for pk in _revealed(shown)]
    return list(AuditEntry.objects.filter(act="reveal", subject__in=sets).order_by("-pk")[:REVEALS_SHOWN])


def _revealed(shown: Campaign) -> QuerySet[Assignment, int]:
    return (
        Assignment.objects.filter(campaign=shown, revealed_at__isnull=False)
        .order_by("-revealed_at")
        .values_list("pk", flat=True)[:500]
    )
