"""The grid of a run: a row a trial, a cell a round, a shape a criterion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from benchmark.display import Look, counted, duration, mark_of_outcomes, points
from benchmark.rules.vocabulary import Mark, RoundState, StageName, TrialState

MOST_SHAPES = 24
MOST_COLUMNS_WITH_SHAPES = 4

_MIX_ORDER = (Look.PASS, Look.PARTIAL, Look.FAIL, Look.ERROR, Look.SKIPPED, Look.RUNNING, Look.WAITING)


class CellShows(StrEnum):
    """What a cell of the grid shows beside, or instead of, its shapes."""

    MARKS = "marks"
    RATE = "rate"
    TIME = "time"


@dataclass(frozen=True, slots=True, kw_only=True)
class GridCriterion:
    """What the grid needs to know of a criterion."""

    key: str
    weight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRound:
    """What the grid needs to know of a round. `marks` are those saved so far.

    For a very large rubric `tally` counts outcomes by mark instead, so that not every mark is read.
    """

    number: int
    state: RoundState
    opened_at: datetime
    closed_at: datetime | None
    marks: Mapping[str, Sequence[Mark]]
    running: frozenset[str] = frozenset()
    tally: Mapping[Mark, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GridTrial:
    """What the grid needs to know of a trial."""

    pk: int
    task_key: str
    task_title: str
    repeat: int
    state: TrialState
    stage: StageName | None
    trouble: str
    href: str
    criteria: Sequence[GridCriterion]
    rounds: Sequence[GridRound]


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a mix bar, in units of a bar 100 wide."""

    look: Look
    x: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One round of a trial. Without a round there is only `absent`: waiting, or not needed."""

    number: int
    looks: tuple[Look, ...] = ()
    mix: tuple[Segment, ...] = ()
    figure: str = ""
    words: str = ""
    href: str = ""
    absent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """What a trial is doing, or how it ended."""

    look: Look | None
    words: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One trial of the grid."""

    trial: GridTrial
    cells: tuple[Cell, ...]
    now: Now
    is_selected: bool


def rows_of(
    trials: Sequence[GridTrial], *, columns: int, shows: CellShows, selected: int | None, now: datetime
) -> list[Row]:
    """Return the rows of the grid with `columns` rounds each."""
    narrow = columns > MOST_COLUMNS_WITH_SHAPES
    return [
        Row(
            trial=trial,
            cells=tuple(
                _cell(trial, number, shows=shows, as_mix=narrow or len(trial.criteria) > MOST_SHAPES, now=now)
                for number in range(1, columns + 1)
            ),
            now=_now(trial),
            is_selected=trial.pk == selected,
        )
        for trial in trials
    ]


def looks_of(criteria: Sequence[GridCriterion], round_: GridRound) -> list[Look]:
    """The shape of each criterion in rubric order; what was not begun yet is waiting."""
    looks = []
    for criterion in criteria:
        look = mark_of_outcomes(round_.marks.get(criterion.key, ()))
        if look is Look.WAITING and criterion.key in round_.running:
            look = Look.RUNNING
        looks.append(look)
    return looks


def mix_of(counts: Mapping[Look, int]) -> tuple[Segment, ...]:
    """Counts as the segments of a bar, in the order of the marks."""
    total = sum(counts.values())
    segments, x = [], 0.0
    for look in _MIX_ORDER:
        if count := counts.get(look, 0):
            width = 100 * count / total
            segments.append(Segment(look=look, x=round(x, 2), width=round(max(width - 0.4, 0.3), 2)))
            x += width
    return tuple(segments)


def counts_in_words(counts: Mapping[Look, int]) -> str:
    """`4 pass, 2 fail, 8 skipped`."""
    return ", ".join(f"{counts[look]:,} {look.value}" for look in _MIX_ORDER if counts.get(look))


