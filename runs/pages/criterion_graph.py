"""The graph of one round: what each criterion got, and why others were skipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.display import Look, listed
from benchmark.drawing import Drawing, Node, drawing_of


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCriterion:
    """A criterion as the graph and the list beside it show it."""

    key: str
    title: str
    needs: tuple[str, ...]
    look: Look
    href: str = ""

    @property
    def label(self) -> str:
        return self.title or self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionGraph:
    """A drawing with the list that stands in for it, and one sentence on what stopped what."""

    drawing: Drawing
    criteria: tuple[GraphCriterion, ...]
    sentence: str


def graph_of(criteria: Sequence[GraphCriterion], *, width: int, current: str = "") -> CriterionGraph:
    """Draw the criteria of a round within `width`."""
    nodes = [
        Node(
            key=criterion.key,
            label=criterion.label,
            needs=criterion.needs,
            look=criterion.look,
            href=criterion.href,
            is_current=criterion.key == current,
        )
        for criterion in criteria
    ]
    return CriterionGraph(
        drawing=drawing_of(nodes, width=width),
        criteria=tuple(criteria),
        sentence=_what_stopped_what(criteria),
    )


def _what_stopped_what(criteria: Sequence[GraphCriterion]) -> str:
    skipped = {c.key for c in criteria if c.look is Look.SKIPPED}
    by_key = {c.key: c for c in criteria}
    behind: dict[str, list[str]] = {}
    for criterion in criteria:
        if criterion.key not in skipped:
            continue
        for need in criterion.needs:
            if need in by_key and need not in skipped and by_key[need].look is not Look.PASS:
                behind.setdefault(need, []).append(criterion.key)
    if not behind:
        return ""
    key, stopped = max(behind.items(), key=lambda item: len(item[1]))
    further = len(skipped) - len(stopped)
    tail = (
        f" {further} more {'is' if further == 1 else 'are'} skipped elsewhere or further down."
        if further
        else ""
    )
    verb = "was" if len(stopped) == 1 else "were"
    return f"{key} {by_key[key].label} is not satisfied, so {listed(stopped)} {verb} skipped.{tail}"
