"""The live application of a set: one person, one origin, fresh with every start."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from annotation.agent_names import HIDDEN
from annotation.seats import Seat
from benchmark import blobs
from runs import previews
from runs.adapters.previews import Preview, PreviewState

LOG_SHOWN = 8_000


class CannotStart(ValueError):
    """There is nothing to start; the message is one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogText:
    """One log as text; `cut` counts the characters before it that are not in it."""

    title: str
    text: str
    cut: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveView:
    """What the pane shows of an application: its state, where it is, and why it is not there."""

    state: str
    name: str = ""
    address: str = ""
    position: int | None = None
    reason: str = ""
    has_run: bool = False
    log: LogText | None = None


def view(seat: Seat) -> LiveView:
    """Return the newest application that this person had in this set, as it is now."""
    preview = _latest(seat)
    if preview is None:
        return LiveView(state="none")
    address = previews.address(preview)
    state = preview.state
    if preview.is_stopping and not state.is_over:
        state = PreviewState.STOPPED
    failed = state is PreviewState.FAILED
    return LiveView(
        state=state,
        name=preview.host_key,
        address=address if state is PreviewState.RUNNING else "",
        position=preview.position,
        reason=_plain(preview.reason, seat),
        has_run=preview.has_run,
        log=_cut("What it wrote", preview.log, seat) if failed and preview.log else None,
    )


def logs(seat: Seat, *, whole: bool) -> tuple[LogText, ...]:
    """Return the logs of build and server; their ends, unless they are wanted whole."""
    preview = _latest(seat)
    if preview is None:
        return ()
    most = None if whole else LOG_SHOWN
    server = previews.server_log(preview)
    titled = (("Build", preview.build_log), ("Server" if preview.has_run else "Build and server", server))
    return tuple(_cut(title, text, seat, most=most) for title, text in titled if text)


def start(seat: Seat) -> LiveView:
    """Start the application, or come back to the one that lives. Raises CannotStart."""
    current = _latest(seat)
    if current is None or current.state.is_over or current.is_stopping:
        _begin(seat, after=current)
    return view(seat)


def start_anew(seat: Seat) -> LiveView:
    """End the application and start it as if for the first time: new process, new origin, no storage."""
    current = stopped(seat)
    _begin(seat, after=current)
    return view(seat)


def stop(seat: Seat) -> LiveView:
    """End the application with its processes."""
    stopped(seat)
    return view(seat)


def stopped(seat: Seat) -> Preview | None:
    """End the application and return it as it was."""
    current = _latest(seat)
    if current is not None:
        previews.stop(current.host_key, owner=seat.person)
    return current


def keep(seat: Seat) -> None:
    """Say that somebody sits before it, so that it does not expire under that person's eyes."""
    preview = _latest(seat)
    if preview is not None and not preview.state.is_over:
        previews.touch(preview)


def _begin(seat: Seat, *, after: Preview | None) -> None:
    round_ = seat.assignment.round
    if seat.is_taken_back:
        raise CannotStart("This set was given to somebody else meanwhile; what you saved is kept.")
    if not round_.snapshot or not blobs.is_stored(round_.snapshot):
        raise CannotStart(
            "No files of this application are stored, so it cannot be started; flag an environment problem."
        )
    number = 1 if after is None else _number(after) + 1
    previews.start(round_, owner=seat.person, purpose=f"{_purpose(seat)}{number}")


def _latest(seat: Seat) -> Preview | None:
    return previews.latest(owner=seat.person, purpose=_purpose(seat))


def _purpose(seat: Seat) -> str:
    return f"assignment-{seat.assignment.pk}-"


def _number(preview: Preview) -> int:
    found = re.match(r"assignment-\d+-(\d+):", preview.key)
    assert found is not None
    return int(found[1])


def _cut(title: str, text: str, seat: Seat, *, most: int | None = LOG_SHOWN) -> LogText:
    plain = _plain(text, seat)
    shown = plain if most is None else plain[-most:]
    return LogText(title=title, text=shown, cut=len(plain) - len(shown))


def _plain(text: str, seat: Seat) -> str:
    """Return a log without folders of this machine, and without the agent's name where it is hidden."""
    for folder, word in ((str(settings.DATA_DIR), HIDDEN), (str(Path.home()), "~")):
        if len(folder) > 1:
            text = text.replace(folder, word)
    return seat.hidden_names.taken_out_of(text)
