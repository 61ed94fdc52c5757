"""Django's admin for annotation: to look at and search, as far as one is not blind; nothing is changed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from annotation import models
from annotation.blindness import blind_campaigns

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Model]
else:
    # Django's own class takes no type parameter at run time.
    ModelAdmin = admin.ModelAdmin


class LookOnly(ModelAdmin):
    """Rows that people made by their work: nobody adds, changes or deletes one by hand.

    Those of a campaign to which the person is blind are not there; `campaign` leads to the campaign.
    """

    campaign = "campaign"

    list_per_page = 50
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Model]:
        rows = super().get_queryset(request)
        blind = blind_campaigns(request.user)
        return rows.exclude(**{f"{self.campaign}__in": sorted(blind)}) if blind else rows

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(models.Campaign)
class CampaignAdmin(LookOnly):
    """Campaigns; they are planned, opened and closed on their own pages. The secret is not shown."""

    campaign = "pk"

    list_display = ("id", "name", "state", "mark_set", "overlap", "is_blind", "opened_at", "closed_at")
    list_filter = ("state", "mark_set", "is_blind", "is_imported")
    search_fields = ("name",)
    exclude = ("webhook_secret",)


@admin.register(models.Guideline)
class GuidelineAdmin(LookOnly):
    """Versions of what annotators are told."""

    list_display = ("id", "campaign", "version", "created_by", "created_at")
    list_select_related = ("campaign", "created_by")


@admin.register(models.Item)
class ItemAdmin(LookOnly):
    """What is marked in a campaign."""

    list_display = ("id", "campaign", "round_id", "outcome_id", "scale", "copies", "stratum", "known_mark")
    list_filter = ("known_mark", "copies")
    search_fields = ("campaign__name", "stratum")
    list_select_related = ("campaign",)


@admin.register(models.Assignment)
class AssignmentAdmin(LookOnly):
    """Sets and whose they are."""

    list_display = ("id", "campaign", "alias", "copy", "generation", "annotator", "state", "lease_until")
    list_filter = ("state",)
    search_fields = ("campaign__name", "annotator__username", "rater", "alias")
    list_select_related = ("campaign", "annotator")


@admin.register(models.Annotation)
class AnnotationAdmin(LookOnly):
    """Marks as they stand."""

    campaign = "assignment__campaign"

    list_display = ("id", "assignment_id", "item_id", "mark", "score", "problem", "version", "saved_at")
    list_filter = ("mark", "problem")
    search_fields = ("note", "assignment__annotator__username")


@admin.register(models.Revision)
class RevisionAdmin(LookOnly):
    """Every change of a mark, in order."""

    campaign = "assignment__campaign"

    list_display = (
        "id",
        "assignment_id",
        "sequence",
        "annotation_id",
        "version",
        "change",
        "mark",
        "saved_at",
    )
    list_filter = ("change",)
    search_fields = ("operation",)


@admin.register(models.ActiveTime)
class ActiveTimeAdmin(LookOnly):
    """Time at work."""

    campaign = "annotation__assignment__campaign"

    list_display = ("id", "annotation_id", "milliseconds", "saved_at")


@admin.register(models.Picture)
class PictureAdmin(LookOnly):
    """Screenshots of annotators."""

    campaign = "annotation__assignment__campaign"

    list_display = ("id", "annotation_id", "source", "width", "height", "size", "added_at", "removed_at")
    list_filter = ("source",)


@admin.register(models.Comment)
class CommentAdmin(LookOnly):
    """What is said about outcomes."""

    list_display = ("id", "campaign", "item_id", "author", "text", "created_at", "settled_at")
    search_fields = ("text", "author__username")
    list_select_related = ("campaign", "author")


@admin.register(models.Adjudication)
class AdjudicationAdmin(LookOnly):
    """Marks that settle a disagreement."""

    campaign = "item__campaign"

    list_display = ("id", "item_id", "number", "by", "mark", "score", "created_at")
    list_select_related = ("by",)


@admin.register(models.WebhookDelivery)
class WebhookDeliveryAdmin(LookOnly):
    """Messages to other sites."""

    list_display = ("id", "campaign", "event", "attempts", "next_at", "delivered_at", "problem")
    list_filter = ("event",)
    list_select_related = ("campaign",)
