"""Perform one script step by step, keep a log of it, and name the fault where a step ends badly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from benchmark.rules.script_actions import ACTIONS, StepKind
from benchmark.rules.scripts import action_of
from runs.adapters.judges.scripted.acting import perform
from runs.adapters.judges.scripted.diagnosis import blamed
from runs.adapters.judges.scripted.evidence import rounded
from runs.adapters.judges.scripted.expecting import expect, holds_before_anything_happens
from runs.adapters.judges.scripted.nouns import seconds
from runs.adapters.judges.scripted.patterns import PatternTooSlow
from runs.adapters.judges.scripted.troubles import (
    BenchTrouble,
    PageCrashed,
    PageHung,
    ScriptProblem,
    StepFailed,
)
from runs.adapters.judges.scripted.visit import HANG_SECONDS, Visit
from runs.adapters.judges.scripted.words import doing, step_words

type Step = Mapping[str, Any]

_SLACK = 10.0
_LONGEST_PATIENCE = 30.0


@dataclass(slots=True, kw_only=True)
class StepBudget:
    """How many steps a criterion may still take."""

    left: int

    def take(self) -> None:
        """Take one; raises ScriptProblem when none is left."""
        if self.left <= 0:
            raise ScriptProblem("too_many_steps", "The criterion's scripts take more steps than are allowed.")
        self.left -= 1


@dataclass(slots=True)
class Performance:
    """Performs steps in one visit; `log` is what the trial page shows of it."""

    visit: Visit
    budget: StepBudget
    is_healthy: Callable[[], Awaitable[bool]]
    log: list[dict[str, Any]] = field(default_factory=list)
    box: dict[str, float] | None = None
    _last_doing: str = ""
    _number: int = 0

    async def play(self, steps: Sequence[Step], *, phase: str) -> None:
        """Perform steps in order; raises StepFailed with the rationale at the first that fails."""
        for step in steps:
            if "either" in step:
                await self._either(step, phase=phase)
            else:
                await self._one(step, phase=phase)

    async def enter(self, open_path: Callable[[Visit, str], Coroutine[Any, Any, None]]) -> None:
        """Open the candidate's first page, as every outcome does before its own steps."""
        step = {"goto": "/"}
        entry = self._entry(step, "goto", phase="open")
        began = time.monotonic()
        try:
            bound = 2 * self.visit.settings.page_timeout + 2 * _SLACK
            await self.visit.pulse.wait_for(open_path(self.visit, "/"), bound)
            entry["ok"] = True
        except StepFailed as error:
            rationale = await self._rationale(error, step)
            entry["problem"] = str(rationale)
            raise rationale from None
        except TimeoutError:
            raise BenchTrouble("browser_hung", "The browser did not open the page in time.") from None
        except PlaywrightError as error:
            named = await self._named(error, step, "goto")
            entry["problem"] = str(named)
            raise named from None
        finally:
            entry["ms"] = round((time.monotonic() - began) * 1000)

    async def _either(self, step: Step, *, phase: str) -> None:
        failures: list[str] = []
        for branch in step["either"]:
            last_doing = self._last_doing
            try:
                await self.play(branch, phase=phase)
            except PageHung:
                raise
            except StepFailed as error:
                failures.append(str(error))
                self._last_doing = last_doing
            else:
                return
        if note := step.get("note"):
            raise StepFailed(f"{_raised(note)}: {_lowered(failures[0])}")
        raise StepFailed(failures[0])

    async def _one(self, step: Step, *, phase: str) -> None:
        self.budget.take()
        action = action_of(step)
        entry = self._entry(step, action, phase=phase)
        began = time.monotonic()
        self.visit.touched = None
        try:
            entry["reading"] = _loggable(await self._timed(step, action))
            entry["ok"] = True
        except StepFailed as error:
            entry["reading"] = _loggable(error.reading)
            rationale = await self._rationale(error, step)
            entry["problem"] = str(rationale)
            raise rationale from None
        except (ScriptProblem, PageCrashed, BenchTrouble) as error:
            entry["problem"] = str(error)
            raise
        finally:
            entry["ms"] = round((time.monotonic() - began) * 1000)
            await self._keep_box(entry)
        if action in _TOLD:
            self._last_doing = doing(step, action)

    async def _timed(self, step: Step, action: str) -> Any:
        """Do the step within a bound that holds whatever the page does."""
        limit = float(step.get("timeout", self.visit.settings.step_timeout))
        bound = limit + self.visit.settings.step_timeout + _SLACK
        if not action.startswith("expect_"):
            bound += 2 * self.visit.settings.page_timeout + step.get("wait", 0) / 1000
        work = expect if action.startswith("expect_") else perform
        if action == "remember" or holds_before_anything_happens(step, action):
            # Before the step, so that the rest costs it none of its own time.
            await self.visit.come_to_rest()
        elif work is perform:
            self.visit.is_unsettled = True
        # Most steps are quick when they succeed: only what hangs comes near the bound.
        watched = min(bound, limit + 2.0) if action.startswith("expect_") else bound
        try:
            return await self._patiently(work, step, action, limit=limit, bound=watched)
        except PatternTooSlow as error:
            raise ScriptProblem("pattern_too_slow", str(error)) from None
        except TimeoutError:
            raise StepFailed(f"The page did not let anyone {step_words(step, action)} in time.") from None
        except PlaywrightTimeout as error:
            raise StepFailed(await blamed(self.visit, step, action, error, limit=limit)) from None
        except PlaywrightError as error:
            raise await self._named(error, step, action) from None

    async def _patiently(
        self,
        work: Callable[..., Coroutine[Any, Any, Any]],
        step: Step,
        action: str,
        *,
        limit: float,
        bound: float,
    ) -> Any:
        """Do the step, again with more time where the machine (not the page) was too slow for it."""
        while True:
            deadline = self.visit.pulse.deadline(limit)
            try:
                return await self.visit.pulse.wait_for(work(self.visit, step, action, limit=limit), bound)
            except PlaywrightTimeout as error:
                was_begun = error.message.rfind("performing") > error.message.rfind("retrying")
                if was_begun and await self.visit.responds():
                    # It was clicked, if late; what the page makes of that is for the next steps to see.
                    return None
                if was_begun or deadline.lost() < limit / 4 or limit > _LONGEST_PATIENCE:
                    raise
                limit *= 2

    async def _named(self, error: PlaywrightError, step: Step, action: str) -> Exception:
        """Return whose fault an error of the driver is."""
        if self.visit.flood:
            return PageHung(f"The page {self.visit.flood}.")
        if self.visit.has_crashed or "crashed" in error.message.lower():
            return PageCrashed("The page crashed.")
        if any(sign in error.message for sign in _BAD_SELECTORS):
            return ScriptProblem("script", f"The script names its target wrongly: {_first_line(error)}")
        browser = self.visit.context.browser
        if browser is None or not browser.is_connected():
            return BenchTrouble("browser_crashed", "The browser ended while the page was tried out.")
        if self.visit.page.is_closed():
            # A crash is reported a moment after what it broke.
            await asyncio.sleep(0.2)
            if not browser.is_connected():
                return BenchTrouble("browser_crashed", "The browser ended while the page was tried out.")
            return StepFailed("The page closed itself.")
        if any(sign in error.message for sign in _CANDIDATE_FAULTS):
            return StepFailed(f"Could not {step_words(step, action)}: {_first_line(error)}")
        return BenchTrouble("driver", f"The browser's driver failed: {_first_line(error)}")

    async def _rationale(self, error: StepFailed, step: Step) -> StepFailed:
        """Return the failure as it is told: what was seen, after which action, under which note."""
        if self.visit.has_crashed:
            raise PageCrashed("The page crashed.")
        if self.visit.flood:
            return PageHung(f"The page {self.visit.flood}.")
        if self.visit.opens_dialogs_without_end:
            return PageHung(f"The page opened dialogs without end ({len(self.visit.dialogs)} and more).")
        if not self.visit.page.is_closed() and not await self.visit.responds():
            if self.visit.has_crashed:
                raise PageCrashed("The page crashed.")
            if not await self.is_healthy():
                raise BenchTrouble("browser_hung", "The browser itself no longer responds.")
            return PageHung(f"The page did not respond for {seconds(HANG_SECONDS)}.{self._context()}")
        text = str(error)
        if self.visit.has_left and not self.visit.page.is_closed():
            text = f"{text} The page had left the application."
        if note := step.get("note"):
            return StepFailed(f"{_raised(note)}: {_lowered(text)}")
        if self._last_doing:
            return StepFailed(f"{text.removesuffix('.')} (after {self._last_doing}).")
        return StepFailed(text)

    def _context(self) -> str:
        return f" This was after {self._last_doing}." if self._last_doing else ""

    def _entry(self, step: Step, action: str, *, phase: str) -> dict[str, Any]:
        self._number += 1
        entry = {
            "number": self._number,
            "phase": phase,
            "action": action,
            "words": step_words(step, action),
            "note": step.get("note", ""),
            "step": dict(step),
            "ms": 0,
            "ok": False,
            "box": None,
            "reading": None,
            "problem": "",
        }
        self.log.append(entry)
        return entry

    async def _keep_box(self, entry: dict[str, Any]) -> None:
        element = self.visit.touched
        if element is None or self.visit.has_crashed or self.visit.page.is_closed():
            return
        with suppress(PlaywrightError, TimeoutError):
            box = await asyncio.wait_for(element.bounding_box(timeout=300), 1)
            if box is not None:
                entry["box"] = rounded(box)


