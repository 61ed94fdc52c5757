"""Judge one criterion: a fresh context, a new page for each outcome, and again where the bench failed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from benchmark.rules.records import CriterionSpec, OutcomeSpec
from benchmark.rules.vocabulary import Mark
from runs.adapters.judges.scripted.browser import CandidateBrowser
from runs.adapters.judges.scripted.evidence import Piece, kept_evidence, trace_piece
from runs.adapters.judges.scripted.fence import Fence
from runs.adapters.judges.scripted.navigating import open_path
from runs.adapters.judges.scripted.patterns import PatternMatcher
from runs.adapters.judges.scripted.settings import ScriptedSettings
from runs.adapters.judges.scripted.stepping import Performance, StepBudget
from runs.adapters.judges.scripted.troubles import (
    BenchTrouble,
    PageCrashed,
    PageHung,
    ScriptProblem,
    StepFailed,
)
from runs.adapters.judges.scripted.visit import Visit
from runs.adapters.judges.scripted.words import held_words

NO_SCRIPT = "no_script"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What every criterion of a session is judged with."""

    browser: CandidateBrowser
    fence: Fence
    settings: ScriptedSettings
    matcher: PatternMatcher
    uploads: Path | None
    scratch: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What one outcome came to."""

    index: int
    mark: Mark
    rationale: str
    reason: str = ""
    seconds: float = 0.0
    pieces: tuple[Piece, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the decision as the parent is told."""
        return {
            "index": self.index,
            "mark": self.mark.value,
            "rationale": self.rationale,
            "reason": self.reason,
            "seconds": round(self.seconds, 3),
            "evidence": list(self.pieces),
        }


async def judged(criterion: CriterionSpec, bench: Bench) -> list[Decision]:
    """Return a decision for every outcome of a criterion.

    Trouble of the browser starts the whole criterion again, up to the settings' retries, because its
    outcomes share their storage; after that what is undecided is `error`. A crash of the page starts it
    again once: what crashes a second time is the candidate's own doing and a `fail`.
    """
    work = _CriterionWork(criterion, bench)
    for attempt in range(bench.settings.retries + 1):
        try:
            return await work.attempt(attempt)
        except BenchTrouble as trouble:
            work.trouble = trouble
            await bench.browser.replace_if_broken()
        except PageCrashed:
            work.crash_is_known = True
            # The crash costs no retry of the bench: it is tried once more in any case.
            with suppress(BenchTrouble):
                return await work.attempt(attempt)
            await bench.browser.replace_if_broken()
    return work.given_up()


