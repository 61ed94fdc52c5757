"""Read what was kept of one round: verdicts with evidence of one criterion, deployments, events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from benchmark import blobs
from benchmark.display import Look, counted, duration
from benchmark.models import ExpectedOutcome
from benchmark.rules.vocabulary import Mark
from runs.models import Deployment, Evidence, Round, TrajectoryEvent, Verdict
from runs.pages.evidence import OutcomeEvidence, outcome_evidence
from runs.ports import EventKind

LOG_SHOWN = 12_000
LINES_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedOutcome:
    """One expected outcome with what a judge said of it and kept; nothing of it before it is judged."""

    outcome: ExpectedOutcome
    verdict: Verdict | None
    evidence: OutcomeEvidence | None

    @property
    def number(self) -> int:
        return self.outcome.index + 1

    @property
    def look(self) -> Look:
        return Look(self.verdict.mark) if self.verdict else Look.WAITING

    @property
    def earlier(self) -> str:
        """How many errors a retry has replaced."""
        errors = self.verdict.earlier if self.verdict else []
        return counted(len(errors), "earlier error") if errors else ""


def outcomes_of(round_: Round, *, task_id: int, criterion: str) -> list[JudgedOutcome]:
    """The outcomes of one criterion with verdicts and evidence: three queries, whatever the rubric."""
    expected = ExpectedOutcome.objects.filter(criterion__task=task_id, criterion__key=criterion).order_by(
        "index"
    )
    verdicts: dict[int, Verdict] = {}
    # A later verdict on the same outcome is the refuter's, and final.
    for verdict in Verdict.objects.filter(
        judging__round=round_, judging__is_primary=True, outcome__in=expected
    ).order_by("pk"):
        verdicts[verdict.outcome_id] = verdict
    pieces: dict[int, list[Evidence]] = defaultdict(list)
    for piece in Evidence.objects.filter(verdict__in=verdicts.values()).order_by("position"):
        pieces[piece.verdict_id].append(piece)
    judged = []
    for outcome in expected:
        said = verdicts.get(outcome.pk)
        evidence = None if said is None else outcome_evidence(pieces[said.pk])
        judged.append(JudgedOutcome(outcome=outcome, verdict=said, evidence=evidence))
    return judged


def reasons_of(round_: Round) -> dict[str, str]:
    """Criterion key → why it was skipped or could not be judged, one query for the round."""
    rows = Verdict.objects.filter(
        judging__round=round_, judging__is_primary=True, mark__in=[Mark.SKIPPED, Mark.ERROR]
    ).order_by("-outcome__index")
    return dict(rows.values_list("outcome__criterion__key", "rationale"))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentLog:
    """The end of a log, enough to see what happened."""

    which: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDeployment:
    """One attempt to build and start the candidate."""

    deployment: Deployment
    times: str
    logs: tuple[DeploymentLog, ...]


def deployments_of(round_: Round) -> list[ShownDeployment]:
    """The newest attempts of a round."""
    return [
        ShownDeployment(
            deployment=deployment,
            times=_times(deployment),
            logs=tuple(
                DeploymentLog(which=which, title=f"{which.capitalize()} log", text=_tail(digest))
                for which, digest in (("build", deployment.build_log), ("server", deployment.server_log))
                if digest
            ),
        )
        for deployment in Deployment.objects.filter(round=round_).order_by("-pk")[:3]
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One event of a transcript; a long text shows its head, the rest is folded."""

    event: TrajectoryEvent
    kind: str
    head: str
    rest: str
    more: str
    is_folded: bool
    is_error: bool


def turns_of(events: Iterable[TrajectoryEvent]) -> list[Turn]:
    """Events as a transcript shows them."""
    return [_turn(event) for event in events]


def _turn(event: TrajectoryEvent) -> Turn:
    lines = event.text.splitlines()
    rest = lines[LINES_SHOWN:]
    return Turn(
        event=event,
        kind=event.get_kind_display().capitalize(),
        head="\n".join(lines[:LINES_SHOWN]),
        rest="\n".join(rest),
        more=counted(len(rest), "more line") if rest else "",
        is_folded=event.kind == EventKind.REASONING,
        is_error=event.kind == EventKind.ERROR,
    )


def _times(deployment: Deployment) -> str:
    spent = (
        ("install", deployment.install_seconds),
        ("build", deployment.build_seconds),
        ("start", deployment.start_seconds),
    )
    return ", ".join(f"{word} {duration(seconds)}" for word, seconds in spent if seconds)


def _tail(digest: str) -> str:
    try:
        text = blobs.read_blob(digest, at_most=400_000).decode("utf-8", "replace")
    except blobs.BlobMissing as missing:
        return str(missing)
    return text if len(text) <= LOG_SHOWN else "… the beginning is in the file\n" + text[-LOG_SHOWN:]
