"""Who looks at a set: its annotator or a lead, with what blindness takes out of sight for that person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation import blindness, reading
from annotation.agent_names import HiddenNames, names_of
from annotation.models import Assignment
from annotation.vocabulary import AssignmentState

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A person before a set: its annotator, or a lead who looks on."""

    assignment: Assignment
    person: int
    is_own: bool
    is_blind: bool
    hidden_names: HiddenNames

    @property
    def is_taken_back(self) -> bool:
        """Whether somebody else works on it now."""
        return self.assignment.state == AssignmentState.EXPIRED


def seat_of(user: User | AnonymousUser, assignment_id: int) -> Seat:
    """Return a person's seat before a set.

    Raises Http404 for a set of others, and StillBlind for a lead from whom its campaign is hidden.
    """
    assignment = reading.assignment_for(user, assignment_id)
    assert user.pk is not None
    is_own = assignment.annotator_id == user.pk
    # A lead who looks on sees what the annotator sees, as long as that person works.
    is_blind = blindness.hides_something(assignment) or assignment.campaign_id in blindness.blind_campaigns(
        user
    )
    run = assignment.round.trial.run
    hidden = names_of(label=run.agent_label, agent_settings=run.code_agent_settings) if is_blind else None
    return Seat(
        assignment=assignment,
        person=user.pk,
        is_own=is_own,
        is_blind=is_blind,
        hidden_names=HiddenNames(names=hidden),
    )
