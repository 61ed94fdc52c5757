"""Look at what blindness hides: the page that asks for a reason, and then shows it."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation import blindness
from annotation.hidden_facts import hidden_by
from annotation.models import Assignment
from people.roles import is_lead, may_read_runs


@require_http_methods(["GET", "HEAD", "POST"])
def reveal(request: HttpRequest, assignment_id: int) -> HttpResponse:
    """Ask why; write it down and show what was hidden. Its annotator and leads may."""
    assignment = get_object_or_404(
        Assignment.objects.select_related("campaign", "round__trial__task"), pk=assignment_id
    )
    is_own = assignment.annotator_id == request.user.pk
    if not is_own and not is_lead(request.user):
        raise Http404("There is no such assignment among yours.")
    if not is_own:
        # A lead who annotates in the same campaign would read here what that lead's own set hides.
        blindness.require_not_blind(request.user, assignment.campaign)
    problem = ""
    if request.method == "POST":
        assert request.user.is_authenticated
        try:
            blindness.reveal(assignment, by=request.user, reason=request.POST.get("reason", ""))
        except blindness.CannotReveal as cannot:
            problem = str(cannot)
        else:
            return redirect("annotation:reveal", assignment.pk)
    context = {
        "area": "annotation",
        "assignment": assignment,
        "campaign": assignment.campaign,
        "is_own": is_own,
        "problem": problem,
        "reason": request.POST.get("reason", ""),
        "hidden": hidden_by(assignment) if assignment.revealed_at else None,
        "may_open_run": may_read_runs(request.user),
        "may_reveal": blindness.hides_something(assignment),
    }
    return render(request, "annotation/reveal.html", context, status=422 if problem else 200)
