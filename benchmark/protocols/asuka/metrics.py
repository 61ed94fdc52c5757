"""The metrics of Asuka: names, the paper's words, ours, and a plain definition of each."""

from __future__ import annotations

from benchmark.rules.protocol import ChartSpec, MetricSpec, TableSpec
from benchmark.rules.vocabulary import ChartKind, TableRows, Unit

KINDS = ("presence", "functionality", "robustness")
CUMULATIVE = (
    "task_pass_rate",
    "criteria_pass_rate",
    "project_completion_rate",
    "implemented_rate",
)
FIX_RATES = ("task_fix_rate", "criteria_fix_rate")
REGRESSIONS = ("regressions", "regressions_unreached")
GAPS = ("dag_gap", "dag_gap_strict")


def state_metric(name: str) -> str:
    """Return the name of a cumulative metric's figure in one round alone."""
    return f"{name}_state"


def judged_metric(name: str) -> str:
    """Return the name of a cumulative metric's figure without criteria that were always error."""
    return f"{name}_judged"


def kind_metric(kind: str) -> str:
    """Return the name of the task pass rate over criteria of one kind."""
    return f"task_pass_rate_{kind}"


_PAPER_AND_OURS = {
    "task_pass_rate": ("Task Pass Rate", "criteria passed, by weight"),
    "criteria_pass_rate": ("Criteria Pass Rate", "outcomes passed, by criterion weight"),
    "project_completion_rate": ("Project Completion Rate", "tasks whose criteria all passed"),
    "implemented_rate": ("Implemented rate", "criteria executed, by weight"),
}
_CUMULATIVE_DEFINITIONS = {
    "task_pass_rate": (
        "Weight of the criteria that passed in this round or an earlier one, over all weight of the task; "
        "then the mean over tasks."
    ),
    "criteria_pass_rate": (
        "Each criterion earns the share of its outcomes that passed in this round or an earlier one; "
        "weighted within the task, then the mean over tasks."
    ),
    "project_completion_rate": (
        "Share of tasks in which every criterion passed in this round or an earlier one, "
        "even if never all of them in the same round."
    ),
    "implemented_rate": (
        "Weight of the criteria that could be judged, because their prerequisites were satisfied, in this "
        "round or an earlier one, over all weight of the task; then the mean over tasks."
    ),
}
_STATE_DEFINITIONS = {
    "task_pass_rate": "The same with the marks of this round alone: what passes now.",
    "criteria_pass_rate": "The same with the marks of this round alone: the outcomes that pass now.",
    "project_completion_rate": "Share of tasks in which every criterion passes in this round.",
    "implemented_rate": "The same with the marks of this round alone: what can be judged now.",
}
_JUDGED_DEFINITION = (
    "The cumulative figure without the criteria that were error in every round so far; "
    "a task that has no other criteria leaves the mean."
)


def _cumulative_specs() -> tuple[MetricSpec, ...]:
    specs: list[MetricSpec] = []
    for name in CUMULATIVE:
        paper, ours = _PAPER_AND_OURS[name]
        specs += [
            MetricSpec(name=name, label=paper, our_words=ours, definition=_CUMULATIVE_DEFINITIONS[name]),
            MetricSpec(
                name=state_metric(name),
                label=f"{paper}, this round",
                our_words=f"{ours}, in this round alone",
                definition=_STATE_DEFINITIONS[name],
            ),
            MetricSpec(
                name=judged_metric(name),
                label=f"{paper}, judged",
                our_words=f"{ours}, without those that could not be judged",
                definition=_JUDGED_DEFINITION,
            ),
        ]
    return tuple(specs)


