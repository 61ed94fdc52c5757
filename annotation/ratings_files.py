"""Read a file of ratings: CSV, JSON lines, or one JSON object; a row says what one rater said of one unit."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from annotation.agreement.ratings import Ratings, RatingsError
from annotation.agreement.rows import Row, ratings_of

NEEDED = ("unit", "rater", "label")
OPTIONAL = ("cluster", "kind")
_DELIMITERS = ",;\t"
_BYTE_ORDER_MARKS_OF_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingsFile:
    """The ratings of a file, and what its reader must be told besides."""

    ratings: Ratings
    notes: tuple[str, ...]


def read_ratings(path: Path, *, labels: Sequence[str] | None = None, is_numeric: bool = False) -> RatingsFile:
    """Read ratings a row at a time; `labels`, lowest first, goes before what the file declares.

    Raises RatingsError with one sentence, and OSError where the file cannot be read.
    """
    with path.open("rb") as raw:
        if raw.read(2) in _BYTE_ORDER_MARKS_OF_UTF_16:
            raise RatingsError("It is UTF-16; save it as UTF-8.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _read(file, labels, is_numeric=is_numeric)
    except UnicodeDecodeError as error:
        raise RatingsError(f"It is not UTF-8 ({error.reason}); save it as UTF-8.") from None


def _read(file: TextIO, labels: Sequence[str] | None, *, is_numeric: bool) -> RatingsFile:
    first = next((line for line in file if line.strip()), "")
    file.seek(0)
    if not first:
        raise RatingsError("It is empty; give a header unit,rater,label and a row for each rating.")
    notes: list[str] = []
    if first.lstrip().startswith("["):
        raise RatingsError(
            'A JSON list is no ratings file; write one object a line, or {"labels": [...], "ratings": [...]}.'
        )
    rows: Iterable[Row]
    place = "line"
    if not first.lstrip().startswith("{"):
        rows = _csv_rows(file, notes)
    elif _is_row(first):
        rows = _json_rows(file, notes)
    else:
        rows, declared = _one_object(file)
        place = "rating"
        if labels is not None and declared is not None and list(labels) != declared:
            notes.append(f"The labels {', '.join(declared)} of the file gave way to those of the command.")
        labels = declared if labels is None else labels
    ratings = ratings_of(rows, labels=labels, is_numeric=is_numeric, place=place)
    return RatingsFile(ratings=ratings, notes=(*notes, *_never_said(ratings)))


def _never_said(ratings: Ratings) -> list[str]:
    used = set(np.unique(ratings.codes).tolist())
    unused = [label for code, label in enumerate(ratings.labels) if code not in used]
    if ratings.are_labels_declared or not unused:
        return []
    used_labels = ",".join(label for label in ratings.labels if label not in unused)
    sentence = (
        f"Nobody said {' or '.join(unused)}, which is assumed to be a label: AC1, AC2 and Brennan-Prediger "
        f"count it; declare the labels {used_labels} if it could not be said."
    )
    return [sentence]


def _csv_rows(file: TextIO, notes: list[str]) -> Iterator[Row]:
    # Counted from the file, not from where the reader begins.
    skipped = 1
    header = file.readline()
    while not header.strip():
        header = file.readline()
        skipped += 1
    delimiter = max(_DELIMITERS, key=header.count)
    names = [name.strip().casefold() for name in next(csv.reader([header], delimiter=delimiter))]
    reader = csv.reader(file, delimiter=delimiter, strict=True)
    try:
        rows = iter(reader)
        if not set(NEEDED) <= set(names):
            example = next((row for row in rows if any(row)), [])
            raise RatingsError(_not_long(names, example))
        twice = [name for name in (*NEEDED, *OPTIONAL) if names.count(name) > 1]
        if twice:
            raise RatingsError(f"The column {twice[0]!r} is there twice; keep one.")
        _note_unused(names, notes)
        unit, rater, label = (names.index(name) for name in NEEDED)
        cluster, kind = (names.index(name) if name in names else None for name in OPTIONAL)
        for row in rows:
            if not row:
                continue
            line = reader.line_num + skipped
            if len(row) != len(names):
                raise RatingsError(
                    f"Line {line} has {len(row)} fields and the header {len(names)}; "
                    "give each field its column, and quote what holds a separator."
                )
            yield Row(
                row[unit],
                row[rater],
                row[label],
                None if cluster is None else row[cluster],
                None if kind is None else row[kind],
                line,
            )
    except csv.Error as error:
        raise RatingsError(
            f"Line {reader.line_num + skipped} is no CSV: {error}; mend it, or write the file anew."
        ) from None


def _json_rows(file: TextIO, notes: list[str]) -> Iterator[Row]:
    noted = False
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            raise RatingsError(f"Line {number} is no JSON; give one object a line.") from None
        row = _row(fields, f"line {number}", number)
        if not noted:
            _note_unused(list(fields), notes)
            noted = True
        yield row


def _one_object(file: TextIO) -> tuple[list[Row], list[str] | None]:
    number = 0

    def smaller(pairs: list[tuple[str, Any]]) -> Any:
        # A million rows as dictionaries would not fit beside the text they were read from.
        nonlocal number
        fields = dict(pairs)
        if "unit" not in fields:
            return fields
        number += 1
        return _row(fields, f"rating {number}", number)

    try:
        document = json.load(file, object_pairs_hook=smaller)
    except RatingsError:
        raise
    except ValueError as error:
        raise RatingsError(f"It is no JSON: {error}; give one object a line or one object in all.") from None
    except RecursionError:
        raise RatingsError(
            "It is nested too deeply for a ratings file; give one object a line or one object in all."
        ) from None
    rows = document.get("ratings") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        raise RatingsError(
            'The object has no list "ratings"; write {"labels": ["fail", "pass"], "ratings": '
            '[{"unit": "u1", "rater": "judge", "label": "pass"}]}.'
        )
    for place, row in enumerate(rows, start=1):
        if not isinstance(row, Row):
            _row(row, f"rating {place}", place)
    declared = document.get("labels")
    if declared is None:
        return rows, None
    if not isinstance(declared, list) or not declared:
        raise RatingsError('"labels" is the list of all labels, lowest first, such as ["fail", "pass"].')
    labels = [_text(label, "labels") or "" for label in declared]
    if not all(label.strip() for label in labels):
        raise RatingsError('"labels" has an empty one; name each label, an empty rating is missing.')
    return rows, labels


def _is_row(line: str) -> bool:
    """Whether a line is a whole object that is not the one object of a file."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and "ratings" not in fields


