"""What `proofroom import --as` reads of annotation: verdicts of a judge, and labels of people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.finding_marks import read_marked_files
from annotation.importing import import_labels
from annotation.importing_verdicts import import_verdicts
from annotation.marked_files import MarkedFile
from annotation.matching import Matched, matched
from benchmark.management.import_kinds import ImportAnswer, ImportKind, ImportMisused, ImportOption
from runs.finding import RunUnknown, run_named
from runs.models import Run

RUN = ImportOption(name="run", metavar="RUN", help="the run that the marks belong to")
LEAVE_OUT = ImportOption(
    name="leave_out", help="list marks whose text is not in the rubric, and import the others"
)
RATER = ImportOption(name="rater", metavar="NAME", help="who marked, whatever the files say")
JUDGE = ImportOption(name="judge", metavar="NAME", help="which judge it was, whatever the files say")


def read_labels(path: Path, options: Mapping[str, Any]) -> ImportAnswer:
    """Import marks of people. Raises ImportRefused or ImportMisused."""
    run = _run(options)
    name = _name(options, "rater")
    files = read_marked_files(path)
    found = matched(files, run, leave_out=options["leave_out"])
    imported = import_labels(found, run, rater=name)
    if imported.pictures_left_out:
        found.notes.append(
            f"{imported.pictures_left_out} pictures that the files name are not on this site and were left out."
        )
    document = {
        "kind": "labels",
        "run": run.pk,
        "campaign": imported.campaign.pk,
        "is_new": imported.is_new,
        "raters": list(imported.raters),
        "files": len(files),
        "sets": imported.sets,
        "marks": imported.marks,
        "not_reviewed": imported.not_reviewed,
        "skipped": imported.skipped,
    }
    verb = "Imported" if imported.is_new else "Already there, nothing was added:"
    text = (
        f"{verb} {imported.marks} marks by {', '.join(imported.raters)} in {imported.sets} sets of run "
        f"{run.pk}: campaign {imported.campaign.pk}."
    )
    return _answer(document, text, found, files)


def read_verdicts(path: Path, options: Mapping[str, Any]) -> ImportAnswer:
    """Import marks of a judge. Raises ImportRefused or ImportMisused."""
    run = _run(options)
    name = _name(options, "judge")
    files = read_marked_files(path)
    found = matched(files, run, leave_out=options["leave_out"])
    imported = import_verdicts(found, run, judge=name)
    if imported.evidence_left_out:
        found.notes.append(
            f"{imported.evidence_left_out} pieces of evidence that the files name are not on this site and were left out."
        )
    document = {
        "kind": "verdicts",
        "run": run.pk,
        "judges": list(imported.judges),
        "is_new": bool(imported.judgings),
        "files": len(files),
        "judgings": imported.judgings,
        "already": imported.already,
        "verdicts": imported.verdicts,
        "not_marked": imported.not_marked,
    }
    text = (
        f"Imported {imported.verdicts} verdicts in {imported.judgings} judgings of run {run.pk} by "
        f"{', '.join(imported.judges)}."
    )
    if imported.already:
        text += f" {imported.already} judgings were already there."
    return _answer(document, text, found, files)


KINDS = (
    ImportKind(
        name="verdicts",
        words="marks of a judge, beside those of a run",
        options=(RUN, JUDGE, LEAVE_OUT),
        read=read_verdicts,
    ),
    ImportKind(
        name="labels",
        words="marks of people on a run",
        options=(RUN, RATER, LEAVE_OUT),
        read=read_labels,
    ),
)


def _run(options: Mapping[str, Any]) -> Run:
    if options["run"] is None:
        raise ImportMisused(
            "--run is missing: say which run the marks belong to; `proofroom runs` lists them."
        )
    try:
        return run_named(options["run"])
    except RunUnknown as unknown:
        raise ImportMisused(str(unknown)) from None


def _name(options: Mapping[str, Any], option: str) -> str | None:
    name: str | None = options[option]
    if name is not None and not name.strip():
        raise ImportMisused(f"--{option} is empty; give a name.")
    return name


def _answer(document: dict[str, Any], text: str, found: Matched, files: Sequence[MarkedFile]) -> ImportAnswer:
    if ratings := sum(file.ratings for file in files):
        found.notes.append(f"{ratings} ratings on scales were left out: only marks are imported.")
    lines = [text, *found.notes]
    for name, count in Counter(repair.name for repair in found.repairs).items():
        lines.append(f"{'Left out' if name == 'left_out' else f'Repaired: {name}'}, {count}.")
        lines += [f"  {repair}" for repair in found.repairs if repair.name == name]
    repairs = [repair.as_json() for repair in found.repairs]
    return ImportAnswer(
        document={**document, "problems": [], "repairs": repairs, "notes": list(found.notes)},
        text="\n".join(lines),
    )
