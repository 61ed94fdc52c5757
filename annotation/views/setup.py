"""Set a campaign up: five sections and a live count; save it as a draft, open, close, reopen or double it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count, Exists, Max, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation import guidelines
from annotation.campaign_checks import BadCampaign, Design, checked
from annotation.campaign_forms import Given
from annotation.designing import known_answers
from annotation.drafting import fingerprint, lacks_of, pace, preview_of, save_draft
from annotation.models import Campaign
from annotation.plan_words import plan_in_words
from annotation.texts import row_key
from annotation.vocabulary import CampaignState
from benchmark.display import counted
from benchmark.models import Task
from people.roles import SiteRole, leads_only
from runs.models import Round, Run
from runs.visibility import hidden_runs

MOST_RUNS = 200
MOST_TASK_BOXES = 400


@leads_only
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Show the form for a new campaign, or save it."""
    if request.method == "POST":
        return _filled_in(request, None)
    given = Given(
        runs=tuple(request.GET.getlist("runs")),
        guideline=guidelines.CONVENTIONS.strip(),
        name=request.GET.get("name", ""),
    )
    return _show(request, None, given)


@leads_only
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Show a campaign's form, or save it; once it is open only what does not touch the sample."""
    campaign = get_object_or_404(Campaign, pk=campaign_id, is_imported=False)
    if request.method == "POST":
        return _filled_in(request, campaign)
    problems = lacks_of(campaign) if "check" in request.GET else {}
    return _show(request, campaign, Given.from_campaign(campaign), problems, is_lacking=bool(problems))


def _filled_in(request: HttpRequest, campaign: Campaign | None) -> HttpResponse:
    """Look at a form that was sent, or save it."""
    given = _with_kept_values(Given.from_values(request.POST), campaign, hidden=hidden_runs(request.user))
    action = request.POST.get("action", "")
    if action not in ("save", "open"):
        return _show(request, campaign, given)
    try:
        design = checked(given)
    except BadCampaign as bad:
        return _show(request, campaign, given, bad.problems)
    if campaign is not None and request.POST.get("base", "") != fingerprint(campaign):
        said = (
            "Somebody else changed this campaign since you opened this page, and nothing of yours is saved yet. "
            "Save once more to put yours in its place, or load the page again to see the other."
        )
        return _show(request, campaign, given, {"base": said}, status=409)
    try:
        saved = save_draft(campaign, design, by=request.user)  # type: ignore[arg-type]  # signed in
    except guidelines.BadGuideline as bad_text:
        return _show(request, campaign, given, {"guideline": str(bad_text)})
    if action == "open":
        return redirect("annotation:open", saved.pk)
    is_draft = saved.state == CampaignState.DRAFT
    messages.info(request, "Saved as a draft. Nobody sees it yet." if is_draft else "Saved.")
    return redirect("annotation:edit", saved.pk)


def _with_kept_values(given: Given, campaign: Campaign | None, *, hidden: Collection[int]) -> Given:
    """What a form does not send stays as it is: runs hidden from this person, and all that the sample froze."""
    if campaign is None:
        return given
    stored = Given.from_campaign(campaign)
    if campaign.state != CampaignState.DRAFT:
        return replace(stored, **{name: getattr(given, name) for name in _STILL_OPEN})
    unseen = [pk for pk in stored.runs if int(pk) in hidden]
    return replace(given, runs=(*given.runs, *unseen))


def _show(
    request: HttpRequest,
    campaign: Campaign | None,
    given: Given,
    problems: Mapping[str, str] | None = None,
    *,
    is_lacking: bool = False,
    status: int = 0,
) -> HttpResponse:
    """The form as it was filled in, with what it would make beside it; for htmx only that."""
    problems = dict(problems or {})
    is_htmx = bool(getattr(request, "htmx", False))
    context = {
        "area": "campaigns",
        "campaign": campaign,
        "given": given,
        "problems": problems,
        "is_lacking": is_lacking,
        "is_frozen": campaign is not None and campaign.state != CampaignState.DRAFT,
        "base": fingerprint(campaign),
        "is_htmx": is_htmx,
    }
    hidden = hidden_runs(request.user)
    unseen = sorted(hidden & _numbers(given.runs))
    context |= _tasks(given) | {"unseen_runs": counted(len(unseen), "chosen run") if unseen else ""}
    # What strata and tasks a hidden run has would tell its agent.
    context |= {"plan": None, "uncounted": _UNSEEN} if unseen else _counts(campaign, given)
    if is_htmx:
        return render(request, "annotation/campaign_setup.html#plan", context)
    context |= _choices(given, campaign, hidden=hidden)
    return render(
        request,
        "annotation/campaign_setup.html",
        context,
        status=status or (422 if problems and not is_lacking else 200),
    )


