"""Hand a set in when it is complete, and let a lead open it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation import queue, saving, webhooks
from annotation.models import DECIDED, Annotation, Assignment
from annotation.times import moment
from annotation.vocabulary import AssignmentState, CampaignState
from people import audit
from people.roles import may_read_runs

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SUBMITTED = "assignment.submitted"
"""Event that other sites are told of."""


class NotPossible(ValueError):
    """Raised with a sentence that says why a set cannot be handed in or opened again."""


class NotComplete(NotPossible):
    """Raised where items are undecided; `missing` are their annotations, in order."""

    def __init__(self, missing: list[int]) -> None:
        count = len(missing)
        super().__init__(
            f"{count} {'outcome is' if count == 1 else 'outcomes are'} still open: "
            "each needs a mark, or an environment problem with its reason."
        )
        self.missing = missing


def submit(assignment: Assignment, *, by: User) -> Assignment:
    """Hand a set in; once it is, the same again changes nothing. Raises NotPossible, NotComplete."""
    with transaction.atomic():
        locked = _locked(assignment)
        if locked.state == AssignmentState.SUBMITTED:
            return locked
        if (closed := saving.why_closed(locked)) is not None:
            raise NotPossible(closed)
        undecided = Annotation.objects.filter(assignment=locked).exclude(DECIDED)
        missing = list(undecided.order_by("item__position").values_list("pk", flat=True))
        if missing:
            raise NotComplete(missing)
        now = timezone.now()
        locked.state, locked.submitted_at, locked.lease_until = AssignmentState.SUBMITTED, now, None
        locked.taken_at = locked.taken_at or now
        locked.save(update_fields=["state", "submitted_at", "lease_until", "taken_at"])
        audit.note(by, "submit", f"assignment:{locked.pk}", campaign=locked.campaign_id)
        webhooks.announce(locked.campaign, SUBMITTED, _body(locked, by))
        return locked


def reopen(assignment: Assignment, *, by: User, reason: str = "") -> Assignment:
    """Let the annotator of a submitted set go on with it. Raises NotPossible."""
    with transaction.atomic():
        locked = _locked(assignment)
        if locked.state == AssignmentState.OPEN:
            return locked
        if locked.state != AssignmentState.SUBMITTED or locked.annotator is None:
            raise NotPossible(
                "Only a submitted set can be opened again; one that expired can be assigned anew."
            )
        if locked.campaign.state != CampaignState.OPEN:
            raise NotPossible("This campaign is closed: open it again first, then the set.")
        locked.state, locked.submitted_at = AssignmentState.OPEN, None
        now = timezone.now()
        locked.lease_until = queue.lease_of(locked.campaign, now=now)
        if may_read_runs(locked.annotator):
            # Between the hand-in and now the judge's marks were open to this person.
            locked.revealed_at = locked.revealed_at or now
        locked.save(update_fields=["state", "submitted_at", "lease_until", "revealed_at"])
        audit.note(by, "reopen", f"assignment:{locked.pk}", campaign=locked.campaign_id, reason=reason)
        return locked


def _locked(assignment: Assignment) -> Assignment:
    rows = Assignment.objects.select_for_update(no_key=True, of=("self",)).select_related(
        "campaign", "annotator"
    )
    return rows.get(pk=assignment.pk)


def _body(assignment: Assignment, by: User) -> dict[str, object]:
    return {
        "assignment": assignment.pk,
        "campaign": assignment.campaign_id,
        "alias": assignment.alias,
        "annotator": by.get_username(),
        "submitted_at": moment(assignment.submitted_at),
    }
