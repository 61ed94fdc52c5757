"""Start, hold and end live applications for people to look at."""

from __future__ import annotations

import base64
import logging
import secrets
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runs.adapters.machine_places import MachinePlaces
from runs.adapters.previews.places import without_places
from runs.adapters.previews.states import Preview, PreviewState
from runs.adapters.previews.turns import Turn, go
from runs.adapters.sandboxes.folders import own_folder
from runs.errors import Cancelled, StageError
from runs.ports import CandidateBroken, Deployer, DeploymentReport, RunningApp

logger = logging.getLogger(__name__)

_WATCH_SECONDS = 0.5
_REMEMBERED = 500
_STOP_SECONDS = 20.0
_AWAY_SECONDS = 30.0
_GONE_SECONDS = 120.0

type Fill = Callable[[Path], object]
"""Writes the files of the candidate into the empty folder that it is given."""


@dataclass(eq=False, slots=True, kw_only=True)
class _Entry:
    host_key: str
    owner: str
    key: str
    fill: Fill
    deploy: Mapping[str, Any]
    deployer: Deployer
    state: PreviewState = PreviewState.QUEUED
    app: RunningApp | None = None
    reason: str = ""
    log: str = ""
    build_log: str = ""
    has_run: bool = False
    used_at: float = 0.0
    asked_at: float = 0.0
    turn: Turn = field(default_factory=Turn)
    place: int | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None


