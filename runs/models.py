"""Tables of what happened: runs, trials, rounds, verdicts, evidence and numbers."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db import models, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from benchmark.models import Benchmark, ExpectedOutcome, Task
from benchmark.rules.vocabulary import (
    ExitReason,
    Mark,
    Role,
    RoundState,
    RunState,
    StageName,
    TrialState,
)
from runs.clock import is_due, is_free, is_ready
from runs.isolation import NO_SANDBOX, ContainedUse, SandboxLevel
from runs.ports import DeploymentKind, EventKind, EvidenceKind


def _choices(words: type[Any]) -> list[tuple[str, str]]:
    return [(word.value, word.value.replace("_", " ")) for word in words]


UNFINISHED_RUNS = [RunState.QUEUED, RunState.RUNNING, RunState.PAUSED]
OPEN_TRIALS = [TrialState.QUEUED, TrialState.RUNNING]


class Run(models.Model):
    """One code agent under one protocol on a benchmark: what a researcher launches."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="runs")
    benchmark_hash = models.CharField(max_length=64, help_text="Content hash at launch.")
    protocol = models.CharField(max_length=32)
    name = models.CharField(max_length=200, blank=True)
    code_agent = models.CharField(max_length=64)
    code_agent_label = models.CharField(max_length=200, blank=True)
    code_agent_settings = models.JSONField(default=dict, blank=True)
    judge = models.CharField(max_length=64)
    judge_settings = models.JSONField(default=dict, blank=True)
    settings = models.JSONField(default=dict, help_text="The protocol's settings, all of them.")
    repeats = models.PositiveSmallIntegerField(default=1)
    # Runs from before there was a choice ran without a wall, so that is what a silent one is taken for.
    sandbox = models.CharField(
        max_length=16,
        choices=_choices(SandboxLevel),
        default=SandboxLevel.NONE,
        help_text="The level of isolation that it was launched with.",
    )
    state = models.CharField(
        max_length=16, choices=_choices(RunState), default=RunState.QUEUED, db_index=True
    )
    launched_by = models.ForeignKey(
        "auth.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    cancelled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        # The few that are not over, among all there ever were: each sweep of each worker asks for them.
        indexes = [
            models.Index(fields=["id"], name="run_not_over", condition=models.Q(finished_at__isnull=True))
        ]

    def __str__(self) -> str:
        return f"Run {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("runs:run", args=[self.pk])

    @property
    def agent_label(self) -> str:
        """What tables call the code agent."""
        return self.code_agent_label or self.code_agent

    @property
    def is_unfinished(self) -> bool:
        return self.state in UNFINISHED_RUNS

    @property
    def cautions(self) -> list[str]:
        """Sentences that whoever reads its numbers must see."""
        return [f"This run was {NO_SANDBOX}."] if self.is_without_sandbox else []

    @property
    def is_without_sandbox(self) -> bool:
        """Whether nothing kept its agents and candidates from this machine's files and network."""
        return self.sandbox == SandboxLevel.NONE


class Trial(models.Model):
    """One task of a run, one repeat of it; the unit that a worker claims."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="trials")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="trials")
    repeat = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(
        max_length=16, choices=_choices(TrialState), default=TrialState.QUEUED, db_index=True
    )
    stage = models.CharField(max_length=16, blank=True, choices=_choices(StageName))
    trouble = models.TextField(blank=True, help_text="Why it is paused: a failure of the bench.")
    attempts = models.PositiveSmallIntegerField(
        default=0, help_text="Failures of the bench in a row at the present stage."
    )
    not_before = models.DateTimeField(null=True, blank=True)
    claimed_by = models.CharField(max_length=120, blank=True)
    claimed_until = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["run", "task__position", "repeat"]
        constraints = [models.UniqueConstraint(fields=["run", "task", "repeat"], name="trial_once_a_repeat")]
        indexes = [
            # Only the claimed: of an index that held all, a planner without a histogram believes that half
            # the table must be read.
            models.Index(
                fields=["claimed_until"],
                name="trial_claimed",
                condition=models.Q(claimed_until__isnull=False),
            ),
            models.Index(fields=["run", "state", "id"], name="trial_of_run"),
            models.Index(fields=["run", "state", "stage", "id"], name="trial_in_queue"),
        ]

    def __str__(self) -> str:
        return f"Trial {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("runs:trial", args=[self.run_id, self.pk])

    def claim(self, *, worker: str, now: datetime, lease: timedelta) -> bool:
        """Take this trial for `worker` until `now + lease`; False where somebody else has it."""
        taken = Trial.objects.filter(
            is_free(now),
            is_ready(now),
            pk=self.pk,
            state__in=OPEN_TRIALS,
            run__in=_not_cancelled(self.run_id),
        ).update(claimed_by=worker, claimed_until=now + lease)
        return taken == 1

    def extend(self, *, worker: str, now: datetime, lease: timedelta) -> bool:
        """Keep the claim alive; False once it was lost, cancelled or taken over."""
        kept = Trial.objects.filter(
            pk=self.pk, claimed_by=worker, state__in=OPEN_TRIALS, run__in=_not_cancelled(self.run_id)
        ).update(claimed_until=now + lease)
        return kept == 1

    def is_due(self, *, worker: str, now: datetime, lease: timedelta) -> bool | None:
        """Whether the claim must be extended now; None once it is no longer this worker's."""
        held = self._held_by(worker).values_list("claimed_until", flat=True)[:1]
        return next((is_due(until, now, lease) for until in held), None)

    def _held_by(self, worker: str) -> models.QuerySet[Trial]:
        return Trial.objects.filter(pk=self.pk, claimed_by=worker, run__cancelled_at=None)

    def release(self, *, worker: str) -> None:
        """Give the claim back, if it is still ours."""
        Trial.objects.filter(pk=self.pk, claimed_by=worker).update(claimed_by="", claimed_until=None)


class Round(models.Model):
    """Request, work, verdicts: one turn of a trial."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="rounds")
    number = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=8, choices=_choices(RoundState), default=RoundState.OPEN)
    request = models.TextField(blank=True)
    feedback = models.TextField(blank=True)
    snapshot = models.CharField(max_length=64, blank=True, help_text="Digest of the manifest.")
    exit_reason = models.CharField(max_length=16, blank=True, choices=_choices(ExitReason))
    exit_detail = models.TextField(blank=True)
    opened_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["trial", "number"]
        constraints = [models.UniqueConstraint(fields=["trial", "number"], name="round_once_a_trial")]

    def __str__(self) -> str:
        return f"Round {self.number}"

    def begin(self, stage: StageName) -> StageRecord:
        """Note that a stage starts; a repeated one keeps its row and starts anew."""
        record, _ = StageRecord.objects.update_or_create(
            round=self, stage=stage, defaults={"started_at": timezone.now(), "finished_at": None}
        )
        return record

    def complete(self, stage: StageName) -> None:
        """Note that a stage is done; it will not be run again for this round."""
        StageRecord.objects.filter(round=self, stage=stage).update(finished_at=timezone.now())

    def reopen(self, stages: list[StageName]) -> None:
        """Let stages run again, as a retry does."""
        StageRecord.objects.filter(round=self, stage__in=stages).update(finished_at=None)

    def close(self) -> None:
        Round.objects.filter(pk=self.pk).update(state=RoundState.CLOSED, closed_at=timezone.now())


class StageRecord(models.Model):
    """When a stage of a round began and ended; finished means: not to be run again."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="stage_records")
    stage = models.CharField(max_length=16, choices=_choices(StageName))
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["round", "started_at"]
        constraints = [models.UniqueConstraint(fields=["round", "stage"], name="stage_once_a_round")]

    def __str__(self) -> str:
        return f"{self.stage} of {self.round}"


class Deployment(models.Model):
    """One attempt to build and start a round's snapshot, with its logs."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="deployments")
    kind = models.CharField(max_length=16, blank=True, choices=_choices(DeploymentKind))
    is_healthy = models.BooleanField()
    reason = models.TextField(blank=True, help_text="Why the candidate does not answer.")
    commands = models.JSONField(default=list, blank=True)
    build_log = models.CharField(max_length=64, blank=True, help_text="Digest.")
    server_log = models.CharField(max_length=64, blank=True, help_text="Digest.")
    install_seconds = models.FloatField(default=0)
    build_seconds = models.FloatField(default=0)
    start_seconds = models.FloatField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["round", "pk"]

    def __str__(self) -> str:
        return f"Deployment {self.pk}"


class ContainmentRow(models.Model):
    """What was seen when the commands of one use ended, in one stage of a round: the containment report."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="containments")
    stage = models.CharField(max_length=16, choices=_choices(StageName))
    use = models.CharField(max_length=16, choices=_choices(ContainedUse))
    level = models.CharField(max_length=16, choices=_choices(SandboxLevel))
    processes_left = models.PositiveIntegerField(default=0)
    ports_left = models.JSONField(default=list, blank=True)
    files_left = models.JSONField(default=list, blank=True, help_text="Outside the workspace.")
    seconds_to_end = models.FloatField(default=0, help_text="The longest that an end took.")
    limits_hit = models.JSONField(
        default=list, blank=True, help_text='[{"kind": ..., "limit": ..., "seen": ...}]'
    )

    class Meta:
        ordering = ["round", "pk"]
        verbose_name = "containment report"
        constraints = [
            models.UniqueConstraint(fields=["round", "stage", "use", "level"], name="containment_once_a_use")
        ]

    def __str__(self) -> str:
        return f"{self.use} in {self.stage} under {self.level}"


class Judging(models.Model):
    """One judge's pass over one round; re-judging adds another one and replaces nothing."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="judgings")
    judge = models.CharField(max_length=64)
    judge_version = models.CharField(max_length=32, blank=True)
    settings = models.JSONField(default=dict, blank=True)
    settings_hash = models.CharField(max_length=64)
    vote = models.PositiveSmallIntegerField(default=1)
    is_primary = models.BooleanField(default=False)
    set_aside = models.JSONField(
        default=list, blank=True, help_text="Errors that a retry took out, oldest first."
    )
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["round", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["round", "judge", "settings_hash", "vote"], name="judging_once_a_vote"
            ),
            models.UniqueConstraint(
                fields=["round"], condition=Q(is_primary=True), name="judging_primary_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge}, vote {self.vote}"


class Verdict(models.Model):
    """A machine's mark on one expected outcome, with its rationale."""

    judging = models.ForeignKey(Judging, on_delete=models.CASCADE, related_name="verdicts")
    outcome = models.ForeignKey(ExpectedOutcome, on_delete=models.PROTECT, related_name="verdicts")
    role = models.CharField(max_length=16, choices=_choices(Role), default=Role.PRIMARY)
    mark = models.CharField(max_length=8, choices=_choices(Mark))
    reason = models.CharField(
        max_length=64, blank=True, help_text="Machine word: no_script, parent, needs:<key>, ..."
    )
    rationale = models.TextField(blank=True)
    raw = models.TextField(blank=True, help_text="The text that the mark was read from.")
    parser = models.CharField(max_length=32, blank=True)
    seconds = models.FloatField(default=0)
    attempt = models.PositiveSmallIntegerField(default=1)
    earlier = models.JSONField(
        default=list, blank=True, help_text="Errors that a retry replaced, oldest first."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["judging", "outcome__criterion__position", "outcome__index"]
        constraints = [
            models.UniqueConstraint(fields=["judging", "outcome", "role"], name="verdict_once_a_role")
        ]

    def __str__(self) -> str:
        return f"{self.mark} on {self.outcome_id}"


class Evidence(models.Model):
    """What a verdict was made from: a screenshot, a log, a trace."""

    verdict = models.ForeignKey(Verdict, on_delete=models.CASCADE, related_name="evidence")
    kind = models.CharField(max_length=16, choices=_choices(EvidenceKind))
    name = models.CharField(max_length=120)
    media_type = models.CharField(max_length=80)
    digest = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["verdict", "position"]
        verbose_name_plural = "evidence"
        constraints = [models.UniqueConstraint(fields=["verdict", "position"], name="evidence_place_once")]

    def __str__(self) -> str:
        return self.name


class TrajectoryEvent(models.Model):
    """One event of a code agent at work in a round, in order of arrival."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="events")
    position = models.PositiveIntegerField()
    at = models.DateTimeField()
    kind = models.CharField(max_length=16, choices=_choices(EventKind))
    text = models.TextField(blank=True)
    data = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["round", "position"]
        constraints = [models.UniqueConstraint(fields=["round", "position"], name="event_place_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.position}"


class MetricValue(models.Model):
    """One stored number of a run: for the run, a task or a round, raw and undefined ones too."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="metric_values")
    name = models.CharField(max_length=64)
    task_key = models.CharField(max_length=64, blank=True, help_text="Empty: over all tasks.")
    round_number = models.PositiveSmallIntegerField(
        default=0, help_text="0: the protocol's headline figure, not one round's."
    )
    value = models.FloatField(null=True, blank=True)
    half_width = models.FloatField(null=True, blank=True)
    n = models.PositiveIntegerField(default=0)
    denominator = models.FloatField(null=True, blank=True)
    reason = models.CharField(max_length=300, blank=True)
    computed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["run", "round_number", "name"]
        constraints = [
            models.UniqueConstraint(fields=["run", "name", "task_key", "round_number"], name="metric_once")
        ]

    def __str__(self) -> str:
        return self.name


class RunEventKind(StrEnum):
    """What an event of a run tells."""

    RUN = "run"
    TRIAL = "trial"
    ROUND = "round"
    STAGE = "stage"
    BEGIN = "begin"
    VERDICT = "verdict"
    TROUBLE = "trouble"


class RunEvent(models.Model):
    """What a live page shows as it happens; its primary key is the cursor a page catches up by."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="run_events")
    trial = models.ForeignKey(Trial, null=True, blank=True, on_delete=models.CASCADE)
    round_number = models.PositiveSmallIntegerField(null=True, blank=True)
    kind = models.CharField(max_length=24, help_text="verdict, stage, trial, run, trouble")
    criterion = models.CharField(max_length=64, blank=True)
    mark = models.CharField(max_length=8, blank=True, choices=_choices(Mark))
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["run", "-id"], name="run_event_cursor")]

    def __str__(self) -> str:
        return self.text


def _not_cancelled(run_id: int) -> models.QuerySet[Run]:
    # Not a join: Django would put the whole condition into `id IN (SELECT ...)`, which PostgreSQL
    # does not look at again after it waited for another worker's update, so that both would win.
    # Of this run alone: a list of all that were not cancelled would grow with every run.
    return Run.objects.filter(pk=run_id, cancelled_at=None)


def level_of_trial(trial_id: int) -> SandboxLevel:
    """The level of isolation that a trial's run was launched with; the strictest where there is no such trial."""
    level = Trial.objects.filter(pk=trial_id).values_list("run__sandbox", flat=True).first()
    return SandboxLevel.BUBBLEWRAP if level is None else SandboxLevel(level)


def lock_trials(run: Run) -> None:
    """Lock a run's trials, and before the run: stages lock in this order too, so none waits in a ring."""
    trials = Trial.objects.select_for_update(no_key=True).filter(run=run).order_by("pk")
    list(trials.values_list("pk", flat=True))


def cancel(run: Run, *, now: datetime) -> bool:
    """Ask every worker of a run to stop; what is recorded stays. False if it was over already."""
    with transaction.atomic():
        lock_trials(run)
        asked = Run.objects.filter(pk=run.pk, state__in=UNFINISHED_RUNS, cancelled_at=None).update(
            cancelled_at=now, state=RunState.CANCELLED, finished_at=now
        )
        if asked:
            Trial.objects.filter(run=run, state__in=[*OPEN_TRIALS, TrialState.PAUSED]).update(
                state=TrialState.CANCELLED, finished_at=now
            )
    return asked == 1
