"""Outcomes, edges, files and recorded rounds: lists to search, changed elsewhere."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchmark.admin.base import ReadOnlyAdmin
from benchmark.admin.links import row_link
from benchmark.models import Benchmark, ExpectedOutcome, Prerequisite, RecordedWorkspace, TaskFile
from people.hiding import hidden_runs


@admin.register(ExpectedOutcome)
class ExpectedOutcomeAdmin(ReadOnlyAdmin):
    """Every outcome, to be found by its words; changed on the page of its criterion."""

    list_display = ("__str__", "text", "has_script", "criterion_link")
    list_filter = (("script", admin.EmptyFieldListFilter), "criterion__kind", "criterion__task__benchmark")
    list_select_related = ("criterion__task__benchmark",)
    search_fields = ("text", "criterion__key", "criterion__task__key")
    fields = ("criterion_link", "index", "text", "script")
    readonly_fields = ("criterion_link",)

    # A criterion keeps at least one outcome, which its own page sees to. The permission itself stays,
    # or no criterion could be deleted with its outcomes.
    def delete_view(self, *_args: Any, **_kwargs: Any) -> Any:
        raise PermissionDenied

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> Any:
        extra_context = (extra_context or {}) | {"show_delete": False}
        return super().change_view(request, object_id, form_url, extra_context)

    @admin.display(description="script", boolean=True)
    def has_script(self, row: ExpectedOutcome) -> bool:
        return row.script is not None

    @admin.display(description="criterion")
    def criterion_link(self, row: ExpectedOutcome) -> SafeString:
        return format_html("{} of {}", row_link(row.criterion), row_link(row.criterion.task))


@admin.register(Prerequisite)
class PrerequisiteAdmin(ReadOnlyAdmin):
    """Every edge of every rubric; changed on the page of its criterion."""

    list_display = ("__str__", "criterion_link", "needs_link")
    list_filter = ("criterion__task__benchmark",)
    list_select_related = ("criterion__task__benchmark", "needs")
    search_fields = ("criterion__key", "needs__key", "criterion__task__key")
    fields = ("criterion_link", "needs_link")
    readonly_fields = ("criterion_link", "needs_link")

    @admin.display(description="criterion")
    def criterion_link(self, row: Prerequisite) -> SafeString:
        return row_link(row.criterion)

    @admin.display(description="needs")
    def needs_link(self, row: Prerequisite) -> SafeString:
        return row_link(row.needs)


@admin.register(TaskFile)
class TaskFileAdmin(ReadOnlyAdmin):
    """Files of tasks, which come by import."""

    list_display = ("path", "role", "size", "short_digest", "task_link")
    list_filter = ("role", "task__benchmark")
    list_select_related = ("task__benchmark",)
    search_fields = ("path", "digest", "task__key")
    fields = ("task_link", "role", "path", "size", "digest")
    readonly_fields = ("task_link",)

    @admin.display(description="content")
    def short_digest(self, row: TaskFile) -> str:
        return row.digest[:8]

    @admin.display(description="task")
    def task_link(self, row: TaskFile) -> SafeString:
        return format_html("{} in {}", row_link(row.task), row_link(row.task.benchmark))


@admin.register(RecordedWorkspace)
class RecordedWorkspaceAdmin(ReadOnlyAdmin):
    """Recorded candidates, round by round, which come by import.

    Their names are names of agents: those of a benchmark with a hidden run are not shown.
    """

    list_display = ("candidate", "task_link", "round_number", "short_digest")
    list_filter = ("candidate", "task__benchmark")
    list_select_related = ("task__benchmark",)
    search_fields = ("candidate", "task__key")
    fields = ("task_link", "candidate", "round_number", "snapshot")
    readonly_fields = ("task_link",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        hidden = hidden_runs(request.user)
        # By the related name that the layer above gave it.
        concealed = Benchmark.objects.filter(runs__in=sorted(hidden))
        return rows.exclude(task__benchmark__in=concealed) if hidden else rows

    @admin.display(description="snapshot")
    def short_digest(self, row: RecordedWorkspace) -> str:
        return row.snapshot[:8]

    @admin.display(description="task")
    def task_link(self, row: RecordedWorkspace) -> SafeString:
        return format_html("{} in {}", row_link(row.task), row_link(row.task.benchmark))
