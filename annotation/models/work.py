"""One person's share of a study and everything that person said, with its history."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.urls import reverse

from annotation.models.campaigns import Campaign, Guideline, Item
from annotation.models.choices import choices
from annotation.vocabulary import AssignmentState, Change, EnvironmentProblem, PictureSource
from benchmark.rules.vocabulary import Mark
from runs.models import Round

NOT_EXPIRED = ~Q(state=AssignmentState.EXPIRED)

DECIDED = ~Q(mark="") | Q(score__isnull=False)
"""Annotations with a mark, a rating or an environment problem."""


class Assignment(models.Model):
    """One set: items of one round for one person; without an annotator it is free to be taken.

    `copy` counts the people a round is given to. A set that is taken back keeps its row and its
    annotations as `expired`, and a new row of the next `generation` takes its place.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="assignments")
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="assignments")
    copy = models.PositiveSmallIntegerField()
    generation = models.PositiveSmallIntegerField(default=1)
    alias = models.CharField(max_length=16, help_text="What the trial is called, agent unnamed.")
    annotator = models.ForeignKey(
        "auth.User", null=True, blank=True, on_delete=models.PROTECT, related_name="assignments"
    )
    rater = models.CharField(max_length=150, blank=True, help_text="Who marked it elsewhere (imported).")
    state = models.CharField(max_length=12, choices=choices(AssignmentState), default=AssignmentState.OPEN)
    taken_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    expired_at = models.DateTimeField(null=True, blank=True)
    revealed_at = models.DateTimeField(
        null=True, blank=True, help_text="When its annotator saw what blindness hides."
    )
    place = models.JSONField(
        default=dict, blank=True, help_text="Where the person was: item, scroll, viewport."
    )
    sequence = models.PositiveIntegerField(default=0, help_text="Revisions so far: a cursor for other tabs.")

    class Meta:
        ordering = ["campaign", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "round", "copy", "generation"], name="assignment_generation_once"
            ),
            models.UniqueConstraint(
                fields=["campaign", "round", "copy"], condition=NOT_EXPIRED, name="assignment_copy_once"
            ),
            # The same round is never marked twice by one person: overlap means other people.
            models.UniqueConstraint(
                fields=["campaign", "round", "annotator"],
                condition=NOT_EXPIRED & Q(annotator__isnull=False),
                name="assignment_person_once",
            ),
        ]
        indexes = [models.Index(fields=["campaign", "state", "annotator"], name="assignment_free")]

    def __str__(self) -> str:
        return f"Assignment {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("annotation:console", args=[self.pk])

    @property
    def rater_name(self) -> str:
        """Who marks it, by the name of an account or of somebody elsewhere; empty for a free set."""
        return self.rater if self.annotator is None else self.annotator.get_username()


class Annotation(models.Model):
    """A person's mark on one item as it stands; the row is there, unmarked, from the opening on.

    `note` is NULL where the item was not reviewed and "" where there was nothing to say.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="annotations")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="annotations")
    mark = models.CharField(max_length=8, blank=True, choices=choices(Mark))
    score = models.FloatField(null=True, blank=True)
    problem = models.CharField(
        max_length=16, blank=True, choices=choices(EnvironmentProblem), help_text="Then the mark is error."
    )
    problem_text = models.TextField(blank=True)
    note = models.TextField(null=True, blank=True)  # noqa: DJ001  # "not reviewed" is not "nothing to say"
    version = models.PositiveIntegerField(default=0, help_text="Revisions of this annotation so far.")
    guideline = models.ForeignKey(Guideline, null=True, blank=True, on_delete=models.PROTECT)
    active_ms = models.PositiveBigIntegerField(default=0, help_text="Time at work on it, idle time left out.")
    saved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["assignment", "item__position"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "item"], name="annotation_once"),
            models.CheckConstraint(
                condition=Q(problem="") | Q(mark=Mark.ERROR, score__isnull=True),
                name="annotation_problem_is_error",
            ),
        ]

    def __str__(self) -> str:
        return f"Annotation {self.pk}"

    @property
    def is_decided(self) -> bool:
        """Whether a mark, a rating or an environment problem was given."""
        return bool(self.mark) or self.score is not None


class Revision(models.Model):
    """One saved change of an annotation: what it became, and which operation made it so."""

    annotation = models.ForeignKey(Annotation, on_delete=models.CASCADE, related_name="revisions")
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="revisions")
    sequence = models.PositiveIntegerField(help_text="Order within the assignment.")
    version = models.PositiveIntegerField(help_text="Order within the annotation.")
    operation = models.UUIDField(help_text="Named by the client, so that what is sent twice is saved once.")
    change = models.CharField(max_length=8, choices=choices(Change))
    undoes = models.UUIDField(null=True, blank=True, help_text="The operation that is taken back.")
    mark = models.CharField(max_length=8, blank=True, choices=choices(Mark))
    score = models.FloatField(null=True, blank=True)
    problem = models.CharField(max_length=16, blank=True, choices=choices(EnvironmentProblem))
    problem_text = models.TextField(blank=True)
    note = models.TextField(null=True, blank=True)  # noqa: DJ001  # as in Annotation
    guideline = models.ForeignKey(Guideline, null=True, blank=True, on_delete=models.PROTECT)
    made_at = models.DateTimeField(help_text="When the person did it, by that person's clock.")
    saved_at = models.DateTimeField()

    class Meta:
        ordering = ["assignment", "sequence"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "operation"], name="revision_operation_once"),
            models.UniqueConstraint(fields=["assignment", "sequence"], name="revision_sequence_once"),
            models.UniqueConstraint(fields=["annotation", "version"], name="revision_version_once"),
        ]

    def __str__(self) -> str:
        return f"{self.change} {self.version}"


class ActiveTime(models.Model):
    """A stretch of time that a person was at work on one item; sent once, counted once."""

    annotation = models.ForeignKey(Annotation, on_delete=models.CASCADE, related_name="times")
    operation = models.UUIDField(unique=True)
    milliseconds = models.PositiveIntegerField()
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.milliseconds} ms"


class Picture(models.Model):
    """A screenshot that an annotator added, encoded anew by us."""

    annotation = models.ForeignKey(Annotation, on_delete=models.CASCADE, related_name="pictures")
    operation = models.UUIDField(unique=True)
    source = models.CharField(max_length=8, choices=choices(PictureSource))
    digest = models.CharField(max_length=64)
    media_type = models.CharField(max_length=40)
    size = models.PositiveIntegerField()
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    added_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"Picture {self.pk}"
