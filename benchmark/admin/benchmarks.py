"""Benchmarks: described, checked and copied as a new version."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.options import ActionLocation
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchmark import curating
from benchmark.admin.base import CuratedAdmin
from benchmark.admin.forms import BenchmarkForm
from benchmark.admin.links import change_url, count_of, list_link, pretty_json
from benchmark.models import Benchmark, Criterion, RecordedWorkspace, Task


@admin.register(Benchmark)
class BenchmarkAdmin(CuratedAdmin):
    """Benchmarks come by import or by copying; here they are described, checked and copied."""

    form = BenchmarkForm
    list_display = (
        "key",
        "version",
        "title",
        "protocol",
        "tasks_link",
        "criteria_link",
        "runs",
        "hash",
        "imported_at",
    )
    list_filter = ("protocol", "source", "imported_at")
    search_fields = ("key", "title", "description", "content_hash")
    date_hierarchy = "imported_at"
    actions = ("copy_as_new_version",)
    readonly_fields = (
        "key", "version", "protocol", "source", "content_hash", "imported_at",
        "tasks_link", "criteria_link", "candidates_link", "what_was_mended",
    )  # fmt: skip
    fieldsets = (
        (None, {"fields": ("title", "description", "licence")}),
        ("What is in it", {"fields": ("tasks_link", "criteria_link", "candidates_link")}),
        ("How it is measured", {"fields": ("protocol", "settings")}),
        (
            "Where it comes from",
            {"fields": ("key", "version", "source", "what_was_mended", "content_hash", "imported_at")},
        ),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request).annotate(
            task_count=count_of(Task, "benchmark"),
            criterion_count=count_of(Criterion, "task__benchmark"),
            run_count=Count("runs", distinct=True),
        )  # fmt: skip
        return rows

    @admin.display(description="tasks", ordering="task_count")
    def tasks_link(self, row: Any) -> SafeString:
        return list_link("task", row.task_count, benchmark__id__exact=row.pk)

    @admin.display(description="criteria", ordering="criterion_count")
    def criteria_link(self, row: Any) -> SafeString:
        return list_link("criterion", row.criterion_count, task__benchmark__id__exact=row.pk)

    @admin.display(description="recorded rounds")
    def candidates_link(self, row: Benchmark) -> SafeString:
        number = RecordedWorkspace.objects.filter(task__benchmark=row).count()
        return list_link("recordedworkspace", number, task__benchmark__id__exact=row.pk)

    @admin.display(description="runs", ordering="run_count")
    def runs(self, row: Any) -> int:
        return int(row.run_count)

    @admin.display(description="content")
    def hash(self, row: Benchmark) -> str:
        return row.short_hash

    @admin.display(description="what the reader mended")
    def what_was_mended(self, row: Benchmark) -> SafeString:
        return pretty_json(row.repairs) if row.repairs else format_html("{}", "nothing")

    @admin.action(
        description="Copy as a new version",
        location=[ActionLocation.CHANGE_LIST, ActionLocation.CHANGE_FORM],
    )
    def copy_as_new_version(self, request: HttpRequest, queryset: QuerySet[Benchmark]) -> None:
        for benchmark in queryset:
            copy = curating.copy_as_new_version(benchmark)
            text = format_html(
                '{} is copied as <a href="{}">version {}</a>, which may be changed until a run rests on it.',
                benchmark,
                change_url(copy),
                copy.version,
            )
            self.message_user(request, text, messages.SUCCESS)
