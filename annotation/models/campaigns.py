"""A study: which outcomes of which runs are marked, by whom and under which rules."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.urls import reverse

from annotation.models.choices import choices
from annotation.vocabulary import (
    CampaignState,
    Centre,
    Distribution,
    MarkSet,
    OverlapUnit,
    SampleMethod,
)
from benchmark.models import ExpectedOutcome
from benchmark.rules.vocabulary import Mark
from runs.models import Round, Run


class Campaign(models.Model):
    """An annotation study; its sample is drawn once, when it is opened, and stays."""

    name = models.CharField(max_length=200)
    state = models.CharField(
        max_length=8, choices=choices(CampaignState), default=CampaignState.DRAFT, db_index=True
    )
    runs = models.ManyToManyField(Run, related_name="campaigns", blank=True)
    tasks = models.JSONField(default=list, blank=True, help_text="Keys of tasks; empty means all.")
    rounds = models.JSONField(
        default=list, blank=True, help_text="Numbers of rounds; empty means each trial's final round."
    )
    annotators = models.ManyToManyField("auth.User", related_name="campaigns", blank=True)
    mark_set = models.CharField(max_length=8, choices=choices(MarkSet), default=MarkSet.BINARY)
    scales = models.JSONField(
        default=list,
        blank=True,
        help_text='For ratings: [{"key", "title", "definition", "minimum", "maximum"}].',
    )
    centre = models.CharField(max_length=8, choices=choices(Centre), default=Centre.LIVE)
    is_blind = models.BooleanField(default=True)
    method = models.CharField(max_length=12, choices=choices(SampleMethod), default=SampleMethod.ALL)
    sample_size = models.PositiveIntegerField(
        default=0, help_text="Outcomes of each project, or of each stratum."
    )
    strata = models.JSONField(default=list, blank=True, help_text="Of agent, kind, mark.")
    seed = models.BigIntegerField(default=0)
    only_executed = models.BooleanField(
        default=True, help_text="Draw only outcomes that the judge executed (protocols: agreement)."
    )
    overlap = models.PositiveSmallIntegerField(default=1, help_text="People for each unit of overlap.")
    overlap_unit = models.CharField(max_length=8, choices=choices(OverlapUnit), default=OverlapUnit.TRIAL)
    overlap_share = models.FloatField(
        default=1.0, help_text="Share of units that get `overlap` people; the others get one."
    )
    distribution = models.CharField(max_length=8, choices=choices(Distribution), default=Distribution.QUEUE)
    lease_hours = models.PositiveSmallIntegerField(
        default=48, help_text="A set nobody works on for so long is given to somebody else."
    )
    deadline = models.DateTimeField(null=True, blank=True)
    webhook_url = models.URLField(max_length=500, blank=True)
    webhook_secret = models.CharField(max_length=64, blank=True)
    is_imported = models.BooleanField(default=False, help_text="Labels made elsewhere.")
    created_by = models.ForeignKey(
        "auth.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("annotation:campaign", args=[self.pk])

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What an annotator may give, worst first."""
        return MarkSet(self.mark_set).marks


class Guideline(models.Model):
    """One version of what annotators are told; each annotation names the version it followed."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="guidelines")
    version = models.PositiveSmallIntegerField()
    text = models.TextField()
    created_by = models.ForeignKey(
        "auth.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "version"]
        constraints = [models.UniqueConstraint(fields=["campaign", "version"], name="guideline_version_once")]

    def __str__(self) -> str:
        return f"Guideline v{self.version}"


class Item(models.Model):
    """One thing to be marked: an outcome of a round, or a rating of it; frozen at the opening."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="items")
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="items")
    outcome = models.ForeignKey(
        ExpectedOutcome, null=True, blank=True, on_delete=models.PROTECT, related_name="items"
    )
    scale = models.CharField(max_length=64, blank=True, help_text="Key of a scale, for ratings.")
    position = models.PositiveIntegerField(help_text="Order within the round.")
    copies = models.PositiveSmallIntegerField(default=1, help_text="How many people mark it.")
    stratum = models.CharField(max_length=200, blank=True)
    judge_mark = models.CharField(
        max_length=8, blank=True, choices=choices(Mark), help_text="The judge's final mark at the opening."
    )
    known_mark = models.CharField(
        max_length=8, blank=True, choices=choices(Mark), help_text="Calibration: the mark that is right."
    )
    known_score = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ["campaign", "round", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "round", "outcome"],
                condition=Q(outcome__isnull=False),
                name="item_outcome_once",
            ),
            models.UniqueConstraint(
                fields=["campaign", "round", "scale"],
                condition=Q(outcome__isnull=True),
                name="item_scale_once",
            ),
            models.CheckConstraint(
                condition=Q(outcome__isnull=False, scale="") | (Q(outcome__isnull=True) & ~Q(scale="")),
                name="item_outcome_or_scale",
            ),
        ]

    def __str__(self) -> str:
        return f"Item {self.pk}"

    @property
    def is_calibration(self) -> bool:
        """Whether the right answer is known."""
        return bool(self.known_mark) or self.known_score is not None
