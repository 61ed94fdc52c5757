"""How the commands of one round were held, as its page says it: the level, what was left, which limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.display import duration
from runs.containments import hit_words, left_words, report_of
from runs.isolation import SandboxLevel
from runs.models import ContainmentRow, Round

_USES = {
    "agent": "The code agent",
    "install": "The install",
    "build": "The build",
    "serve": "The application",
    "case": "A case",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldUse:
    """One line of the report: what was started for one use in one stage."""

    use: str
    stage: str
    level: str
    left: str
    ended: str
    limits: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundContainment:
    """The report of a round. `left` and `limits` are sentences, empty where there is nothing to say."""

    levels: tuple[str, ...]
    is_without_wall: bool
    left: tuple[str, ...]
    limits: tuple[str, ...]
    longest_end: str
    uses: tuple[HeldUse, ...]


def containment_of(round_: Round) -> RoundContainment | None:
    """The containment report of a round in one query; None where no foreign command was recorded."""
    rows = list(ContainmentRow.objects.filter(round=round_).order_by("pk"))
    return shown(rows) if rows else None


def shown(rows: Sequence[ContainmentRow]) -> RoundContainment:
    """Stored reports of one round as its page shows them."""
    uses = tuple(_held(row) for row in rows)
    return RoundContainment(
        levels=tuple(dict.fromkeys(row.level for row in rows)),
        is_without_wall=any(row.level == SandboxLevel.NONE for row in rows),
        left=tuple(f"{_name(row)} left {words}." for row, words in _each(rows)),
        limits=tuple(f"{use.use} met its limit of {limit}." for use in uses for limit in use.limits),
        longest_end=duration(max((row.seconds_to_end for row in rows), default=0.0)),
        uses=uses,
    )


def _each(rows: Sequence[ContainmentRow]) -> list[tuple[ContainmentRow, str]]:
    return [(row, ", ".join(left)) for row in rows if (left := left_words(row))]


def _held(row: ContainmentRow) -> HeldUse:
    return HeldUse(
        use=_name(row),
        stage=row.stage,
        level=row.level,
        left=", ".join(left_words(row)) or "nothing",
        ended=duration(row.seconds_to_end),
        limits=tuple(hit_words(hit) for hit in report_of(row).limits_hit),
    )


def _name(row: ContainmentRow) -> str:
    return _USES.get(row.use, row.use.capitalize())
