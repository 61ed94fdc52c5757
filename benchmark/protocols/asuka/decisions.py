"""The sentences that stand beside the numbers of an Asuka run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmark.protocols.asuka.settings import RequestText, settings_from
from benchmark.rules.vocabulary import Mode


def decisions(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one sentence for each decision that the numbers depend on, those of the settings first."""
    chosen = settings_from(settings)
    if chosen.mode is Mode.FLAT:
        scheduling = "Flat evaluation: every criterion is judged, whatever its prerequisites did."
    elif chosen.threshold == 1:
        scheduling = (
            "DAG evaluation, strict (T = 1): a criterion is judged only if every prerequisite was executed "
            "and all of its outcomes passed in the same round."
        )
    else:
        scheduling = (
            f"DAG evaluation at T = {chosen.threshold:g}: a criterion is judged only if every prerequisite "
            f"was executed and at least {chosen.threshold:.0%} of its outcomes passed in the same round."
        )
    if chosen.request is RequestText.PRD:
        dialogue = "The code agent receives the clarified PRD and has one round."
    else:
        dialogue = (
            f"The code agent receives the vague query, then feedback, for at most {chosen.max_rounds} "
            "rounds; a task stops once every criterion passes in a round and carries that round forward."
        )
    return (
        scheduling,
        dialogue,
        (
            "Rates are cumulative: what passed in this round or an earlier one. Figures named “this round” "
            "stand beside them and say what passes now."
        ),
        (
            "Error and skipped are never fail. Raw figures keep errored criteria in the denominator and "
            "count them as 0; figures named “judged” leave out criteria that were error in every round "
            "so far."
        ),
        "A task without any judged mark counts 0 in raw figures and as an infrastructure failure.",
        (
            "Means weight tasks equally and repeats are averaged within their task first; intervals are 95% "
            "(mean ± 1.959964 s/√n over tasks), undefined for one task."
        ),
        (
            "Fix rates are pooled over tasks: an error or a skip after a failure is not a fix, and a round "
            "that is carried forward counts."
        ),
    )
