"""Tasks: their texts, and the way to their criteria and files."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchmark.admin.base import CuratedAdmin
from benchmark.admin.forms import TaskForm
from benchmark.admin.links import count_of, counted, list_link, row_link, without
from benchmark.models import Benchmark, Criterion, ExpectedOutcome, RecordedWorkspace, Task, TaskFile


@admin.register(Task)
class TaskAdmin(CuratedAdmin):
    """Tasks of all benchmarks; their criteria are a list of their own, for there may be thousands."""

    form = TaskForm
    list_display = (
        "key",
        "title",
        "benchmark_link",
        "position",
        "criteria_link",
        "outcomes",
        "scripted",
        "files_link",
    )
    list_display_links = ("key", "title")
    list_filter = ("benchmark__protocol", "benchmark")
    list_select_related = ("benchmark",)
    search_fields = ("key", "title", "request", "prd")
    ordering = ("benchmark", "position")
    readonly_fields = ("benchmark_link", "criteria_link", "files_link", "candidates_link", "content_hash")
    fieldsets = (
        (None, {"fields": ("benchmark", "benchmark_link", "position", "key", "title")}),
        ("Texts", {"fields": ("request", "prd")}),
        ("What belongs to it", {"fields": ("criteria_link", "files_link", "candidates_link")}),
        ("More", {"fields": ("deploy", "facts", "content_hash")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        outcomes = ExpectedOutcome.objects.order_by()
        rows: QuerySet[Any] = super().get_queryset(request).annotate(
            criterion_count=count_of(Criterion, "task"),
            outcome_count=count_of(ExpectedOutcome, "criterion__task"),
            scripted_count=counted(outcomes.filter(script__isnull=False), "criterion__task"),
            file_count=count_of(TaskFile, "task"),
        )  # fmt: skip
        return rows

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return without(super().get_fieldsets(request, obj), "benchmark" if obj else "benchmark_link")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "benchmark":
            kwargs["queryset"] = Benchmark.objects.filter(runs=None)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    @admin.display(description="benchmark", ordering="benchmark")
    def benchmark_link(self, row: Task) -> SafeString:
        return row_link(row.benchmark)

    @admin.display(description="criteria", ordering="criterion_count")
    def criteria_link(self, row: Any) -> SafeString:
        if row.pk is None:
            return format_html("{}", "save the task first")
        return list_link("criterion", row.criterion_count, task__id__exact=row.pk)

    @admin.display(description="outcomes", ordering="outcome_count")
    def outcomes(self, row: Any) -> SafeString:
        return list_link("expectedoutcome", row.outcome_count, criterion__task__id__exact=row.pk)

    @admin.display(description="with a script", ordering="scripted_count")
    def scripted(self, row: Any) -> int:
        return int(row.scripted_count)

    @admin.display(description="files", ordering="file_count")
    def files_link(self, row: Any) -> SafeString:
        return list_link("taskfile", getattr(row, "file_count", 0), task__id__exact=row.pk or 0)

    @admin.display(description="recorded rounds")
    def candidates_link(self, row: Task) -> SafeString:
        number = RecordedWorkspace.objects.filter(task=row.pk).count()
        return list_link("recordedworkspace", number, task__id__exact=row.pk or 0)
