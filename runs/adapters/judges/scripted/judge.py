"""The scripted judge as the bench sees it: sessions whose browser lives in a process of its own."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from benchmark.rules.records import CriterionSpec
from benchmark.rules.vocabulary import Mark
from runs.adapters.browser_places import BrowserPlaces
from runs.adapters.browsers import FoundBrowser, chromium_arguments, running_as_root
from runs.adapters.judges.scripted.child import Child
from runs.adapters.judges.scripted.messages import criterion_message
from runs.adapters.judges.scripted.settings import ScriptedSettings
from runs.adapters.judges.scripted.work import Work
from runs.adapters.sandboxes.folders import own_folder
from runs.adapters.sandboxes.port import Sandbox, StartFailed
from runs.adapters.sandboxes.process import ProcessSandbox
from runs.errors import Cancelled, StageError
from runs.ports import CancelCheck, CriterionVerdict, EvidenceFile, EvidenceKind, OutcomeVerdict, RunningApp

_TICK = 0.25
_SILENCE_SECONDS = 90.0
_START_SECONDS = 120.0


class ScriptedJudge:
    """Performs the scripts of expected outcomes in Chromium; needs no model and no key."""

    name = "scripted"
    version = "1"

    def __init__(
        self,
        settings: ScriptedSettings | None = None,
        *,
        browser: FoundBrowser,
        sandbox: Sandbox | None = None,
        scratch: Path | None = None,
        places: BrowserPlaces | None = None,
    ) -> None:
        """Take the limits, the browser that was found, and where scratch folders may be made."""
        self._settings = settings or ScriptedSettings()
        self.settings: Mapping[str, Any] = self._settings.as_mapping()
        self._browser = browser
        self._sandbox = sandbox or ProcessSandbox()
        self._scratch = scratch
        self._places = places

    @contextmanager
    def session(
        self, app: RunningApp, *, uploads: Path | None, is_cancelled: CancelCheck
    ) -> Iterator[ScriptedSession]:
        """Open a session on a running candidate once the machine has a place for a browser.

        Raises StageError when there is no browser, and Cancelled.

        `uploads` is the folder in which the names of a script's uploads ("uploads/list.csv") are found.
        """
        if self._browser.path is None:
            raise StageError(self._browser.problem)
        if self._scratch is not None:
            self._scratch.mkdir(parents=True, exist_ok=True)
        scratch = own_folder(self._scratch or Path(tempfile.gettempdir()), purpose="judge")
        order = {
            "settings": self._settings.as_mapping(),
            "port": app.port,
            "executable": str(self._browser.path),
            "arguments": list(chromium_arguments(is_root=running_as_root())),
            "scratch": str(scratch),
            "uploads": str(uploads.resolve()) if uploads is not None else "",
        }
        session = ScriptedSession(
            self._sandbox,
            settings=self._settings,
            order=order,
            scratch=scratch,
            is_cancelled=is_cancelled,
        )
        place = self._places.hold(is_cancelled) if self._places is not None else nullcontext()
        try:
            with place:
                try:
                    yield session
                finally:
                    session.close()
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


class ScriptedSession:
    """Judges criteria through one child process, which is started again when it dies."""

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        settings: ScriptedSettings,
        order: Mapping[str, Any],
        scratch: Path,
        is_cancelled: CancelCheck,
    ) -> None:
        self._sandbox = sandbox
        self._settings = settings
        self._order = order
        self._scratch = scratch
        self._is_cancelled = is_cancelled
        self._deadline = time.monotonic() + settings.time_limit
        self._child: Child | None = None
        self._starts = 0

    def judge(
        self, criteria: Sequence[CriterionSpec], *, on_start: Callable[[str], None]
    ) -> Iterator[CriterionVerdict]:
        """Judge independent criteria and yield each as it is done.

        Raises Cancelled, and StageError when the browser does not start at all.
        """
        work = Work(criteria, retries=self._settings.retries)
        try:
            while work.is_unfinished:
                if self._is_cancelled():
                    raise Cancelled("The run was cancelled while its criteria were judged.")
                if time.monotonic() >= self._deadline:
                    yield from (self._out_of_time(criterion) for criterion in work.take_all())
                    return
                child = self._running_child(work)
                for criterion in work.to_send():
                    child.say(criterion_message(criterion))
                yield from self._answers(child, work, on_start)
        finally:
            if work.is_unfinished:
                # What the child still does for this call must not answer the next one.
                self.close()

    def close(self) -> None:
        """End the child process and everything below it."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _running_child(self, work: Work) -> Child:
        if self._child is None:
            self._starts += 1
            scratch = self._scratch / f"start-{self._starts}"
            scratch.mkdir()
            try:
                self._child = Child(
                    self._sandbox,
                    order={**self._order, "scratch": str(scratch)},
                    scratch=scratch,
                    deadline=max(1.0, self._deadline - time.monotonic()) + 5,
                )
            except StartFailed as error:
                raise StageError(f"The judge's process did not start: {error}") from error
            work.wait_for_ready()
        return self._child

    def _answers(
        self, child: Child, work: Work, on_start: Callable[[str], None]
    ) -> Iterator[CriterionVerdict]:
        """Take one message, if one comes soon, and yield the verdicts that follow from it."""
        try:
            message = child.next_message(timeout=_TICK)
        except TimeoutError:
            if work.silent_for() > (_SILENCE_SECONDS if work.is_ready else _START_SECONDS):
                yield from self._died(child, work, "it no longer answered")
            return
        work.heard()
        match message:
            case None:
                yield from self._died(child, work, child.last_words() or "it gave no reason")
            case {"type": "ready"}:
                work.is_ready = True
            case {"type": "trouble", "message": str(problem)}:
                yield from self._died(child, work, problem)
            case {"type": "start", "key": str(key)}:
                if work.begin(key):
                    on_start(key)
            case {"type": "verdict", "key": str(key), "outcomes": list(outcomes)}:
                if work.finish(key):
                    yield _verdict(key, outcomes)
            case _:
                pass

    def _died(self, child: Child, work: Work, problem: str) -> Iterator[CriterionVerdict]:
        self._child = None
        child.end()
        if not work.is_ready and not work.may_start_again():
            raise StageError(f"The judge's browser could not be started: {problem}")
        for criterion in work.lost():
            yield _errors(
                criterion,
                reason="judge_died",
                rationale=f"The judge's process ended several times: {problem}",
            )

    def _out_of_time(self, criterion: CriterionSpec) -> CriterionVerdict:
        limit = f"{self._settings.time_limit:g} s"
        return _errors(
            criterion,
            reason="time_limit",
            rationale=f"The time limit of {limit} for judging a round passed before this was tried out.",
        )


