"""What is there and what is missing, each with the command that mends it."""

from __future__ import annotations

from typing import Any

from benchmark.management.door import Door
from runs.checkup import Standing, findings

SIGNS = {Standing.THERE: "ok", Standing.MISSING: "MISSING", Standing.OPTIONAL: "absent"}


class Command(Door):
    """`proofroom doctor`."""

    help = "Say what is there and what is missing, each with the command that mends it."
    example = "proofroom doctor --json"
    needs_database = False

    def handle(self, *args: Any, **options: Any) -> None:
        found = findings()
        lines = []
        for finding in found:
            lines.append(f"{SIGNS[finding.standing]:>8}  {finding.name}: {finding.seen}")
            if finding.mend:
                lines.append(f"{'':>8}  -> {finding.mend}")
        missing = [finding.name for finding in found if finding.standing is Standing.MISSING]
        document = {
            "ready": not missing,
            "findings": [
                {
                    "name": finding.name,
                    "standing": finding.standing.value,
                    "seen": finding.seen,
                    "mend": finding.mend,
                }
                for finding in found
            ],
        }
        self.answer(document, text="\n".join(lines))
        if missing:
            self.failed_job(f"Missing: {', '.join(missing)}.")
