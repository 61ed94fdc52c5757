"""Links between admin pages, and counts that do not multiply each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString


def count_of(model: type[Model], path: str) -> Any:
    # A subquery each: joined, the counts of two relations would multiply.
    return counted(model._default_manager.order_by(), path)  # noqa: SLF001 - Django's documented API


def counted(rows: QuerySet[Any], path: str) -> Any:
    counts = rows.order_by().filter(**{path: OuterRef("pk")}).values(path).annotate(number=Count("pk"))
    return Coalesce(Subquery(counts.values("number")), 0)


def change_url(row: Model) -> str:
    return reverse(f"admin:benchmark_{row._meta.model_name}_change", args=[row.pk])  # noqa: SLF001 - as above


def row_link(row: Model) -> SafeString:
    return format_html('<a href="{}">{}</a>', change_url(row), row)


def list_link(model: str, number: int, **filters: int) -> SafeString:
    url = reverse(f"admin:benchmark_{model}_changelist", query=filters)
    return format_html('<a href="{}">{}</a>', url, number)


def pretty_json(value: Any) -> SafeString:
    return format_html("<pre>{}</pre>", json.dumps(value, ensure_ascii=False, indent=2))


def without(fieldsets: Sequence[Any], field: str) -> list[Any]:
    return [
        (name, {**options, "fields": [known for known in options["fields"] if known != field]})
        for name, options in fieldsets
    ]
