"""What is said about annotations: comments, adjudications, and what other sites are told."""

from __future__ import annotations

from django.db import models

from annotation.models.campaigns import Campaign, Item
from annotation.models.choices import choices
from annotation.models.work import Assignment
from benchmark.rules.vocabulary import Mark


class Comment(models.Model):
    """One contribution to a thread about an item.

    A thread of an assignment is between its annotator and the leads, so that peers stay blind; one
    without is the leads' own.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="comments")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="comments")
    assignment = models.ForeignKey(
        Assignment, null=True, blank=True, on_delete=models.CASCADE, related_name="comments"
    )
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="answers"
    )
    author = models.ForeignKey("auth.User", null=True, on_delete=models.SET_NULL, related_name="+")
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"Comment {self.pk}"


class Adjudication(models.Model):
    """A mark that settles a disagreement: it is added, the originals stay, the newest counts."""

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="adjudications")
    number = models.PositiveSmallIntegerField()
    by = models.ForeignKey("auth.User", null=True, on_delete=models.SET_NULL, related_name="+")
    mark = models.CharField(max_length=8, blank=True, choices=choices(Mark))
    score = models.FloatField(null=True, blank=True)
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["item", "number"]
        constraints = [models.UniqueConstraint(fields=["item", "number"], name="adjudication_number_once")]

    def __str__(self) -> str:
        return f"Adjudication {self.number}"


class WebhookDelivery(models.Model):
    """One message to another site: kept until it was taken, or given up with its reason."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=24)
    body = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(null=True, blank=True, db_index=True)
    delivered_at = models.DateTimeField(null=True, blank=True)
    problem = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "webhook deliveries"

    def __str__(self) -> str:
        return f"{self.event} {self.pk}"
