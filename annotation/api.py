"""Sets to be marked as data: what the console reads, and what it saves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Router, Schema
from ninja.responses import Status

from annotation import blindness, presence, queue, reading, saving, submitting
from annotation.agreement.ratings import RatingsError
from annotation.models import Assignment, Campaign
from annotation.reports.asked import campaign_compared
from annotation.reports.campaign_agreement import read_marks
from annotation.reports.campaign_findings import content_key, kept_report
from annotation.texts import storable
from annotation.times import moment
from people import audit
from people.roles import require_lead, roles_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

router = Router(tags=["annotation"])


class Refusal(Schema):
    """Why a request was refused, in one sentence; `missing` are annotations that are still open."""

    detail: str
    missing: list[int] = []


class OperationsIn(Schema):
    """What a person did, in order: 1 to 200 operations; each is read, saved or refused by itself."""

    operations: list[Any]


class PresenceIn(Schema):
    """Time at work on outcomes since it was last told, and where the person is."""

    times: list[Any] = []
    place: Any = None


class ReasonIn(Schema):
    """Why something is done that is written down."""

    reason: str = ""


@router.get("/me")
def me(request: HttpRequest) -> dict[str, Any]:
    """Who is signed in, and with which roles."""
    user = _user(request)
    roles = sorted(role.value for role in roles_of(user))
    return {"user": user.pk, "username": user.get_username(), "roles": roles}


@router.post("/campaigns/{campaign_id}/take", response={200: dict[str, Any], 409: Refusal})
def take(request: HttpRequest, campaign_id: int) -> Status[Any]:
    """Take the set that is to be worked on now: one's own open one, or a free one."""
    campaign = get_object_or_404(Campaign, pk=campaign_id, annotators=_user(request).pk)
    try:
        taken = queue.take_next(campaign, _user(request))
    except queue.NothingGiven as nothing:
        return Status(409, {"detail": str(nothing)})
    return Status(200, {"assignment": taken.pk, "alias": taken.alias})


@router.get("/campaigns/{campaign_id}/agreement", response={200: dict[str, Any], 409: Refusal})
def agreement(request: HttpRequest, campaign_id: int, scale: str = "") -> Status[Any]:
    """Every statistic of agreement of a campaign, as `proofroom agreement --campaign` gives it; for leads.

    `scale` names one of several scales where ratings were asked.
    """
    require_lead(request.user)
    campaign = campaign_compared(_user(request), campaign_id)
    try:
        marks = read_marks(campaign, scale=scale)
        report = kept_report(campaign, marks, key=content_key(campaign, marks))
    except RatingsError as error:
        return Status(409, {"detail": str(error)})
    audit.note(_user(request), "export", f"campaign:{campaign.pk}", kind="agreement")
    return Status(200, report.document())


@router.get("/assignments/{assignment_id}")
def assignment(request: HttpRequest, assignment_id: int) -> dict[str, Any]:
    """One set with everything that its console shows; never what blindness hides."""
    return reading.document(reading.assignment_for(request.user, assignment_id), _user(request))


@router.get("/assignments/{assignment_id}/changes")
def changes(request: HttpRequest, assignment_id: int, after: int = 0) -> dict[str, Any]:
    """What was saved after a sequence number, for another tab to catch up."""
    found = reading.assignment_for(request.user, assignment_id)
    return reading.changes(found, after=after) | {"closed": saving.why_closed(found)}


@router.post("/assignments/{assignment_id}/operations", response={200: dict[str, Any], 422: Refusal})
def operations(request: HttpRequest, assignment_id: int, sent: OperationsIn) -> Status[Any]:
    """Save operations in order; an operation that was saved before is answered as saved."""
    own = reading.own_assignment(request.user, assignment_id)
    if not 1 <= len(sent.operations) <= saving.MOST_AT_ONCE:
        sentence = f"Send 1 to {saving.MOST_AT_ONCE} operations at a time, not {len(sent.operations)}."
        return Status(422, {"detail": sentence})
    return Status(200, saving.save(own, sent.operations).as_json())


@router.post("/assignments/{assignment_id}/presence")
def note_presence(request: HttpRequest, assignment_id: int, sent: PresenceIn) -> dict[str, Any]:
    """Say that somebody is at work: counts time once, keeps the place, extends the lease."""
    noted = presence.note_presence(
        reading.own_assignment(request.user, assignment_id),
        stretches=presence.read_stretches(sent.times),
        place=presence.read_place(sent.place),
    )
    return {
        "sequence": noted.sequence,
        "lease_until": moment(noted.lease_until),
        "state": noted.state,
        "closed": saving.why_closed(noted),
    }


@router.post("/assignments/{assignment_id}/submit", response={200: dict[str, Any], 409: Refusal})
def submit(request: HttpRequest, assignment_id: int) -> Status[Any]:
    """Hand a set in, if every outcome has a mark or an environment problem."""
    own = reading.own_assignment(request.user, assignment_id)
    try:
        return Status(200, _state(submitting.submit(own, by=_user(request))))
    except submitting.NotComplete as incomplete:
        return Status(409, {"detail": str(incomplete), "missing": incomplete.missing})
    except submitting.NotPossible as impossible:
        return Status(409, {"detail": str(impossible)})


@router.post("/assignments/{assignment_id}/reopen", response={200: dict[str, Any], 409: Refusal})
def reopen(request: HttpRequest, assignment_id: int, sent: ReasonIn | None = None) -> Status[Any]:
    """Let the annotator of a submitted set go on with it; for leads."""
    found = reading.assignment_for(request.user, assignment_id)
    require_lead(request.user)
    reason = storable(sent.reason) if sent else ""
    try:
        return Status(200, _state(submitting.reopen(found, by=_user(request), reason=reason)))
    except submitting.NotPossible as impossible:
        return Status(409, {"detail": str(impossible)})


@router.post("/assignments/{assignment_id}/reveal", response={200: dict[str, Any], 409: Refusal})
def reveal(request: HttpRequest, assignment_id: int, sent: ReasonIn) -> Status[Any]:
    """Show what blindness hides, once it is written down who looks and why."""
    found = reading.assignment_for(request.user, assignment_id)
    try:
        blindness.reveal(found, by=_user(request), reason=storable(sent.reason))
    except blindness.CannotReveal as cannot:
        return Status(409, {"detail": str(cannot)})
    return Status(200, reading.hidden_document(found))


def _user(request: HttpRequest) -> User:
    # The router lets nobody in who is not signed in.
    assert request.user.is_authenticated
    return request.user


def _state(assignment: Assignment) -> dict[str, Any]:
    return {"state": assignment.state, "submitted_at": moment(assignment.submitted_at)}