class _CriterionWork:
    def __init__(self, criterion: CriterionSpec, bench: Bench) -> None:
        self.crash_is_known = False
        self.trouble = BenchTrouble("browser_crashed", "The browser ended while the page was tried out.")
        self._criterion = criterion
        self._bench = bench
        self._decided: list[Decision] = []

    async def attempt(self, number: int) -> list[Decision]:
        """Try every outcome once in one fresh context."""
        self._decided = []
        if all(outcome.script is None for outcome in self._criterion.outcomes):
            return [_without_script(index) for index in range(len(self._criterion.outcomes))]
        budget = StepBudget(left=self._bench.settings.max_steps)
        context = await self._bench.browser.context()
        try:
            await self._start_trace(context)
            for index, outcome in enumerate(self._criterion.outcomes):
                if outcome.script is None:
                    self._decided.append(_without_script(index))
                else:
                    folder = self._bench.scratch / f"{number}-{self.crash_is_known:d}" / str(index)
                    self._decided.append(await self._decision(context, index, outcome, budget, folder))
        finally:
            with suppress(PlaywrightError, TimeoutError):
                await asyncio.wait_for(context.close(), 10)
        return self._decided

    def given_up(self) -> list[Decision]:
        """Return what was decided, and `error` for the rest."""
        decided = {decision.index: decision for decision in self._decided}
        return [
            decided.get(index)
            or (
                _without_script(index)
                if outcome.script is None
                else Decision(
                    index=index, mark=Mark.ERROR, rationale=str(self.trouble), reason=self.trouble.reason
                )
            )
            for index, outcome in enumerate(self._criterion.outcomes)
        ]

    async def _decision(
        self, context: BrowserContext, index: int, outcome: OutcomeSpec, budget: StepBudget, folder: Path
    ) -> Decision:
        began = time.monotonic()
        bench = self._bench
        visit = Visit(
            context,
            fence=bench.fence,
            settings=bench.settings,
            matcher=bench.matcher,
            uploads=bench.uploads,
            pulse=bench.browser.pulse,
        )
        performance = Performance(visit, budget, bench.browser.is_healthy)
        await self._start_chunk(context, index)
        try:
            mark, rationale, reason, is_reachable = await self._marked(visit, performance, outcome)
            pieces = await kept_evidence(
                visit,
                folder,
                actions=_actions(performance, mark),
                with_dom=mark is not Mark.PASS,
                is_reachable=is_reachable and not visit.page.is_closed(),
            )
            pieces.extend(await self._kept_trace(context, folder))
        finally:
            await visit.close()
        return Decision(
            index=index,
            mark=mark,
            rationale=rationale,
            reason=reason,
            seconds=time.monotonic() - began,
            pieces=tuple(pieces),
        )

    async def _marked(
        self, visit: Visit, performance: Performance, outcome: OutcomeSpec
    ) -> tuple[Mark, str, str, bool]:
        assert outcome.script is not None
        try:
            await visit.open()
            await performance.enter(open_path)
            await performance.play(self._criterion.before, phase="before")
            await performance.play(outcome.script, phase="script")
        except PageHung as error:
            return Mark.FAIL, str(error), "", False
        except StepFailed as error:
            return Mark.FAIL, str(error), "", True
        except ScriptProblem as error:
            return Mark.ERROR, str(error), error.reason, True
        except PageCrashed:
            if not self.crash_is_known or not await self._bench.browser.is_healthy():
                raise
            return Mark.FAIL, "The page crashed its browser tab, also when it was tried again.", "", False
        except PlaywrightError as error:
            raise BenchTrouble("driver", f"The browser's driver failed: {error.message[:300]}") from None
        return Mark.PASS, _praise(performance), "", True

    async def _start_trace(self, context: BrowserContext) -> None:
        if self._bench.settings.trace:
            await context.tracing.start(screenshots=True, snapshots=True)

    async def _start_chunk(self, context: BrowserContext, index: int) -> None:
        if self._bench.settings.trace:
            await context.tracing.start_chunk(title=f"{self._criterion.key}, outcome {index + 1}")

    async def _kept_trace(self, context: BrowserContext, folder: Path) -> list[Piece]:
        if not self._bench.settings.trace:
            return []
        path = folder / "trace.zip"
        with suppress(PlaywrightError, TimeoutError):
            await asyncio.wait_for(context.tracing.stop_chunk(path=path), 30)
        piece = trace_piece(path)
        return [piece] if piece else []


def _without_script(index: int) -> Decision:
    return Decision(
        index=index,
        mark=Mark.ERROR,
        rationale="This expected outcome has no script, so this judge cannot try it out.",
        reason=NO_SCRIPT,
    )


def _actions(performance: Performance, mark: Mark) -> Mapping[str, Any]:
    failed = next((entry["number"] for entry in reversed(performance.log) if not entry["ok"]), None)
    return {
        "schema": "proofroom/actions/1",
        "failed": None if mark is Mark.PASS else failed,
        "steps": performance.log,
    }


def _praise(performance: Performance) -> str:
    """Return a sentence about a pass: how many expectations held, and the last in words."""
    held = [entry for entry in performance.log if entry["ok"] and entry["action"].startswith("expect_")]
    if not held:
        return "Every step could be done."
    last = held[-1]
    words = last["note"] or held_words(last["step"], last["action"], last["reading"])
    if len(held) == 1:
        return f"As expected: {words}."
    return f"All {len(held)} expectations held; the last one: {words}."
