"""The page of one trial: its rounds, what changed between them, the code, the transcript, the graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from benchmark.display import Look, counted, duration, mark_of_outcomes
from benchmark.rules.marks import passed_share
from benchmark.rules.vocabulary import Mark, RoundState, StageName
from runs.history import marks_by_round
from runs.models import Round, StageRecord, TrajectoryEvent, Trial
from runs.pages.comparison import chosen_pair, comparison_of, judged_rounds, pairs_of_rounds
from runs.pages.criterion_graph import CriterionGraph, GraphCriterion, graph_of
from runs.pages.diffs import workspace_diff
from runs.pages.round_containment import containment_of
from runs.pages.round_evidence import deployments_of, outcomes_of, reasons_of, turns_of
from runs.pages.run_rows import OutlinedCriterion, outline_of
from runs.pages.timeline import StageSpan, TimelineRound, stage_bars
from runs.views.preview import preview_pane
from runs.visibility import require_visible

CRITERIA_A_PAGE = 150
EVENTS_A_PAGE = 100
GRAPH_WIDTH = 1080
_COUNTED = (Look.PASS, Look.PARTIAL, Look.FAIL)


class View(StrEnum):
    """The views of a trial, one address each."""

    ROUNDS = "rounds"
    COMPARE = "compare"
    CODE = "code"
    TRANSCRIPT = "transcript"
    GRAPH = "graph"
    PREVIEW = "preview"


@require_safe
def trial(request: HttpRequest, run_id: int, trial_id: int) -> HttpResponse:
    """Show one view of a trial; `round`, `criterion` and the like are in the address."""
    require_visible(request.user, run_id)
    shown = get_object_or_404(Trial.objects.select_related("run__benchmark", "task"), pk=trial_id, run=run_id)
    try:
        view = View(request.GET.get("view", View.ROUNDS))
    except ValueError:
        raise Http404(f"There is no view {request.GET['view']!r} of a trial.") from None
    page = _TrialPage(request, shown, view)
    part = request.GET.get("part", "")
    parts = {"preview": "preview_frame", "panel": "panel"}
    template = "runs/trial.html" + (f"#{parts[part]}" if part in parts else "")
    return render(request, template, page.context())


class _TrialPage:
    """Reads what one view needs, and no more: evidence of one criterion at a time."""

    def __init__(self, request: HttpRequest, shown: Trial, view: View) -> None:
        self._request = request
        self._trial = shown
        self._view = view
        self._rounds = list(Round.objects.filter(trial=shown).order_by("number"))
        self._outline = outline_of(shown.task_id)
        self._marks: Mapping[int, Mapping[str, tuple[Mark, ...]]] = marks_by_round(shown)
        self._threshold = float(shown.run.settings.get("threshold", 1.0))
        self._round = self._chosen_round("round", default=self._rounds[-1] if self._rounds else None)

    def context(self) -> dict[str, Any]:
        shown = {
            "area": "runs",
            "run": self._trial.run,
            "trial": self._trial,
            "task": self._trial.task,
            "round": self._round,
            "view": self._view.value,
            "views": self._views(),
            "timeline": self._timeline(),
            "summary": self._summary(),
        }
        if self._round is None:
            return shown
        chosen = {
            View.ROUNDS: self._rounds_view,
            View.COMPARE: self._compare_view,
            View.CODE: self._code_view,
            View.TRANSCRIPT: self._transcript_view,
            View.GRAPH: self._graph_view,
            View.PREVIEW: self._preview_view,
        }
        return shown | chosen[self._view]()

    def _views(self) -> list[dict[str, Any]]:
        number = self._round.number if self._round else 1
        return [
            {
                "label": view.value.capitalize(),
                "query": self._query(view=view, round=number),
                "is_current": view is self._view,
            }
            for view in View
            if view is not View.PREVIEW
        ]

    def _timeline(self) -> list[TimelineRound]:
        spans: dict[int, list[StageSpan]] = defaultdict(list)
        records = StageRecord.objects.filter(round__trial=self._trial).order_by("started_at", "pk")
        for record in records:
            spans[record.round_id].append(
                StageSpan(
                    stage=StageName(record.stage),
                    started_at=record.started_at,
                    finished_at=record.finished_at,
                )
            )
        now = timezone.now()
        total = sum(criterion.weight for criterion in self._outline)
        # A round's block keeps the view, except from a comparison, which is of two rounds.
        place = View.ROUNDS if self._view is View.COMPARE else self._view
        blocks = []
        for round_ in self._rounds:
            marks = self._marks.get(round_.number, {})
            passed = sum(c.weight for c in self._outline if set(marks.get(c.key, ())) == {Mark.PASS})
            spent = (round_.closed_at or now) - round_.opened_at
            if spans[round_.pk]:
                begun = spans[round_.pk][0].started_at
                spent = max((each.finished_at or now) for each in spans[round_.pk]) - begun
            blocks.append(
                TimelineRound(
                    number=round_.number,
                    looks=tuple(mark_of_outcomes(marks.get(c.key, ())) for c in self._outline[:60]),
                    rate=f"{100 * passed / total:.0f}%" if total and marks else "",
                    time=duration(spent.total_seconds()),
                    bars=stage_bars(spans[round_.pk], now=now),
                    is_current=self._round is not None and round_.pk == self._round.pk,
                    href=self._query(view=place, round=round_.number),
                )
            )
        return blocks

    def _summary(self) -> list[str]:
        parts = [counted(len(self._rounds), "round")] if self._rounds else ["no round yet"]
        if self._trial.started_at:
            end = self._trial.finished_at or timezone.now()
            parts.append(duration((end - self._trial.started_at).total_seconds()))
        if self._trial.run.repeats > 1:
            parts.append(f"repeat {self._trial.repeat}")
        return parts

    def _rounds_view(self) -> dict[str, Any]:
        assert self._round is not None
        marks = self._marks.get(self._round.number, {})
        criterion = self._chosen_criterion(marks)
        place = self._outline.index(criterion) if criterion else 0
        page = Paginator(self._outline, CRITERIA_A_PAGE).get_page(
            self._request.GET.get("page") or place // CRITERIA_A_PAGE + 1
        )
        reasons = reasons_of(self._round)
        previous = self._marks.get(self._round.number - 1, {})
        return {
            "page": page,
            "criteria": [self._row(each, marks, reasons, previous, criterion) for each in page.object_list],
            "panel": self._panel(self._round, criterion, marks) if criterion else None,
            "deployments": deployments_of(self._round),
            "containment": containment_of(self._round),
            "exit_words": self._round.exit_reason.replace("_", " "),
            "is_open": self._round.state == RoundState.OPEN,
        }

    def _row(
        self,
        criterion: OutlinedCriterion,
        marks: Mapping[str, tuple[Mark, ...]],
        reasons: Mapping[str, str],
        previous: Mapping[str, tuple[Mark, ...]],
        current: OutlinedCriterion | None,
    ) -> dict[str, Any]:
        given = marks.get(criterion.key, ())
        look = mark_of_outcomes(given)
        was = mark_of_outcomes(previous.get(criterion.key, ()))
        assert self._round is not None
        return {
            "criterion": criterion,
            "label": criterion.title or criterion.key,
            "look": look,
            "passed": f"{given.count(Mark.PASS)} / {len(given)}" if given and look in _COUNTED else "",
            "note": self._note(given, look, reasons.get(criterion.key, "")),
            "was": was if was is not look and was is not Look.WAITING else None,
            "is_current": criterion is current,
            "query": self._query(view=View.ROUNDS, round=self._round.number, criterion=criterion.key),
        }

    def _note(self, given: Sequence[Mark], look: Look, reason: str) -> str:
        if look in (Look.SKIPPED, Look.ERROR):
            return reason
        if look is Look.PARTIAL:
            is_enough = passed_share(given) >= self._threshold
            return f"{'satisfied' if is_enough else 'not satisfied'} at {self._threshold:g}"
        return ""

    def _chosen_criterion(self, marks: Mapping[str, tuple[Mark, ...]]) -> OutlinedCriterion | None:
        wanted = self._request.GET.get("criterion")
        by_key = {criterion.key: criterion for criterion in self._outline}
        if wanted in by_key:
            return by_key[wanted]
        looks = {key: mark_of_outcomes(given) for key, given in marks.items()}
        for look in (Look.FAIL, Look.PARTIAL, Look.ERROR):
            for criterion in self._outline:
                if looks.get(criterion.key) is look:
                    return criterion
        return next(iter(self._outline), None)

    def _panel(
        self, round_: Round, criterion: OutlinedCriterion, marks: Mapping[str, tuple[Mark, ...]]
    ) -> dict[str, Any]:
        return {
            "criterion": criterion,
            "label": criterion.title or criterion.key,
            "look": mark_of_outcomes(marks.get(criterion.key, ())),
            "needs": self._needs(criterion),
            "outcomes": outcomes_of(round_, task_id=self._trial.task_id, criterion=criterion.key),
        }

    def _needs(self, criterion: OutlinedCriterion) -> list[dict[str, str]]:
        titles = {each.key: each.title for each in self._outline}
        assert self._round is not None
        return [
            {
                "key": key,
                "label": titles.get(key) or key,
                "query": self._query(view=View.ROUNDS, round=self._round.number, criterion=key),
            }
            for key in criterion.needs
        ]

    def _compare_view(self) -> dict[str, Any]:
        judged = judged_rounds(self._rounds, self._marks)
        pair = chosen_pair(
            judged,
            first=self._chosen_round("first", default=None),
            second=self._chosen_round("second", default=None),
            current=self._round,
        )
        if pair is None or not self._outline:
            return {"comparison": None}
        first, second = pair
        return {
            "comparison": comparison_of(
                first,
                second,
                marks=self._marks,
                outline=self._outline,
                task_id=self._trial.task_id,
                wanted=self._request.GET.get("criterion", ""),
            ),
            "base": self._query(view=View.COMPARE, first=first.number, second=second.number),
            "compared": [
                {
                    "first": one,
                    "second": other,
                    "query": self._query(view=View.COMPARE, first=one, second=other),
                    "is_current": (one, other) == (first.number, second.number),
                }
                for one, other in pairs_of_rounds(judged)
            ],
        }

    def _code_view(self) -> dict[str, Any]:
        assert self._round is not None
        before = next((r for r in self._rounds if r.number == self._round.number - 1), None)
        return {
            "before": before,
            "diff": workspace_diff(before.snapshot if before else "", self._round.snapshot)
            if self._round.snapshot
            else None,
        }

    def _transcript_view(self) -> dict[str, Any]:
        events = TrajectoryEvent.objects.filter(round=self._round).order_by("position")
        page = Paginator(events, EVENTS_A_PAGE).get_page(self._request.GET.get("page"))
        return {"page": page, "events": turns_of(page.object_list)}

    def _graph_view(self) -> dict[str, Any]:
        assert self._round is not None
        graph: CriterionGraph = graph_of(
            [
                GraphCriterion(
                    key=criterion.key,
                    title=criterion.title,
                    needs=criterion.needs,
                    look=mark_of_outcomes(self._marks.get(self._round.number, {}).get(criterion.key, ())),
                    href=self._query(view=View.ROUNDS, round=self._round.number, criterion=criterion.key),
                )
                for criterion in self._outline
            ],
            width=GRAPH_WIDTH,
            current=self._request.GET.get("criterion", ""),
        )
        return {"graph": graph}

    def _preview_view(self) -> dict[str, Any]:
        assert self._round is not None
        pane = preview_pane(self._request, self._round)
        query = self._query(view=View.PREVIEW, round=self._round.number)
        return {"pane": pane, "pane_query": f"{query}&preview={pane.host_key}" if pane.host_key else query}

    def _chosen_round(self, name: str, *, default: Round | None) -> Round | None:
        wanted = self._request.GET.get(name, "")
        return next((round_ for round_ in self._rounds if str(round_.number) == wanted), default)

    def _query(self, **parts: object) -> str:
        return "?" + urlencode({name: str(value) for name, value in parts.items()})