_FIX_SPECS = (
    MetricSpec(
        name="task_fix_rate",
        label="Task fix rate",
        our_words="failed criteria that pass a round later",
        definition=(
            "Of the criteria that were executed and did not pass in the round before, the share that passes "
            "in this one; counted over all tasks together. Error and skipped count as not fixed."
        ),
    ),
    MetricSpec(
        name="criteria_fix_rate",
        label="Criteria fix rate",
        our_words="failed outcomes that pass a round later",
        definition=(
            "Of the outcomes that failed in the round before, the share that passes in this one, itself or "
            "with its whole criterion; counted over all tasks together."
        ),
    ),
)
_REGRESSION_SPECS = (
    MetricSpec(
        name="regressions",
        label="Regressions",
        our_words="criteria that passed before and fail now",
        definition="Criteria that passed in an earlier round and are marked fail in this one.",
        unit=Unit.COUNT,
    ),
    MetricSpec(
        name="regressions_unreached",
        label="Regressions, unreached",
        our_words="criteria that passed before and are skipped now",
        definition="Criteria that passed in an earlier round and are skipped in this one.",
        unit=Unit.COUNT,
    ),
)
_GAP_SPECS = (
    MetricSpec(
        name="dag_gap",
        label="DAG gap",
        our_words="pass rate lost by skipping, at the threshold",
        definition=(
            "Task Pass Rate of a flat evaluation minus what the same marks give when criteria behind "
            "unsatisfied prerequisites are skipped in each round; the threshold is that of the run."
        ),
    ),
    MetricSpec(
        name="dag_gap_strict",
        label="DAG gap, strict",
        our_words="pass rate lost by skipping, at threshold 1",
        definition="The DAG gap when a prerequisite is satisfied only if all of its outcomes pass.",
    ),
)
_KIND_SPECS = tuple(
    MetricSpec(
        name=kind_metric(kind),
        label=f"Task Pass Rate, {kind}",
        our_words=f"criteria of kind {kind} passed, by weight",
        definition=(
            f"The cumulative Task Pass Rate over criteria of kind {kind} alone, "
            "averaged over the tasks that have such criteria."
        ),
    )
    for kind in KINDS
)

METRIC_SPECS = (*_cumulative_specs(), *_FIX_SPECS, *_REGRESSION_SPECS, *_GAP_SPECS, *_KIND_SPECS)

TABLES = (
    TableSpec(
        name="main",
        title="Cumulative rates by round",
        rows=TableRows.ROUNDS,
        metrics=(*CUMULATIVE, *REGRESSIONS),
        note="Mean over tasks with the 95% half-width; counts are sums over tasks.",
    ),
    TableSpec(
        name="state",
        title="What passes in each round alone",
        rows=TableRows.ROUNDS,
        metrics=tuple(state_metric(name) for name in CUMULATIVE),
        note="A task that stopped carries its last round forward.",
    ),
    TableSpec(
        name="judged",
        title="Without criteria that could never be judged",
        rows=TableRows.ROUNDS,
        metrics=tuple(judged_metric(name) for name in CUMULATIVE),
        note="Stands beside the raw figures, whose denominators keep every criterion.",
    ),
    TableSpec(
        name="fixes",
        title="Fix rates by round",
        rows=TableRows.ROUNDS,
        metrics=FIX_RATES,
        note="Pooled over tasks; the first round has none.",
    ),
    TableSpec(
        name="kinds",
        title="Task Pass Rate by kind",
        rows=TableRows.ROUNDS,
        metrics=tuple(kind_metric(kind) for kind in KINDS),
    ),
    TableSpec(
        name="gap",
        title="What skipping hides",
        rows=TableRows.RUN,
        metrics=("task_pass_rate", *GAPS),
        note="Computed from a flat evaluation only.",
    ),
    TableSpec(
        name="tasks",
        title="Each task after the last round",
        rows=TableRows.TASKS,
        metrics=(*CUMULATIVE, *REGRESSIONS),
    ),
)
CHARTS = (
    ChartSpec(
        name="by_round",
        title="Cumulative Task Pass Rate by round",
        kind=ChartKind.LINE_BY_ROUND,
        metrics=("task_pass_rate",),
        note="With the 95% interval over tasks.",
    ),
    ChartSpec(
        name="by_kind",
        title="Task Pass Rate by kind",
        kind=ChartKind.BARS,
        metrics=tuple(kind_metric(kind) for kind in KINDS),
        note="After the last round, with the 95% interval over tasks.",
    ),
)
