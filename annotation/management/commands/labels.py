"""The marks of people as files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation import downloads
from annotation.downloads import ExportOptions
from annotation.export_sight import Sight
from annotation.exporting import ExportKind
from annotation.management.campaign_door import CampaignDoor, whole_number
from annotation.models import Assignment, Campaign
from benchmark.whole_files import whole_file
from people import audit
from runs.exporting import write_result

KINDS = ", ".join(kind.value for kind in ExportKind)


class Command(CampaignDoor):
    """`proofroom labels CAMPAIGN`."""

    help = "Write what people marked in a campaign: result files, CSV, or JSON lines with full history."
    example = "proofroom labels 3 --format csv -o labels.csv\n  proofroom labels 3 --assignment 17 -o mine/"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--assignment", metavar="ID", help="Only this set of it.")
        parser.add_argument("--format", default="results", help=f"One of {KINDS} (default: results).")
        parser.add_argument("--bom", action="store_true", help="CSV: begin with a BOM, as Excel wants it.")
        parser.add_argument(
            "--opaque", action="store_true", help="Result files: raters as rater-1, rater-2, ..."
        )
        parser.add_argument(
            "--expired", action="store_true", help="Result files: also sets that were taken back."
        )
        parser.add_argument(
            "-o",
            "--output",
            metavar="PATH",
            help="A folder or a .zip for result files, else a file.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        kind = self._kind(options["format"])
        campaign = self.campaign_of(options["campaign"])
        assignment = None
        if options["assignment"] is not None:
            assignment = self._assignment(campaign, options["assignment"])
        chosen = ExportOptions(
            with_bom=options["bom"], with_expired=options["expired"], is_opaque=options["opaque"]
        )
        name = f"campaign-{campaign.pk}" if assignment is None else f"assignment-{assignment.pk}"
        target = Path(
            options["output"] or (name if kind is ExportKind.RESULTS else name + downloads.SUFFIXES[kind])
        )
        audit.note(None, "export", name.replace("-", ":"), kind=kind.value)
        try:
            is_folder = kind is ExportKind.RESULTS and target.suffix != ".zip"
            if is_folder:
                written = _write_results(target, campaign, assignment, chosen)
            else:
                written = _write_table(target, campaign, assignment, kind, chosen)
        except OSError as error:
            self.bad_input(f"{str(target)!r} cannot be written: {error.strerror}.")
        noun = "result files" if is_folder else "bytes"
        self.answer(
            {
                "campaign": campaign.pk,
                "assignment": None if assignment is None else assignment.pk,
                "format": kind.value,
                "path": str(target),
                "files": written if is_folder else 1,
            },
            text=f"{written} {noun} of {name.replace('-', ' ')} are in {target}.",
        )

    def _kind(self, text: str) -> ExportKind:
        try:
            return ExportKind(text)
        except ValueError:
            self.bad_input(f"--format {text!r} is unknown; known are: {KINDS}.")

    def _assignment(self, campaign: Campaign, text: str) -> Assignment:
        number = whole_number(text)
        found = Assignment.objects.filter(campaign=campaign, pk=number) if number is not None else None
        assignment = None if found is None else found.first()
        if assignment is None:
            self.bad_input(
                f"--assignment {text[:40]!r} is no set of campaign {campaign.pk}; its page lists them."
            )
        return assignment


def _write_results(
    folder: Path, campaign: Campaign, assignment: Assignment | None, options: ExportOptions
) -> int:
    files = (
        downloads.campaign_results(campaign, sight=Sight.ALL, options=options)
        if assignment is None
        else downloads.assignment_results(assignment, sight=Sight.ALL, options=options)
    )
    written = 0
    for file in files:
        write_result(folder / file.path, file.document)
        written += 1
    return written


def _write_table(
    target: Path,
    campaign: Campaign,
    assignment: Assignment | None,
    kind: ExportKind,
    options: ExportOptions,
) -> int:
    parts: Iterator[bytes] = (
        downloads.campaign_parts(campaign, kind, sight=Sight.ALL, options=options)
        if assignment is None
        else downloads.assignment_parts(assignment, kind, sight=Sight.ALL, options=options)
    )
    with whole_file(target) as out:
        return sum(out.write(piece) for piece in parts)