_TOLD = {
    name for name, spec in ACTIONS.items() if spec.kind is StepKind.ACT and name not in {"dialog", "focus"}
} | {"reload", "back", "forward"}
"""What a person would mention as the last thing done before something was wrong."""

_BAD_SELECTORS = (
    "is not a valid selector",
    "Unexpected token",
    "Unknown engine",
    "while parsing selector",
    "Malformed",
    "Unknown attribute",
    "unexpected symbol",
)
_CANDIDATE_FAULTS = (
    "Element is not",
    "element is not",
    "is not an <",
    "not a checkbox",
    "not an HTMLInputElement",
    "Cannot type",
    "Malformed value",
    "Node is not",
    "outside of the viewport",
    "strict mode",
    "Execution context was destroyed",
    "Cannot find context",
    "navigat",
    "detached",
    "Clicking the checkbox",
    "Evaluation failed",
    "TypeError",
    "ReferenceError",
    "RangeError",
    "net::",
)


def _first_line(error: PlaywrightError) -> str:
    line = error.message.strip().splitlines()[0] if error.message.strip() else "no reason given"
    told = line.partition(": ")[2] or line
    return told.removeprefix("Error: ")[:300]


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _raised(note: str) -> str:
    return note[:1].upper() + note[1:]


def _loggable(reading: Any) -> Any:
    if isinstance(reading, str):
        return reading[:500]
    if isinstance(reading, list):
        return [_loggable(each) for each in reading[:50]]
    return reading
