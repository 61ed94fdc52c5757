"""List runs."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from benchmark.management.door import Door
from benchmark.rules.vocabulary import RunState
from runs.isolation import NO_SANDBOX
from runs.models import Run
from runs.summaries import run_facts


class Command(Door):
    """`proofroom runs`."""

    help = "List runs, newest first."
    example = "proofroom runs --state running"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--state", choices=[state.value for state in RunState])
        parser.add_argument("--benchmark", help="Key of a benchmark.")
        parser.add_argument("--limit", type=int, default=50, help="At most so many (default: 50).")
        parser.add_argument("--before", type=int, help="Only runs with a smaller number.")

    def handle(self, *args: Any, **options: Any) -> None:
        runs = Run.objects.select_related("benchmark").order_by("-pk")
        if options["state"]:
            runs = runs.filter(state=options["state"])
        if options["benchmark"]:
            runs = runs.filter(benchmark__key=options["benchmark"])
        if options["before"]:
            runs = runs.filter(pk__lt=options["before"])
        facts = [run_facts(run) for run in runs[: max(1, options["limit"])]]
        lines = [
            f"{fact['run']:>5}  {fact['state']:<10}  {fact['benchmark']['key']} "
            f"v{fact['benchmark']['version']}  {fact['agent_label']}  {fact['created_at'][:19]}"
            + (f"  {NO_SANDBOX}" if fact["cautions"] else "")
            for fact in facts
        ]
        self.answer({"runs": facts}, text="\n".join(lines) or "No run fits. `proofroom launch` starts one.")
