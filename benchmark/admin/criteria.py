"""Criteria with their outcomes and prerequisites on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import JSONField, QuerySet
from django.forms import Field, ModelForm
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchmark.admin.base import CuratedAdmin
from benchmark.admin.forms import CriterionForm, OutcomeFormSet, PrerequisiteFormSet, PrettyJSONField
from benchmark.admin.links import count_of, counted, list_link, row_link, without
from benchmark.models import Criterion, ExpectedOutcome, Prerequisite, Task

if TYPE_CHECKING:
    _OutcomeInline = admin.StackedInline[ExpectedOutcome, Criterion]
    _PrerequisiteInline = admin.TabularInline[Prerequisite, Criterion]
else:  # Django's own classes take no parameters
    _OutcomeInline, _PrerequisiteInline = admin.StackedInline, admin.TabularInline


class OutcomeInline(_OutcomeInline):
    """The outcomes of one criterion with their scripts."""

    model = ExpectedOutcome
    formset = OutcomeFormSet
    fields = ("text", "script")
    ordering = ("index",)
    extra = 0
    min_num = 1
    show_change_link = True
    formfield_overrides = {JSONField: {"form_class": PrettyJSONField}}


class PrerequisiteInline(_PrerequisiteInline):
    """What one criterion needs, chosen from its own task."""

    model = Prerequisite
    formset = PrerequisiteFormSet
    fk_name = "criterion"
    extra = 0
    verbose_name_plural = "needs"

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        formset = super().get_formset(request, obj, **kwargs)
        needs: Field = formset.form.base_fields["needs"]
        asked = str(obj.task_id) if obj else request.POST.get("task") or request.GET.get("task") or ""
        chosen = Criterion.objects.filter(task=int(asked) if asked.isdecimal() else None)
        needs.queryset = chosen.exclude(pk=obj.pk) if obj else chosen  # type: ignore[attr-defined]
        return formset


@admin.register(Criterion)
class CriterionAdmin(CuratedAdmin):
    """Criteria with their outcomes and prerequisites on one page."""

    form = CriterionForm
    inlines = (OutcomeInline, PrerequisiteInline)
    list_display = ("key", "title", "task_link", "kind", "weight", "needs", "outcomes_link", "scripted")
    list_display_links = ("key", "title")
    list_filter = ("kind", "weight", "task__benchmark")
    list_select_related = ("task__benchmark",)
    search_fields = ("key", "title", "task__key", "outcomes__text")
    ordering = ("task__benchmark", "task__position", "position")
    readonly_fields = ("task_link", "needed_by")
    fieldsets = (
        (
            None,
            {"fields": ("task", "task_link", "position", "key", "title", ("kind", "weight"), "needed_by")},
        ),
        ("Steps before each outcome, and tags", {"fields": ("before", "tags"), "classes": ("collapse",)}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        scripted = ExpectedOutcome.objects.filter(script__isnull=False)
        rows: QuerySet[Any] = super().get_queryset(request).prefetch_related("prerequisites__needs").annotate(
            outcome_count=count_of(ExpectedOutcome, "criterion"),
            scripted_count=counted(scripted, "criterion"),
        )  # fmt: skip
        return rows

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return without(super().get_fieldsets(request, obj), "task" if obj else "task_link")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "task":
            kwargs["queryset"] = Task.objects.filter(benchmark__runs=None).select_related("benchmark")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_formset(self, request: HttpRequest, form: ModelForm[Any], formset: Any, change: bool) -> None:  # noqa: FBT001 - Django's
        if formset.model is not ExpectedOutcome:
            super().save_formset(request, form, formset, change)
            return
        for outcome in formset.save(commit=False):
            if outcome.pk is None:
                last = form.instance.outcomes.order_by("-index").first()
                outcome.index = 0 if last is None else last.index + 1
            outcome.save()
        for outcome in formset.deleted_objects:
            outcome.delete()
        formset.save_m2m()
        # In order, so that each place is free when its outcome moves there.
        for index, outcome in enumerate(form.instance.outcomes.order_by("index")):
            if outcome.index != index:
                ExpectedOutcome.objects.filter(pk=outcome.pk).update(index=index)

    @admin.display(description="task", ordering="task")
    def task_link(self, row: Criterion) -> SafeString:
        return format_html("{} in {}", row_link(row.task), row_link(row.task.benchmark))

    @admin.display(description="needs")
    def needs(self, row: Criterion) -> str:
        return ", ".join(edge.needs.key for edge in row.prerequisites.all()) or "–"

    @admin.display(description="needed by")
    def needed_by(self, row: Criterion) -> str:
        edges = Prerequisite.objects.filter(needs=row.pk).select_related("criterion")
        return ", ".join(edge.criterion.key for edge in edges) or "–"

    @admin.display(description="outcomes", ordering="outcome_count")
    def outcomes_link(self, row: Any) -> SafeString:
        return list_link("expectedoutcome", row.outcome_count, criterion__id__exact=row.pk)

    @admin.display(description="with a script", ordering="scripted_count")
    def scripted(self, row: Any) -> int:
        return int(row.scripted_count)
