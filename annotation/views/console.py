"""The console: one set of outcomes, the application beside it, and what its annotator says."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.models import Assignment
from annotation.vocabulary import EnvironmentProblem
from people.roles import is_lead


@require_safe
def console(request: HttpRequest, assignment_id: int) -> HttpResponse:
    """Show a set to its annotator, and to leads who look on; everybody else is refused."""
    of = Assignment.objects.select_related("campaign", "round__trial__task", "annotator")
    assignment = get_object_or_404(of, pk=assignment_id)
    if assignment.annotator_id != request.user.pk and not is_lead(request.user):
        raise PermissionDenied("This set was given to somebody else.")
    context: dict[str, Any] = {
        "area": "annotation",
        "assignment": assignment,
        "campaign": assignment.campaign,
        "task": assignment.round.trial.task,
        "is_mine": assignment.annotator_id == request.user.pk,
        "problems": list(EnvironmentProblem),
        "centre_template": f"annotation/components/centre_{assignment.campaign.centre}.html",
    }
    return render(request, "annotation/console.html", context)
