"""The numbers of a design as the set-up page and the question before the opening say them."""

from __future__ import annotations

from typing import Any

from annotation.designing import DesignPreview
from annotation.drafting import Pace
from benchmark.display import counted, duration, whole

MOST_STRATA = 40


def plan_in_words(shown: DesignPreview, now: Pace) -> dict[str, Any]:
    """The numbers of a design in words."""
    seconds = shown.marks * now.seconds
    basis = (
        f"the median of {counted(now.n, 'recent mark')}" if now.n else "supposed until somebody has marked"
    )
    strata = [
        {
            "name": stratum.name or "all",
            "found": whole(stratum.found),
            "drawn": whole(stratum.drawn),
            "width": round(100 * stratum.drawn / stratum.found, 1) if stratum.found else 0,
        }
        for stratum in shown.strata[:MOST_STRATA]
    ]
    return {
        "items": whole(shown.items),
        "outcomes": whole(shown.outcomes),
        "marks": whole(shown.marks),
        "sets": whole(shown.sets),
        "shared": whole(shown.shared_items),
        "calibration": shown.calibration,
        "facts": [
            counted(shown.projects, "project"),
            counted(shown.trials, "trial"),
            counted(shown.rounds, "round"),
        ],
        "hours": duration(seconds),
        "basis": f"{now.seconds:.0f} s for each mark, {basis}",
        "strata": strata if len(shown.strata) > 1 or (strata and shown.strata[0].name) else [],
        "more_strata": max(0, len(shown.strata) - MOST_STRATA),
        "excluded": [{"words": words, "count": whole(number)} for words, number in shown.excluded],
        "unfinished": counted(shown.unfinished_trials, "trial") if shown.unfinished_trials else "",
        "without_round": counted(shown.trials_without_round, "trial") if shown.trials_without_round else "",
        "problems": shown.problems,
        "is_possible": bool(shown.items) and not shown.problems,
    }
