"""What the judge and its process say to each other: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benchmark.rules.records import CriterionSpec, OutcomeSpec


def encoded(message: Mapping[str, Any]) -> bytes:
    """Return a message as one line; ASCII only, so that no lone surrogate can break it."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def criterion_message(criterion: CriterionSpec) -> bytes:
    """Return the line that asks for one criterion."""
    return encoded(
        {
            "criterion": {
                "key": criterion.key,
                "kind": criterion.kind,
                "before": [dict(step) for step in criterion.before],
                "outcomes": [
                    None if outcome.script is None else [dict(step) for step in outcome.script]
                    for outcome in criterion.outcomes
                ],
            }
        }
    )


def criterion_from(message: Mapping[str, Any]) -> CriterionSpec:
    """Rebuild a criterion as far as judging needs it: the hidden wording never crosses over."""
    return CriterionSpec(
        key=message["key"],
        kind=message["kind"],
        before=tuple(message["before"]),
        outcomes=tuple(
            OutcomeSpec(text="", script=None if script is None else tuple(script))
            for script in message["outcomes"]
        ),
    )
