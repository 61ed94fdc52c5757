"""Django's admin for what happened: to look at and search; only names and labels are changed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from runs import models
from runs.visibility import visible_rows

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Model]
else:
    # Django's own class takes no type parameter at run time.
    ModelAdmin = admin.ModelAdmin


class OfRuns(ModelAdmin):
    """Rows of runs: those that a blind assignment hides from a person are not there; `run` leads to the run."""

    run = "run"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Model]:
        return visible_rows(request.user, super().get_queryset(request), run=self.run)


class LookOnly(OfRuns):
    """Rows that machines write: nobody adds, changes or deletes one by hand."""

    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(models.Run)
class RunAdmin(OfRuns):
    """Runs: their name may be changed, what was measured may not."""

    run = "pk"

    list_display = ("id", "name", "benchmark", "agent_label", "judge", "state", "created_at")
    list_filter = ("state", "protocol", "code_agent", "judge")
    search_fields = ("name", "benchmark__key", "code_agent", "code_agent_label")
    list_select_related = ("benchmark",)
    list_per_page = 50
    date_hierarchy = "created_at"
    fields = (
        "name",
        "benchmark",
        "benchmark_hash",
        "protocol",
        "code_agent",
        "code_agent_label",
        "code_agent_settings",
        "judge",
        "judge_settings",
        "settings",
        "repeats",
        "sandbox",
        "state",
        "launched_by",
        "created_at",
        "started_at",
        "finished_at",
        "cancelled_at",
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return tuple(field for field in self.fields if field not in ("name", "code_agent_label"))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(models.Trial)
class TrialAdmin(LookOnly):
    """Trials with their claims and trouble."""

    list_display = ("id", "run", "task", "repeat", "state", "stage", "attempts", "trouble")
    list_filter = ("state", "stage")
    search_fields = ("task__key", "trouble")
    list_select_related = ("run", "task")


@admin.register(models.Round)
class RoundAdmin(LookOnly):
    """Rounds."""

    run = "trial__run"
    list_display = ("id", "trial", "number", "state", "exit_reason", "opened_at", "closed_at")
    list_filter = ("state", "exit_reason", "number")
    list_select_related = ("trial",)


@admin.register(models.StageRecord)
class StageRecordAdmin(LookOnly):
    """When stages ran."""

    run = "round__trial__run"
    list_display = ("id", "round", "stage", "started_at", "finished_at")
    list_filter = ("stage",)
    list_select_related = ("round",)


@admin.register(models.Deployment)
class DeploymentAdmin(LookOnly):
    """Starts of candidates."""

    run = "round__trial__run"
    list_display = ("id", "round", "kind", "is_healthy", "reason", "created_at")
    list_filter = ("kind", "is_healthy")
    list_select_related = ("round",)


@admin.register(models.ContainmentRow)
class ContainmentAdmin(LookOnly):
    """How commands of candidates and agents were held, and what they left."""

    run = "round__trial__run"
    list_display = ("id", "round", "stage", "use", "level", "processes_left", "seconds_to_end", "limits_hit")
    list_filter = ("level", "use", "stage")
    list_select_related = ("round",)


@admin.register(models.Judging)
class JudgingAdmin(LookOnly):
    """Passes of judges."""

    run = "round__trial__run"
    list_display = ("id", "round", "judge", "judge_version", "vote", "is_primary", "finished_at")
    list_filter = ("judge", "is_primary")
    list_select_related = ("round",)


@admin.register(models.Verdict)
class VerdictAdmin(LookOnly):
    """Marks of machines."""

    run = "judging__round__trial__run"
    list_display = ("id", "outcome", "role", "mark", "reason", "rationale", "attempt")
    list_filter = ("mark", "role", "reason")
    search_fields = ("rationale", "outcome__criterion__key")
    list_select_related = ("outcome__criterion",)


@admin.register(models.Evidence)
class EvidenceAdmin(LookOnly):
    """What verdicts were made from."""

    run = "verdict__judging__round__trial__run"
    list_display = ("id", "verdict", "kind", "name", "media_type", "size")
    list_filter = ("kind",)
    list_select_related = ("verdict",)


@admin.register(models.TrajectoryEvent)
class TrajectoryEventAdmin(LookOnly):
    """Events of code agents."""

    run = "round__trial__run"
    list_display = ("id", "round", "position", "kind", "at")
    list_filter = ("kind",)
    list_select_related = ("round",)


@admin.register(models.MetricValue)
class MetricValueAdmin(LookOnly):
    """Stored numbers."""

    list_display = ("run", "name", "task_key", "round_number", "value", "half_width", "n", "reason")
    list_filter = ("name", "round_number")
    search_fields = ("name", "task_key")
    list_select_related = ("run",)


@admin.register(models.RunEvent)
class RunEventAdmin(LookOnly):
    """What live pages showed."""

    list_display = ("id", "run", "kind", "criterion", "mark", "text", "created_at")
    list_filter = ("kind", "mark")
    search_fields = ("text",)
    list_select_related = ("run",)