def _counts(campaign: Campaign | None, given: Given) -> dict[str, Any]:
    """What the design makes, or the sentence about the field that stands against counting it."""
    if campaign is not None and campaign.state != CampaignState.DRAFT:
        return {"plan": None}
    try:
        design: Design = checked(_named(given))
    except BadCampaign as bad:
        return {"plan": None, "uncounted": next(iter(bad.problems.values()))}
    if not design.runs:
        return {"plan": None, "uncounted": "Choose a run to see what there is to mark."}
    known = known_answers(campaign) if campaign is not None else ()
    return {"plan": plan_in_words(preview_of(design, known=known), pace())}


def _named(given: Given) -> Given:
    """A name that is still missing does not keep the count from being made."""
    return replace(given, name=given.name or "unnamed")


def _choices(given: Given, campaign: Campaign | None, *, hidden: Collection[int]) -> dict[str, Any]:
    """What can be chosen: runs that have rounds, and people."""
    picked = _numbers(given.runs)
    newest = (
        Run.objects.filter(Exists(Round.objects.filter(trial__run=OuterRef("pk"))))
        .exclude(pk__in=hidden)
        .order_by("-pk")
        .values_list("pk", flat=True)[:MOST_RUNS]
    )
    runs = (
        Run.objects.filter(pk__in=(set(newest) | picked) - set(hidden))
        .select_related("benchmark")
        .annotate(rounds=Max("trials__rounds__number"), size=Count("trials", distinct=True))
        .order_by("-pk")
    )
    chosen = set(given.annotators)
    people = (
        User.objects.filter(is_active=True)
        .prefetch_related("groups")
        .annotate(open_sets=Count("assignments", distinct=True))
        .order_by("username")
    )
    return {
        "runs": [{"run": run, "is_picked": run.pk in picked} for run in runs],
        "people": [
            {"user": user, "is_picked": str(user.pk) in chosen, "role": _role(user)}
            for user in people
            if str(user.pk) in chosen or _role(user)
        ],
        "known": len(known_answers(campaign)) if campaign is not None else 0,
        "zone": timezone.get_current_timezone_name(),
    }


def _tasks(given: Given) -> dict[str, Any]:
    """The tasks of the chosen runs, to take some of them."""
    rows = (
        Task.objects.filter(trials__run__in=_numbers(given.runs))
        .distinct()
        .order_by("benchmark", "position")
        .values_list("key", "title")[: MOST_TASK_BOXES + 1]
    )
    titles = dict(rows)
    shown = [{"key": key, "title": title, "is_picked": key in given.tasks} for key, title in titles.items()]
    return {
        # A task of a run that is chosen no longer stays in sight, so that it is not asked for unseen.
        "tasks": shown[:MOST_TASK_BOXES]
        + [{"key": key, "title": "", "is_picked": True} for key in given.tasks if key not in titles],
        "tasks_words": f"{len(given.tasks)} chosen" if given.tasks else "all",
    }


def _numbers(texts: Collection[str]) -> set[int]:
    return {key for text in texts if (key := row_key(text))}


def _role(user: User) -> str:
    """Which people to offer: annotators, and those who lead; empty for mere readers."""
    groups = {group.name for group in user.groups.all()}
    if SiteRole.ANNOTATOR in groups:
        return "annotator"
    if user.is_superuser or user.is_staff or SiteRole.LEAD in groups:
        return "lead"
    return ""


_UNSEEN = "Some of its runs are hidden from you while you mark blind, so what they hold is not counted here."

_STILL_OPEN = (
    "name", "annotators", "lease_hours", "guideline", "deadline", "webhook_url", "webhook_secret",
)  # fmt: skip
