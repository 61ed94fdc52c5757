"""Rows of any table as lines of JSON: exact, and the same whichever database holds them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.apps.registry import Apps
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.duration import duration_iso_string

from runs.backups.archive import BadArchive

LEFT_OUT = frozenset({"sessions.session"})
"""Tables that are in no backup: whoever holds one must not be signed in by it."""

_READ_AT_ONCE = 200
_WRITTEN_AT_ONCE = 200
_EXACT_FLOAT = 2**53
_SUMS = 2**256

type Row = list[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSums:
    """What a table holds: rows, and a sum over their digests that does not depend on their order."""

    rows: int
    content: str


@dataclass(slots=True)
class Summing:
    """Adds up the rows of one table."""

    rows: int = 0
    _total: int = 0

    def add(self, row: Row) -> None:
        """Count one row in."""
        line = json.dumps(_canonical(row), separators=(",", ":"), sort_keys=True)
        self.rows += 1
        self._total = (self._total + int.from_bytes(hashlib.sha256(line.encode()).digest())) % _SUMS

    def sums(self) -> TableSums:
        """Return what was added up."""
        return TableSums(rows=self.rows, content=f"{self._total:064x}")


class Table:
    """One table of one schema, read and written through the models of that schema."""

    def __init__(self, model: type[models.Model]) -> None:
        options = options_of(model)
        self.model: Any = model
        self.name = options.label_lower
        self.place = options.db_table
        self.fields = [
            field
            for field in options.local_concrete_fields
            # The database makes these itself.
            if not getattr(field, "generated", False)
        ]
        self.columns = [field.attname for field in self.fields]

    def rows(self, *, using: str) -> Iterator[Row]:
        """Yield the rows in the order of their keys, as JSON can hold them."""
        found = self.model.objects.using(using).order_by("pk").values_list(*self.columns)
        for values in found.iterator(chunk_size=_READ_AT_ONCE):
            yield [_plain(value) for value in values]

    def write(self, rows: Iterable[Row], *, using: str) -> None:
        """Add rows as they are. Raises BadArchive for values that the table does not take."""
        batch: list[Any] = []
        for row in rows:
            batch.append(self._built(row))
            if len(batch) == _WRITTEN_AT_ONCE:
                self._insert(batch, using)
                batch = []
        self._insert(batch, using)

    def sums(self, *, using: str) -> TableSums:
        """Read the table and add it up."""
        summing = Summing()
        for row in self.rows(using=using):
            summing.add(row)
        return summing.sums()

    def _built(self, row: Row) -> Any:
        if len(row) != len(self.fields):
            raise BadArchive(f"A row of {self.name} has {len(row)} values; {len(self.fields)} are needed.")
        try:
            given = zip(self.fields, row, strict=True)
            return self.model(**{field.attname: _value(field, value) for field, value in given})
        except (ValidationError, ValueError, TypeError, ArithmeticError):
            raise BadArchive(f"A row of {self.name} holds a value of the wrong kind.") from None

    def _insert(self, batch: list[Any], using: str) -> None:
        self.model.objects.using(using).bulk_create(batch)


def tables(registry: Apps) -> list[Table]:
    """Return every table of a schema that belongs into a backup, by name.

    `registry` is that of a migration state: its models are nobody else's, so that "now" is not written
    over the moments on record.
    """
    found = [
        Table(model)
        for model in registry.get_models(include_auto_created=True)
        if (options := options_of(model)).managed
        and not options.proxy
        and options.label_lower not in LEFT_OUT
    ]
    for table in found:
        for field in table.fields:
            if isinstance(field, models.DateField):
                field.auto_now = field.auto_now_add = False
    return sorted(found, key=lambda table: table.name)


def options_of(model: type[models.Model]) -> Any:
    """Return what Django documents as `Model._meta`."""
    return model._meta  # noqa: SLF001 - Django's documented API


def encoded(row: Row) -> bytes:
    """Return a row as one line without its end."""
    return json.dumps(row, separators=(",", ":")).encode("ascii")


def decoded(line: bytes, name: str) -> Row:
    """Return a line as a row. Raises BadArchive."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, list):
        raise BadArchive(f"{name} holds a line that is no row.")
    return row


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return (value if value.tzinfo is None else value.astimezone(UTC)).isoformat()
        case date() | time():
            return value.isoformat()
        case UUID() | Decimal():
            return str(value)
        case timedelta():
            return duration_iso_string(value)
        case bytes() | memoryview():
            return base64.b64encode(value).decode("ascii")
    return value


def _value(field: models.Field[Any, Any], value: Any) -> Any:
    if isinstance(field, models.JSONField):
        # A document that is `null` is no missing document.
        return models.JSONNull() if value is None and not field.null else value
    return field.to_python(value)


def _canonical(value: Any) -> Any:
    """Return a document as every database gives it back: PostgreSQL writes 1e20 as a whole number."""
    if isinstance(value, dict):
        return {key: _canonical(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_canonical(inner) for inner in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        as_float = float(value)
    except OverflowError:
        return str(value)
    return int(value) if abs(as_float) < _EXACT_FLOAT and as_float.is_integer() else as_float