class PreviewManager:
    """Holds previews of this process; every method may be called from any thread and returns at once."""

    def __init__(
        self,
        *,
        scratch: Path,
        per_owner: int,
        at_once: int,
        idle_seconds: float,
        places: MachinePlaces | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`at_once` counts this process; `places` are those of the machine, shared by all processes."""
        self._scratch = scratch
        self._per_owner = per_owner
        self._at_once = at_once
        self._idle_seconds = idle_seconds
        self._places = places
        self._clock = clock
        self._arrivals = 0
        self._usher: threading.Thread | None = None
        self._entries: dict[str, _Entry] = {}
        self._lock = threading.RLock()

    def start(
        self,
        fill: Fill,
        deploy: Mapping[str, Any],
        *,
        key: str,
        owner: str,
        deployer: Deployer,
    ) -> Preview:
        """Start a preview, or put it in the queue; the living one of that owner and key is returned again.

        `deployer` is that of the level of isolation at which it must be served.
        """
        with self._lock:
            for entry in self._entries.values():
                if (entry.owner, entry.key) == (owner, key) and not entry.state.is_over:
                    entry.used_at = entry.asked_at = self._clock()
                    return self._seen(entry)
            entry = _Entry(
                host_key=_random_key(),
                owner=owner,
                key=key,
                fill=fill,
                deploy=deploy,
                deployer=deployer,
            )
            entry.asked_at = self._clock()
            self._arrivals += 1
            entry.turn = Turn(others=len(self.of_owner(owner)), arrival=self._arrivals)
            self._entries[entry.host_key] = entry
            self._forget_oldest()
            self._fill_places()
            if entry.state is PreviewState.QUEUED and self._usher is None:
                self._usher = threading.Thread(
                    target=self._see_to_the_queue, name="preview queue", daemon=True
                )
                self._usher.start()
            return self._seen(entry)

    def find(self, host_key: str) -> Preview | None:
        """Return the preview of that host, or None when there never was one (or it is long over)."""
        with self._lock:
            entry = self._entries.get(host_key)
            return None if entry is None else self._seen(entry)

    def of_owner(self, owner: str) -> tuple[Preview, ...]:
        """Return what an owner has queued, starting or running, oldest first."""
        with self._lock:
            entries = [entry for entry in self._entries.values() if entry.owner == owner]
            return tuple(self._seen(entry) for entry in entries if not entry.state.is_over)

    def numbers(self) -> Mapping[PreviewState, int]:
        """Return how many previews are in each state."""
        with self._lock:
            return Counter(entry.state for entry in self._entries.values())

    def latest(self, owner: str, *, key_start: str) -> Preview | None:
        """Return an owner's newest preview whose key begins so, also when it is over."""
        with self._lock:
            for entry in reversed(self._entries.values()):
                if entry.owner == owner and entry.key.startswith(key_start):
                    return self._seen(entry)
        return None

    def log(self, host_key: str) -> str:
        """Return what the application has written so far, or wrote before it ended."""
        with self._lock:
            entry = self._entries.get(host_key)
            app = None if entry is None else entry.app
        if app is not None:
            return without_places(app.server_log())
        return "" if entry is None else entry.log

    def touch(self, host_key: str) -> None:
        """Say that somebody has just used it."""
        with self._lock:
            entry = self._entries.get(host_key)
            if entry is not None:
                entry.used_at = self._clock()

    def wait_for(self, host_key: str) -> Preview | None:
        """Say that its page is still open: who does not say so gets no place, and soon leaves the queue."""
        with self._lock:
            entry = self._entries.get(host_key)
            if entry is None:
                return None
            entry.asked_at = self._clock()
            return self._seen(entry)

    def stop(self, host_key: str) -> None:
        """End a preview; ending an ended or unknown one changes nothing."""
        with self._lock:
            entry = self._entries.get(host_key)
            if entry is None or entry.state.is_over:
                return
            entry.stop.set()
            if entry.thread is None:
                entry.state = PreviewState.STOPPED

    def stop_all(self, *, seconds: float = _STOP_SECONDS) -> None:
        """End all previews and wait for their processes' end, at most `seconds`."""
        with self._lock:
            entries = list(self._entries.values())
            for entry in entries:
                self.stop(entry.host_key)
            threads = [entry.thread for entry in entries if entry.thread is not None]
        until = time.monotonic() + seconds
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _seen(self, entry: _Entry) -> Preview:
        queue = self._queue() if entry.state is PreviewState.QUEUED else []
        running = entry.app if entry.state is PreviewState.RUNNING else None
        return Preview(
            host_key=entry.host_key,
            owner=entry.owner,
            key=entry.key,
            state=entry.state,
            position=queue.index(entry) + 1 if entry in queue else None,
            port=0 if running is None else running.port,
            reason=entry.reason,
            log=entry.log,
            build_log=entry.build_log,
            has_run=entry.has_run,
            is_stopping=entry.stop.is_set(),
        )

    def _queue(self) -> list[_Entry]:
        """What waits, in the order in which it gets a place."""
        waiting = [entry for entry in self._entries.values() if entry.state is PreviewState.QUEUED]
        return sorted(waiting, key=lambda entry: entry.turn.key())

    def _busy(self) -> list[_Entry]:
        return [entry for entry in self._entries.values() if entry.thread is not None]

    def _fill_places(self) -> None:
        """Start what waits, as far as machine and owner have places; who has left is not waited for."""
        with self._lock:
            while (entry := self._next()) is not None:
                if self._places is not None and (place := self._places.take()) is None:
                    return
                entry.place = None if self._places is None else place
                self._begin(entry)

    def _next(self) -> _Entry | None:
        now = self._clock()
        busy = [entry.owner for entry in self._busy()]
        if len(busy) >= self._at_once:
            return None
        for entry in self._queue():
            if now - entry.asked_at > _GONE_SECONDS:
                entry.state = PreviewState.EXPIRED
                entry.reason = "Its page was closed while it waited, so it left the queue."
            elif now - entry.asked_at <= _AWAY_SECONDS and busy.count(entry.owner) < self._per_owner:
                return entry
        return None

    def _begin(self, entry: _Entry) -> None:
        go(entry.turn, before=[other.turn for other in self._queue()])
        entry.state = PreviewState.STARTING
        entry.used_at = self._clock()
        entry.thread = threading.Thread(
            target=self._hold, args=(entry,), name=f"preview {entry.key}", daemon=True
        )
        entry.thread.start()

    def _see_to_the_queue(self) -> None:
        """Look again and again, as long as something waits: another process may have freed a place."""
        while True:
            with self._lock:
                self._fill_places()
                if not any(entry.state is PreviewState.QUEUED for entry in self._entries.values()):
                    self._usher = None
                    return
            time.sleep(_WATCH_SECONDS)

    def _hold(self, entry: _Entry) -> None:
        try:
            self._serve(entry)
        except CandidateBroken as broken:
            self._over(entry, PreviewState.FAILED, broken.report.reason, _log_of(broken.report))
        except StageError as trouble:
            self._over(entry, PreviewState.FAILED, str(trouble))
        except Cancelled:
            self._over(entry, PreviewState.STOPPED)
        except Exception:
            # The thread's last frame: whatever happened is logged, and the page says so.
            logger.exception("Preview %s of %s failed", entry.key, entry.owner)
            self._over(entry, PreviewState.FAILED, "The preview failed for a reason that was logged.")
        finally:
            with self._lock:
                entry.thread = None
                if self._places is not None and entry.place is not None:
                    self._places.give_back(entry.place)
                    entry.place = None
            self._fill_places()

    def _serve(self, entry: _Entry) -> None:
        folder = own_folder(self._scratch, purpose="preview")
        try:
            entry.fill(folder)
            with entry.deployer.serve(folder, deploy=entry.deploy, is_cancelled=entry.stop.is_set) as app:
                with self._lock:
                    entry.app = app
                    entry.has_run = True
                    entry.build_log = without_places(app.report.build_log)
                    entry.used_at = self._clock()
                    entry.state = PreviewState.RUNNING
                over = self._watch(entry, app)
            reason = "The application ended by itself." if over is PreviewState.FAILED else ""
            self._over(entry, over, reason, app.server_log())
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _watch(self, entry: _Entry, app: RunningApp) -> PreviewState:
        while not entry.stop.wait(_WATCH_SECONDS):
            if not app.is_alive():
                # Its processes are gone already: `_over` says so at once with the reason and the log.
                return PreviewState.FAILED
            with self._lock:
                idle = self._clock() - entry.used_at
            if idle > self._idle_seconds:
                return self._leave(entry, PreviewState.EXPIRED)
        return self._leave(entry, PreviewState.STOPPED)

    def _leave(self, entry: _Entry, state: PreviewState) -> PreviewState:
        """Say that it is over before its processes end, so that nobody is sent to them any more."""
        self._over(entry, state)
        return state

    def _over(self, entry: _Entry, state: PreviewState, reason: str = "", log: str = "") -> None:
        with self._lock:
            entry.state = state
            entry.app = None
            entry.reason = without_places(reason)
            entry.log = without_places(log)

    def _forget_oldest(self) -> None:
        over = [key for key, entry in self._entries.items() if entry.state.is_over and entry.thread is None]
        for key in over[: max(0, len(self._entries) - _REMEMBERED)]:
            del self._entries[key]


def _random_key() -> str:
    """Return 128 random bits as a host name's word: nobody guesses it, and it is the only key."""
    return "p-" + base64.b32encode(secrets.token_bytes(16)).decode().rstrip("=").lower()


def _log_of(report: DeploymentReport) -> str:
    return "\n".join(part for part in (report.build_log, report.server_log) if part)
