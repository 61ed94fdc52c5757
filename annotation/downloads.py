"""Put a campaign or one set into a file of the kind that was asked for, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.csv_files import csv_parts
from annotation.export_sight import Sight
from annotation.exporting import ExportedSet, ExportKind, read_sets, sets_of
from annotation.json_lines import json_parts
from annotation.models import Assignment, Campaign
from annotation.result_files import ResultFile, result_files, zip_parts

MEDIA_TYPES = {
    ExportKind.RESULTS: "application/zip",
    ExportKind.CSV: "text/csv; charset=utf-8",
    ExportKind.JSONL: "application/jsonl; charset=utf-8",
}
SUFFIXES = {
    ExportKind.RESULTS: "-results.zip",
    ExportKind.CSV: ".csv",
    ExportKind.JSONL: ".jsonl",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """What a person may choose. Expired sets are asked for in result files; the others name the state."""

    with_bom: bool = False
    with_expired: bool = False
    is_opaque: bool = False


def campaign_parts(
    campaign: Campaign, kind: ExportKind, *, sight: Sight, options: ExportOptions
) -> Iterator[bytes]:
    """Yield a campaign as a file; in a zip of result files each rater has a folder."""
    if kind is ExportKind.RESULTS:
        return zip_parts(campaign_results(campaign, sight=sight, options=options))
    sets = sets_of(campaign, with_expired=True)
    return _table_parts(sets, kind, sight=sight, with_bom=options.with_bom)


def campaign_results(campaign: Campaign, *, sight: Sight, options: ExportOptions) -> Iterator[ResultFile]:
    """Yield a campaign's result files, each below its rater's folder."""
    sets = read_sets(sets_of(campaign, with_expired=options.with_expired), sight=sight)
    return result_files(sets, sight=sight, by_rater=True, is_opaque=options.is_opaque)


def assignment_parts(
    assignment: Assignment, kind: ExportKind, *, sight: Sight, options: ExportOptions
) -> Iterator[bytes]:
    """Yield one set as a file, one that was taken back as well: what was saved stays its annotator's."""
    if kind is ExportKind.RESULTS:
        return zip_parts(assignment_results(assignment, sight=sight, options=options))
    return _table_parts(_one(assignment), kind, sight=sight, with_bom=options.with_bom)


def assignment_results(
    assignment: Assignment, *, sight: Sight, options: ExportOptions
) -> Iterator[ResultFile]:
    """Yield the result file of one set, if anybody has it."""
    sets = read_sets(_one(assignment), sight=sight)
    return result_files(sets, sight=sight, by_rater=False, is_opaque=options.is_opaque)


def _table_parts(
    assignments: QuerySet[Assignment], kind: ExportKind, *, sight: Sight, with_bom: bool
) -> Iterator[bytes]:
    sets: Iterator[ExportedSet] = read_sets(assignments, sight=sight, with_history=kind is ExportKind.JSONL)
    if kind is ExportKind.JSONL:
        return json_parts(sets, sight=sight)
    return csv_parts(sets, sight=sight, with_bom=with_bom)


def _one(assignment: Assignment) -> QuerySet[Assignment]:
    return Assignment.objects.filter(pk=assignment.pk)