def _verdict(key: str, outcomes: Sequence[Mapping[str, Any]]) -> CriterionVerdict:
    return CriterionVerdict(key=key, outcomes=tuple(_outcome(each) for each in outcomes))


def _outcome(message: Mapping[str, Any]) -> OutcomeVerdict:
    return OutcomeVerdict(
        index=message["index"],
        mark=Mark(message["mark"]),
        rationale=message["rationale"],
        reason=message["reason"],
        seconds=message["seconds"],
        evidence=tuple(_read(piece) for piece in message["evidence"]),
    )


def _read(piece: Mapping[str, str]) -> EvidenceFile:
    path = Path(piece["path"])
    content = path.read_bytes()
    with suppress(OSError):
        path.unlink()
    return EvidenceFile(
        kind=EvidenceKind(piece["kind"]), name=piece["name"], media_type=piece["media_type"], content=content
    )


def _errors(criterion: CriterionSpec, *, reason: str, rationale: str) -> CriterionVerdict:
    return CriterionVerdict(
        key=criterion.key,
        outcomes=tuple(
            OutcomeVerdict(index=index, mark=Mark.ERROR, rationale=rationale, reason=reason)
            if outcome.script is not None
            else OutcomeVerdict(
                index=index,
                mark=Mark.ERROR,
                rationale="This expected outcome has no script, so this judge cannot try it out.",
                reason="no_script",
            )
            for index, outcome in enumerate(criterion.outcomes)
        ),
    )