def _row(fields: Any, where: str, number: int) -> Row:
    if not isinstance(fields, dict) or not fields.keys() >= set(NEEDED):
        example = [str(value) for value in fields.values()] if isinstance(fields, dict) else []
        names = [str(name) for name in fields] if isinstance(fields, dict) else []
        raise RatingsError(f"{where.capitalize()}: {_not_long(names, example)}")
    unit, rater, label, cluster, kind = (_text(fields.get(name), where) for name in (*NEEDED, *OPTIONAL))
    return Row(unit or "", rater or "", label, cluster, kind, number)


def _text(value: Any, where: str) -> str | None:
    """A name or label as text: 7 and "7" are one, null is none."""
    if value is None:
        return None
    if isinstance(value, str):
        if any("\ud800" <= sign <= "\udfff" for sign in value):
            raise RatingsError(f"In {where} is {value!r}, half of a character; write the file in UTF-8.")
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int | float):
        return repr(value)
    raise RatingsError(f"In {where} is {str(value)[:60]!r} where a text or a number belongs.")


def _not_long(names: Sequence[str], example: Sequence[str]) -> str:
    """Show the long form, with the file's own names where it is a wide table."""
    lacking = ", ".join(name for name in NEEDED if name not in names)
    raters = [name for name in names[1:] if name not in (*NEEDED, *OPTIONAL)][:2] or ["judge", "alice"]
    cells: Mapping[str, str] = dict(zip(names, example, strict=False))
    unit = cells.get(names[0], "u1") if names else "u1"
    rows = " / ".join(f"{unit or 'u1'},{rater},{cells.get(rater) or 'pass'}" for rater in raters)
    found = f"the columns {', '.join(names[:8])} lack" if names else "it lacks"
    return (
        f"{found} {lacking}; a table with one column a rater is not read, "
        f"give one row a rating: unit,rater,label / {rows}."
    )


def _note_unused(names: Sequence[str], notes: list[str]) -> None:
    unused = [name for name in names if name not in (*NEEDED, *OPTIONAL)]
    if unused:
        notes.append(f"Not read: {', '.join(unused[:8])}.")
