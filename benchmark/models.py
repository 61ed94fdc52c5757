"""Tables of what is measured: benchmarks, their tasks, rubrics and recorded candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models
from django.urls import reverse

from benchmark.rules.records import CriterionSpec, OutcomeSpec, TaskSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

FILE_ROLES = [
    ("data", "simulated data, copied into the workspace as data/"),
    ("attachments", "attachments, given to the code agent as attachments/"),
    ("uploads", "hidden files that the judge uploads"),
]


class Benchmark(models.Model):
    """A versioned set of tasks under one protocol; `content_hash` covers all that is measured."""

    key = models.CharField(max_length=64)
    version = models.CharField(max_length=32)
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    protocol = models.CharField(max_length=32)
    licence = models.CharField(max_length=200, blank=True)
    source = models.CharField(max_length=200, blank=True, help_text="Format it was read from.")
    settings = models.JSONField(default=dict, blank=True, help_text="Defaults for its runs.")
    repairs = models.JSONField(
        default=list, blank=True, help_text="What the reader of a published set had to mend."
    )
    content_hash = models.CharField(max_length=64)
    imported_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["key", "-imported_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["key", "version"], name="benchmark_version_once")]

    def __str__(self) -> str:
        return f"{self.key} v{self.version}"

    def get_absolute_url(self) -> str:
        return reverse("benchmark:benchmark", args=[self.pk])

    @property
    def short_hash(self) -> str:
        return self.content_hash[:8]

    @property
    def is_in_use(self) -> bool:
        """Whether a run rests on it: from then on it is never changed in place."""
        # `runs` points here with a related name; this layer does not import it.
        return bool(self.runs.exists())


class Task(models.Model):
    """One application to build or change; never changed in place once a run used it."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="tasks")
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=64)
    title = models.CharField(max_length=300)
    request = models.TextField(help_text="All the text that the code agent sees in round 1.")
    prd = models.TextField("clarified requirements", blank=True, help_text="Hidden from the code agent.")
    deploy = models.JSONField(default=dict, blank=True)
    facts = models.JSONField(default=dict, blank=True)
    content_hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["benchmark", "position"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "key"], name="task_key_once_a_benchmark"),
        ]

    def __str__(self) -> str:
        return self.key

    def get_absolute_url(self) -> str:
        return reverse("benchmark:task", args=[self.benchmark_id, self.key])

    def spec(self) -> TaskSpec:
        """This task as a plain value (three queries, whatever the size of the rubric)."""
        criteria = self.criteria.prefetch_related("outcomes", "prerequisites__needs")
        return TaskSpec(
            key=self.key,
            title=self.title,
            request=self.request,
            prd=self.prd,
            criteria=tuple(criterion.spec() for criterion in criteria),
            deploy=self.deploy,
            facts=self.facts,
        )


class Criterion(models.Model):
    """One hidden check of a task: kind, weight 1..5, prerequisites and expected outcomes."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="criteria")
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=64)
    title = models.CharField(max_length=1000, blank=True)
    kind = models.CharField(max_length=32)
    weight = models.PositiveSmallIntegerField(default=1)
    before = models.JSONField(
        default=list, blank=True, help_text="Steps that the judge takes before each outcome."
    )
    tags = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["task", "position"]
        verbose_name_plural = "criteria"
        constraints = [
            models.UniqueConstraint(fields=["task", "key"], name="criterion_key_once_a_task"),
            models.CheckConstraint(
                condition=models.Q(weight__gte=1, weight__lte=5), name="criterion_weight_1_to_5"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.title}".strip()

    def spec(self) -> CriterionSpec:
        """This criterion as a plain value; expects outcomes and prerequisites prefetched."""
        return CriterionSpec(
            key=self.key,
            title=self.title,
            kind=self.kind,
            weight=self.weight,
            needs=tuple(need.needs.key for need in self.prerequisites.all()),
            outcomes=tuple(outcome.spec() for outcome in self.outcomes.all()),
            before=tuple(self.before),
            tags=tuple(self.tags),
        )


class Prerequisite(models.Model):
    """An edge of the rubric's graph: `criterion` is judged only where `needs` is satisfied."""

    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="prerequisites")
    needs = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="dependants")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["criterion", "needs"], name="prerequisite_once"),
            models.CheckConstraint(
                condition=~models.Q(criterion=models.F("needs")), name="prerequisite_not_itself"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.criterion.key} needs {self.needs.key}"


class ExpectedOutcome(models.Model):
    """The smallest thing that is marked; `script` is what the scripted judge plays, or nothing."""

    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="outcomes")
    index = models.PositiveIntegerField(help_text="0-based place within the criterion.")
    text = models.TextField()
    script = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["criterion", "index"]
        constraints = [
            models.UniqueConstraint(fields=["criterion", "index"], name="outcome_index_once_a_criterion")
        ]

    def __str__(self) -> str:
        return f"{self.criterion.key}.{self.index}"

    def spec(self) -> OutcomeSpec:
        return OutcomeSpec(text=self.text, script=None if self.script is None else tuple(self.script))


class TaskFile(models.Model):
    """A file that belongs to a task: simulated data, an attachment, or the judge's upload."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="files")
    role = models.CharField(max_length=16, choices=FILE_ROLES)
    path = models.CharField(max_length=400)
    digest = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()

    class Meta:
        ordering = ["task", "role", "path"]
        constraints = [models.UniqueConstraint(fields=["task", "role", "path"], name="task_file_once")]

    def __str__(self) -> str:
        return f"{self.role}/{self.path}"


class RecordedWorkspace(models.Model):
    """A candidate recorded in a pack: the files as they were at the end of one round."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="recorded_workspaces")
    candidate = models.CharField(max_length=64)
    round_number = models.PositiveSmallIntegerField()
    snapshot = models.CharField(max_length=64, help_text="Digest of the manifest.")

    class Meta:
        ordering = ["task", "candidate", "round_number"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "candidate", "round_number"], name="recorded_workspace_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.candidate}, {self.task.key}, round {self.round_number}"


def candidates_of(benchmark: Benchmark) -> list[str]:
    """Names of the recorded candidates of a benchmark, sorted."""
    names: Iterable[Any] = (
        RecordedWorkspace.objects.filter(task__benchmark=benchmark)
        .order_by("candidate")
        .values_list("candidate", flat=True)
        .distinct()
    )
    return list(names)
