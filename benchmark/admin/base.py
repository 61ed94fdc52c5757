"""What the admin pages of all rows of a benchmark have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.options import ActionLocation
from django.db.models import JSONField, Model
from django.http import HttpRequest

from benchmark import curating
from benchmark.admin.forms import PrettyJSONField
from benchmark.models import (
    Benchmark,
    Criterion,
    ExpectedOutcome,
    Prerequisite,
    RecordedWorkspace,
    Task,
    TaskFile,
)

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
else:  # Django's own class takes no parameter
    _ModelAdmin = admin.ModelAdmin

PAGE = 50


def benchmark_of(row: Model) -> Benchmark:
    """Return the benchmark that a row of this package belongs to."""
    match row:
        case Benchmark():
            return row
        case Task():
            return row.benchmark
        case Criterion() | TaskFile() | RecordedWorkspace():
            return row.task.benchmark
        case ExpectedOutcome() | Prerequisite():
            return row.criterion.task.benchmark
    raise TypeError(f"{type(row).__name__} belongs to no benchmark.")


class CuratedAdmin(_ModelAdmin):
    """Rows of a benchmark: they change until a run rests on it, and its hash follows each change."""

    list_per_page = PAGE
    show_full_result_count = False
    formfield_overrides = {JSONField: {"form_class": PrettyJSONField}}

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and not is_in_use(obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and not is_in_use(obj)

    def get_actions(
        self, request: HttpRequest, action_location: ActionLocation = ActionLocation.CHANGE_LIST
    ) -> dict[str, Any]:
        # Rows are deleted one by one, where it can be seen whether a run rests on them.
        actions: dict[str, Any] = super().get_actions(request, action_location)
        actions.pop("delete_selected", None)
        return actions

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:  # noqa: FBT001 - Django's
        super().save_related(request, form, formsets, change)
        self._after_change(request, benchmark_of(form.instance), form.instance)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        benchmark = benchmark_of(obj)
        super().delete_model(request, obj)
        if not isinstance(obj, Benchmark):
            self._after_change(request, benchmark, obj)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        obj = kwargs.get("obj")
        if obj is not None and is_in_use(obj):
            text = f"Runs rest on {benchmark_of(obj)}: it is shown as it is. Copy it as a new version to change it."
            self.message_user(request, text, messages.INFO)
        return super().render_change_form(request, context, *args, **kwargs)

    def _after_change(self, request: HttpRequest, benchmark: Benchmark, changed: Model) -> None:
        curating.hash_anew(benchmark)
        task = changed if isinstance(changed, Task) else None
        if isinstance(changed, Criterion):
            task = changed.task
        if task is None or task.pk is None:
            return
        for text in curating.rubric_problems(task)[:10]:
            self.message_user(request, f"{task.key}: {text}", messages.WARNING)


class ReadOnlyAdmin(CuratedAdmin):
    """Rows that come by import, or are changed on the page of what they belong to."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def is_in_use(row: Model | None) -> bool:
    return row is not None and row.pk is not None and benchmark_of(row).is_in_use