def _cell(trial: GridTrial, number: int, *, shows: CellShows, as_mix: bool, now: datetime) -> Cell:
    round_ = next((each for each in trial.rounds if each.number == number), None)
    if round_ is None:
        has_ended = trial.state in (TrialState.FINISHED, TrialState.AUDIT_FAILED)
        words = "not needed" if has_ended else "not run" if trial.state is TrialState.CANCELLED else "waiting"
        return Cell(number=number, absent=words)
    if round_.tally is not None:
        counts = Counter({Look(mark.value): count for mark, count in round_.tally.items()})
        looks: list[Look] = []
        as_mix = True
    else:
        looks = looks_of(trial.criteria, round_)
        counts = Counter(looks)
    judged = sum(counts.values()) - counts[Look.WAITING] - counts[Look.RUNNING]
    is_judging = round_.state is RoundState.OPEN and 0 < judged < len(looks)
    href = f"{trial.href}?round={number}"
    words = counts_in_words(counts)
    if not judged and not counts[Look.RUNNING]:
        return Cell(
            number=number, absent="at work" if round_.state is RoundState.OPEN else "no mark", href=href
        )
    return Cell(
        number=number,
        looks=() if as_mix else tuple(looks),
        mix=mix_of(counts) if as_mix else (),
        figure=_figure(
            trial,
            round_,
            counts,
            shows=shows,
            judging=f"{judged}/{len(looks)}" if is_judging else "",
            now=now,
        ),
        words=words,
        href=href,
    )


def _figure(
    trial: GridTrial,
    round_: GridRound,
    counts: Counter[Look],
    *,
    shows: CellShows,
    judging: str,
    now: datetime,
) -> str:
    if shows is CellShows.TIME:
        return duration(((round_.closed_at or now) - round_.opened_at).total_seconds())
    if judging:
        return judging
    if shows is CellShows.RATE:
        return _rate(trial, round_, counts, with_decimal=True)
    return _rate(trial, round_, counts, with_decimal=False)


def _rate(trial: GridTrial, round_: GridRound, counts: Counter[Look], *, with_decimal: bool) -> str:
    """Weight of the criteria that pass in this round, as per cent; of outcomes in a very large rubric."""
    if round_.tally is not None:
        total = sum(counts.values())
        share = counts[Look.PASS] / total if total else 0.0
    else:
        total = sum(criterion.weight for criterion in trial.criteria)
        passed = sum(
            criterion.weight
            for criterion in trial.criteria
            if set(round_.marks.get(criterion.key, ())) == {Mark.PASS}
        )
        share = passed / total if total else 0.0
    return f"{points(share)}%" if with_decimal else f"{share * 100:.0f}%"


_STAGE_WORDS = {
    StageName.BRIEF: "Request",
    StageName.CODE: "Code",
    StageName.DEPLOY: "Build",
    StageName.JUDGE: "Judge",
    StageName.FEEDBACK: "Feedback",
    StageName.SCORE: "Score",
}


def stage_word(stage: StageName) -> str:
    """What pages call a stage."""
    return _STAGE_WORDS.get(stage, stage.value.capitalize())


def _now(trial: GridTrial) -> Now:
    if trial.state is TrialState.RUNNING:
        last = trial.rounds[-1] if trial.rounds else None
        running = [
            c.key for c in trial.criteria if last and c.key in last.running and not last.marks.get(c.key)
        ]
        detail = ", ".join(running[:3]) + (f" and {len(running) - 3} more" if len(running) > 3 else "")
        return Now(
            look=Look.RUNNING, words=stage_word(trial.stage) if trial.stage else "Begins", detail=detail
        )
    if trial.state is TrialState.PAUSED:
        return Now(look=Look.ERROR, words="Paused", detail=trial.trouble)
    if trial.state is TrialState.FINISHED:
        return _ended(trial)
    words = {
        TrialState.QUEUED: "Waits for a retry" if trial.trouble else "Queued",
        TrialState.CANCELLED: "Cancelled",
        TrialState.AUDIT_FAILED: "Audit failed",
    }[trial.state]
    return Now(look=None, words=words, detail=trial.trouble)


def _ended(trial: GridTrial) -> Now:
    if not trial.rounds:
        return Now(look=None, words="No round")
    last = trial.rounds[-1]
    looks = set(looks_of(trial.criteria, last)) if last.tally is None else {Look(m.value) for m in last.tally}
    if looks == {Look.PASS}:
        return Now(look=Look.PASS, words="All passed")
    return Now(look=None, words="Round limit", detail=counted(len(trial.rounds), "round"))
