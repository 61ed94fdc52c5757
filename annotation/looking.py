"""Who may look at what an annotator judges, and what blindness leaves of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404

from annotation.hiding import Hiding, names_of
from annotation.models import Assignment
from annotation.vocabulary import AssignmentState
from people.roles import is_lead

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A person before a set: its annotator, or a lead who looks on."""

    assignment: Assignment
    person: int
    is_own: bool
    is_blind: bool
    hiding: Hiding

    @property
    def is_taken_back(self) -> bool:
        """Whether somebody else works on it now."""
        return self.assignment.state == AssignmentState.EXPIRED


def seat_of(user: User | AnonymousUser, assignment_id: int) -> Seat:
    """Return a person's seat before a set. Raises Http404, or PermissionDenied for a set of others."""
    of = Assignment.objects.select_related("campaign", "round__trial__run")
    assignment = get_object_or_404(of, pk=assignment_id)
    is_own = user.pk is not None and assignment.annotator_id == user.pk
    if user.pk is None or not (is_own or is_lead(user)):
        raise PermissionDenied("This set was given to somebody else.")
    is_blind = assignment.campaign.is_blind and assignment.revealed_at is None
    run = assignment.round.trial.run
    names = names_of(label=run.agent_label, agent_settings=run.code_agent_settings) if is_blind else None
    return Seat(
        assignment=assignment, person=user.pk, is_own=is_own, is_blind=is_blind, hiding=Hiding(names=names)
    )
