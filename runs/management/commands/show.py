"""One run with trials, rounds and marks."""

from __future__ import annotations

from typing import Any

from benchmark.rules.vocabulary import Mark
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
    for trial in document["trials"]:
        repeat = f" (repeat {trial['repeat']})" if document["repeats"] > 1 else ""
        lines.append(f"{trial['task']}{repeat}: {trial['state']} {trial['trouble']}".rstrip())
        for round_ in trial["rounds"]:
            marks = list(round_["criteria"].values())
            counted = ", ".join(f"{marks.count(mark)} {mark}" for mark in Mark if mark in marks)
            lines.append(f"  round {round_['round']}: {counted or 'not judged yet'}")
    return lines
