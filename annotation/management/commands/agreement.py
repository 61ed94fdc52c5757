"""Agreement from a file of ratings, or from a campaign."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from django.core.management.base import CommandParser

from annotation.agreement.intervals import RESAMPLES
from annotation.agreement.ratings import RatingsError
from annotation.agreement.report import SEED, Report, report
from annotation.management.campaign_door import CampaignDoor, whole_number
from annotation.ratings_files import read_ratings
from annotation.reports.appendix import Appendix, appendix_zip, campaign_appendix, file_appendix
from annotation.reports.campaign_agreement import read_marks, report_of
from annotation.reports.formats import AgreementFormat, written
from benchmark.management.door import prepare_database
from people import audit
from runs.management.output import write_bytes, write_output

MOST_RESAMPLES = 100_000


class Chosen(TypedDict):
    """What a person may choose of a report."""

    gold: str | None
    positive: str | None
    seed: int
    resamples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A report, and the way to its appendix, which is computed only where it is asked for."""

    report: Report
    appendix: Callable[[], Appendix]


class Command(CampaignDoor):
    """`proofroom agreement FILE`."""

    help = "Compute every statistic of agreement, with intervals, from a file of ratings or a campaign."
    example = (
        "proofroom agreement ratings.csv --gold ann --format latex -o agreement.tex\n"
        "  proofroom agreement --campaign 3"
    )
    needs_database = False  # a file needs none; for a campaign it is made ready below
    speaks_json = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file",
            nargs="?",
            help="Ratings as CSV (unit,rater,label[,cluster,kind]), JSON lines, or one JSON object.",
        )
        parser.add_argument("--campaign", metavar="ID", help="Compare judges and people of this campaign.")
        parser.add_argument("--scale", metavar="KEY", default="", help="Which ratings of a campaign.")
        parser.add_argument(
            "--gold",
            metavar="RATER",
            help="The rater whom the others are compared with (a campaign's is `people`: what was adjudicated, "
            "else their majority).",
        )
        parser.add_argument("--labels", metavar="A,B,C", help="All labels, lowest first.")
        parser.add_argument("--positive", metavar="LABEL", help="The positive label (default: the highest).")
        parser.add_argument("--numeric", action="store_true", help="Labels are scores, not categories.")
        parser.add_argument("--seed", default=str(SEED), help=f"Of the resamples (default: {SEED}).")
        parser.add_argument(
            "--resamples", default=str(RESAMPLES), metavar="N", help=f"How many (default: {RESAMPLES})."
        )
        parser.add_argument(
            "--format",
            default=AgreementFormat.TEXT.value,
            help=f"One of {', '.join(AgreementFormat)} (default: text).",
        )
        parser.add_argument("--json", action="store_true", help="Same as --format json.")
        parser.add_argument("-o", "--output", metavar="PATH", help="Write there instead.")
        parser.add_argument(
            "--appendix",
            metavar="PATH.zip",
            help="Write the appendix of a paper too: tables, methods, figures, frozen ratings, their script.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = AgreementFormat.JSON if options["json"] else self._format(options["format"])
        seed = self._number("--seed", options["seed"], least=0, most=2**63 - 1)
        resamples = self._number("--resamples", options["resamples"], least=2, most=MOST_RESAMPLES)
        if (options["file"] is None) == (options["campaign"] is None):
            self.bad_input("Give a file of ratings or --campaign ID, one of the two.")
        try:
            if options["file"] is None:
                found = self._of_campaign(options, seed=seed, resamples=resamples)
            else:
                found = self._of_file(options, seed=seed, resamples=resamples)
        except RatingsError as error:
            where = f"{options['file']!r}: " if options["file"] is not None else ""
            self.bad_input(f"{where}{error}")
        if options["appendix"] is not None:
            write_bytes(self, appendix_zip(found.appendix()), path=options["appendix"])
            # Where the report goes to standard output, nothing else does.
            said = self.stderr if options["output"] is None else self.stdout
            said.write(f"Written to {options['appendix']}.", str)
        write_output(self, written(found.report, wanted), path=options["output"])

    def _of_file(self, options: dict[str, Any], *, seed: int, resamples: int) -> Found:
        if options["scale"]:
            self.bad_input("--scale names ratings of a campaign; leave it out for a file.")
        labels = None if options["labels"] is None else self._labels(options["labels"])
        try:
            file = read_ratings(Path(options["file"]), labels=labels, is_numeric=options["numeric"])
        except OSError as error:
            self.bad_input(f"{options['file']!r} cannot be read: {error.strerror}.")
        except ValueError as error:
            if isinstance(error, RatingsError):
                raise
            self.bad_input(f"{options['file']!r} cannot be read: {error}.")
        chosen = Chosen(gold=options["gold"], positive=options["positive"], seed=seed, resamples=resamples)
        found = report(file.ratings, **chosen)
        return Found(
            report=replace(found, warnings=(*file.notes, *found.warnings)),
            appendix=partial(file_appendix, file.ratings, **chosen),
        )

    def _of_campaign(self, options: dict[str, Any], *, seed: int, resamples: int) -> Found:
        if options["labels"] is not None or options["numeric"]:
            self.bad_input("A campaign knows its own labels; leave out --labels and --numeric.")
        prepare_database()
        campaign = self.campaign_of(options["campaign"])
        chosen = Chosen(gold=options["gold"], positive=options["positive"], seed=seed, resamples=resamples)
        marks = read_marks(campaign, scale=options["scale"])
        found = report_of(campaign, marks, **chosen)
        kind = "agreement" if options["appendix"] is None else "agreement appendix"
        audit.note(None, "export", f"campaign:{campaign.pk}", kind=kind)
        return Found(report=found, appendix=partial(campaign_appendix, campaign, marks, **chosen))

    def _format(self, text: str) -> AgreementFormat:
        try:
            return AgreementFormat(text)
        except ValueError:
            self.bad_input(f"--format {text!r} is unknown; known are: {', '.join(AgreementFormat)}.")

    def _number(self, option: str, text: str, *, least: int, most: int) -> int:
        number = whole_number(text)
        if number is None or not least <= number <= most:
            self.bad_input(f"{option} {text[:40]!r} is no whole number from {least:,} to {most:,}.")
        return number

    def _labels(self, text: str) -> list[str]:
        labels = [label.strip() for label in text.split(",")]
        if not all(labels) or len(set(labels)) < len(labels):
            self.bad_input(f"--labels {text[:80]!r} must name each label once, such as fail,partial,pass.")
        return labels
