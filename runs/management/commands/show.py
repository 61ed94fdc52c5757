"""One run with trials, rounds and marks."""

from __future__ import annotations

from typing import Any

from benchmark.rules.vocabulary import Mark
from runs.containments import hit_words, hits_of
from runs.management.run_door import RunDoor
from runs.summaries import run_document


class Command(RunDoor):
    """`proofroom show RUN`."""

    help = "Show one run with its trials, rounds and marks."
    example = "proofroom show 12 --json"

    def handle(self, *args: Any, **options: Any) -> None:
        document = run_document(self.run_of(options["run"]))
        self.answer(document, text="\n".join(_lines(document)))


def _lines(document: dict[str, Any]) -> list[str]:
    benchmark = document["benchmark"]
    lines = [
        (
            f"Run {document['run']} is {document['state']}: {document['agent_label']} on "
            f"{benchmark['key']} v{benchmark['version']} ({benchmark['hash'][:8]}), "
            f"judge {document['judge']}"
        )
    ]
    lines += document["cautions"]
    for trial in document["trials"]:
        repeat = f" (repeat {trial['repeat']})" if document["repeats"] > 1 else ""
        lines.append(f"{trial['task']}{repeat}: {trial['state']} {trial['trouble']}".rstrip())
        for round_ in trial["rounds"]:
            marks = list(round_["criteria"].values())
            counted = ", ".join(f"{marks.count(mark)} {mark}" for mark in Mark if mark in marks)
            lines.append(f"  round {round_['round']}: {counted or 'not judged yet'}")
            lines += [f"    {words}" for words in _contained(round_["containment"])]
    return lines


def _contained(reports: list[dict[str, Any]]) -> list[str]:
    """What was left behind and which limits were met; nothing where there is nothing to say."""
    words = []
    for report in reports:
        left = [
            *([f"{report['processes_left']} processes"] if report["processes_left"] else []),
            *(f"port {port}" for port in report["ports_left"]),
            *report["files_left"],
        ]
        if left:
            words.append(f"{report['use']} left behind: {', '.join(left)}")
        words += [f"{report['use']} met a limit, {hit_words(hit)}" for hit in hits_of(report["limits_hit"])]
    return words
