"""Have every reachable criterion judged in dependency order, saving after each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from shutil import rmtree

from django.db import transaction
from django.utils import timezone

from benchmark.display import listed
from benchmark.packs.specs import FileRole
from benchmark.rules.marks import Reach, criterion_mark, passed_share, reachability
from benchmark.rules.records import CriterionSpec
from benchmark.rules.vocabulary import Mark, Mode, StageName
from benchmark.taskfiles import put_files
from runs import judgings
from runs.context import ClaimLost, StageContext
from runs.errors import StageError
from runs.models import Judging, RunEventKind
from runs.ports import (
    CandidateBroken,
    CriterionVerdict,
    DeploymentReport,
    EvidenceFile,
    EvidenceKind,
    Judge,
    JudgeSession,
    OutcomeVerdict,
    RunningApp,
)


def run(context: StageContext) -> None:
    """Judge what is missing in this round; a repeated stage asks nothing twice."""
    judge = context.toolbox.judge(context.run.judge, context.run.judge_settings)
    judging = judgings.primary_judging(context.round, judge)
    with ExitStack() as stack:
        _Pass(context, judge, judging, stack).judge_all()
    Judging.objects.filter(pk=judging.pk).update(finished_at=timezone.now())
    context.stand.clear()
    rmtree(context.toolbox.scratch / f"round-{context.round.pk}", ignore_errors=True)


class _Pass:
    """One pass over one round: what is judged so far decides what is reached next."""

    def __init__(self, context: StageContext, judge: Judge, judging: Judging, stack: ExitStack) -> None:
        self._context = context
        self._judge = judge
        self._judging = judging
        self._stack = stack
        self._session: JudgeSession | None = None
        self._app: RunningApp | None = None
        self._broken: DeploymentReport | None = None
        self._criteria = context.record.task.criteria
        self._by_key = {criterion.key: criterion for criterion in self._criteria}
        # A protocol without these settings never lets one criterion hide another.
        self._threshold = float(context.run.settings.get("threshold", 1.0))
        self._mode = Mode(context.run.settings.get("mode", Mode.FLAT))
        self._ids = judgings.outcome_ids(context.trial.task_id)
        self._marks = judgings.saved_marks(judging)

    def judge_all(self) -> None:
        while True:
            reaches = self._reaches()
            open_ = [key for key in reaches if self._is_open(key)]
            if not open_:
                return
            unreached = [
                self._unreached(key, reaches)
                for key in open_
                if reaches[key] in (Reach.BEHIND_UNSATISFIED, Reach.BEHIND_ERROR)
            ]
            self._save(unreached)
            reached = [self._by_key[key] for key in open_ if reaches[key] is Reach.REACHED]
            for verdict in self._verdicts_on(reached):
                self._save([verdict])
            if self._context.claim.is_lost():
                raise ClaimLost("The run was cancelled while it was judged.")

    def _reaches(self) -> Mapping[str, Reach]:
        return reachability(
            self._criteria,
            {key: self._ordered(key) for key in self._marks if not self._is_open(key)},
            threshold=self._threshold,
            mode=self._mode,
        )

    def _is_open(self, key: str) -> bool:
        return len(self._marks.get(key, {})) < len(self._ids[key])

    def _ordered(self, key: str) -> tuple[Mark, ...]:
        return tuple(mark for _, mark in sorted(self._marks[key].items()))

    def _verdicts_on(self, criteria: Sequence[CriterionSpec]) -> Iterator[CriterionVerdict]:
        """Judge criteria side by side; those that a dying candidate may have spoilt, once more alone.

        One criterion may make the candidate end. What was judged beside it and did not pass then says
        nothing certain, and would depend on chance: each such criterion gets a candidate that lives.
        Raises StageError where the machine ended it then: no mark may rest on that.
        """
        spoilt: list[CriterionSpec] = []
        for verdict in self._given(criteria):
            if _has_passed(verdict) or self._candidate_lives():
                yield verdict
            else:
                spoilt.append(self._by_key[verdict.key])
        for criterion in spoilt:
            for verdict in self._given([criterion]):
                if not _has_passed(verdict) and self._app and (fault := self._app.machines_fault()):
                    raise StageError(fault)
                yield verdict

    def _given(self, criteria: Sequence[CriterionSpec]) -> Iterator[CriterionVerdict]:
        if not criteria:
            return
        session = self._open_session()
        if session is not None:
            yield from session.judge(criteria, on_start=self._say_begun)
            return
        assert self._broken is not None
        for criterion in criteria:
            yield _of_broken_candidate(criterion, self._broken)

    def _candidate_lives(self) -> bool:
        return self._app is None or self._app.is_alive()

    def _open_session(self) -> JudgeSession | None:
        """The judge at the running candidate, started again if it ended; None where it does not run."""
        if self._broken is not None or (self._session is not None and self._candidate_lives()):
            return self._session
        self._stack.close()
        self._session = self._app = None
        context = self._context
        try:
            app = context.stand.app(context.round, deploy=context.record.task.deploy, stage=StageName.JUDGE)
        except CandidateBroken as broken:
            self._broken = broken.report
            return None
        self._app = app
        # The folder that holds `uploads/`, as scripts name the files in it.
        folder = context.toolbox.scratch / f"round-{context.round.pk}" / "judge"
        has_uploads = put_files(context.trial.task, FileRole.UPLOADS, folder / FileRole.UPLOADS)
        self._session = self._stack.enter_context(
            self._judge.session(
                app,
                uploads=folder if has_uploads else None,
                is_cancelled=context.claim.is_lost,
            )
        )
        return self._session

    def _say_begun(self, key: str) -> None:
        self._context.say(RunEventKind.BEGIN, f"{_named(self._by_key[key])} is being judged.", criterion=key)

    def _unreached(self, key: str, reaches: Mapping[str, Reach]) -> CriterionVerdict:
        """The verdict on a criterion that is not judged, naming the prerequisites in its way."""
        criterion = self._by_key[key]
        in_the_way = [need for need in criterion.needs if self._is_in_the_way(need, reaches, reaches[key])]
        names = listed(in_the_way, most=len(in_the_way))
        if reaches[key] is Reach.BEHIND_ERROR:
            return _same_for_all(
                criterion,
                mark=Mark.ERROR,
                reason=judgings.PARENT,
                rationale=f"Not judged, because {names} could not be judged.",
            )
        return _same_for_all(
            criterion,
            mark=Mark.SKIPPED,
            reason=f"needs:{in_the_way[0]}"[:64],
            rationale=f"Skipped, because {names} {'is' if len(in_the_way) == 1 else 'are'} not satisfied.",
        )

    def _is_in_the_way(self, need: str, reaches: Mapping[str, Reach], reach: Reach) -> bool:
        if reaches[need] is not Reach.REACHED:
            return reaches[need] is reach
        if need not in self._marks:
            return False
        is_error = criterion_mark(self._ordered(need)) is Mark.ERROR
        if reach is Reach.BEHIND_ERROR:
            return is_error
        passed = passed_share(self._ordered(need))
        return not is_error and passed < self._threshold

    def _save(self, verdicts: Sequence[CriterionVerdict]) -> None:
        """Save verdicts and their events at once: a crash loses one criterion at most."""
        if not verdicts:
            return
        stored = [judgings.store_evidence(verdict) for verdict in verdicts]
        with transaction.atomic():
            self._context.claim.check()
            for verdict, evidence in zip(verdicts, stored, strict=True):
                known = self._marks.get(verdict.key, {})
                judgings.save_verdict(
                    self._judging,
                    # A retry judges a criterion whole, but only fills in what was error.
                    [outcome for outcome in verdict.outcomes if outcome.index not in known],
                    ids=self._ids[verdict.key],
                    evidence=evidence,
                )
                self._say_marked(verdict)
        for verdict in verdicts:
            marks = self._marks.setdefault(verdict.key, {})
            for outcome in verdict.outcomes:
                marks.setdefault(outcome.index, outcome.mark)

    def _say_marked(self, verdict: CriterionVerdict) -> None:
        marks = [outcome.mark for outcome in verdict.outcomes]
        mark = criterion_mark(marks)
        shown = next((o for o in verdict.outcomes if o.mark is mark), verdict.outcomes[0])
        detail = (
            f"{marks.count(Mark.PASS)} of {len(marks)} outcomes." if mark is Mark.PASS else shown.rationale
        )
        self._context.say(
            RunEventKind.VERDICT,
            f"{_named(self._by_key[verdict.key])}: {mark.value}. {detail}",
            criterion=verdict.key,
            mark=mark,
        )


def _has_passed(verdict: CriterionVerdict) -> bool:
    return all(outcome.mark is Mark.PASS for outcome in verdict.outcomes)


def _of_broken_candidate(criterion: CriterionSpec, report: DeploymentReport) -> CriterionVerdict:
    log = "\n\n".join(
        f"== {title} ==\n{text}"
        for title, text in (("build", report.build_log), ("server", report.server_log))
        if text
    )
    evidence = (
        EvidenceFile(
            kind=EvidenceKind.LOG,
            name="candidate.log",
            media_type="text/plain",
            content=log.encode("utf-8", "replace"),
        ),
    )
    return _same_for_all(
        criterion,
        mark=Mark.FAIL,
        reason="candidate_broken",
        rationale=f"The application did not start: {report.reason}",
        evidence=evidence if log else (),
    )


def _same_for_all(
    criterion: CriterionSpec,
    *,
    mark: Mark,
    reason: str,
    rationale: str,
    evidence: tuple[EvidenceFile, ...] = (),
) -> CriterionVerdict:
    return CriterionVerdict(
        key=criterion.key,
        outcomes=tuple(
            OutcomeVerdict(index=index, mark=mark, reason=reason, rationale=rationale, evidence=evidence)
            for index in range(len(criterion.outcomes))
        ),
    )


def _named(criterion: CriterionSpec) -> str:
    return f"{criterion.key} {criterion.title}".strip()
