"""Live previews of stored rounds: who may have one, where it is, and what it shows."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from django.conf import settings

from benchmark import snapshots
from runs.adapters.machine_places import MachinePlaces
from runs.adapters.previews import Preview, PreviewManager, PreviewProxy, PreviewState
from runs.isolation import NoSandbox, SandboxChoice, SandboxLevel, level_for
from runs.models import Round, Trial
from runs.sandbox_looks import look
from runs.sandboxing import site_choice
from runs.standard_tools import standard_toolbox


@cache
def manager() -> PreviewManager:
    """The previews of this process."""
    scratch = Path(settings.DATA_DIR) / "scratch"
    return PreviewManager(
        scratch=scratch / "previews",
        per_owner=settings.PREVIEWS_PER_USER,
        at_once=settings.PREVIEWS_AT_ONCE,
        idle_seconds=settings.PREVIEW_IDLE_SECONDS,
        # Where machines share the data folder, each has its own memory all the same.
        places=MachinePlaces(
            scratch / "preview-places" / f"on-{socket.gethostname()}", most=settings.PREVIEWS_AT_ONCE
        ),
    )


def start(round_: Round, *, owner: int, purpose: str = "trial") -> Preview:
    """Start a preview of a round's snapshot for one person, or return the one that person has.

    `purpose` keeps previews apart that must not share storage, such as those of two assignments.
    """
    # From the trial: its task may have many others, in runs of other levels.
    deploy, level = Trial.objects.values_list("task__deploy", "run__sandbox").get(pk=round_.trial_id)
    return manager().start(
        partial(snapshots.restore, round_.snapshot),
        deploy,
        key=_key(round_, purpose),
        owner=str(owner),
        deployer=standard_toolbox(preview_level(SandboxLevel(level))).deployer,
    )


def preview_level(made_with: SandboxLevel) -> SandboxLevel:
    """The level that a candidate is shown at: behind a wall where one works here, as its run was made else.

    So a run that somebody let go without a sandbox can be looked at where there is none, and no other can.
    """
    try:
        return level_for(site_choice(), look, may_do_without=lambda: made_with is SandboxLevel.NONE)
    except NoSandbox:
        # The deployer of a level that does not work says in the preview what is missing.
        asked = site_choice()
        return made_with if asked is SandboxChoice.AUTO else SandboxLevel(asked.value)


def current(round_: Round, *, owner: int, purpose: str = "trial") -> Preview | None:
    """The living preview of a round that this person has, or None."""
    key = _key(round_, purpose)
    return _waited_for(next((p for p in manager().of_owner(str(owner)) if p.key == key), None))


def latest(*, owner: int, purpose: str) -> Preview | None:
    """The newest preview that this person had for a purpose or one that begins so, living or over."""
    return _waited_for(manager().latest(str(owner), key_start=purpose))


def server_log(preview: Preview) -> str:
    """What the application has written so far, or wrote before it ended."""
    return manager().log(preview.host_key)


def touch(preview: Preview) -> None:
    """Keep a preview from expiring: somebody sits before it."""
    manager().touch(preview.host_key)


def owned(host_key: str, *, owner: int) -> Preview | None:
    """A preview by its host, if it is this person's."""
    found = manager().find(host_key)
    return _waited_for(found) if found is not None and found.owner == str(owner) else None


def stop(host_key: str, *, owner: int) -> bool:
    """End a preview; False where this person has no such one."""
    if owned(host_key, owner=owner) is None:
        return False
    manager().stop(host_key)
    return True


def address(preview: Preview) -> str:
    """Where a person's browser finds it: an origin of its own."""
    scheme, _, host = settings.PUBLIC_URL.partition("://")
    return f"{scheme}://{preview.host_key}.{host}/"


def proxy(site: Any) -> PreviewProxy:
    """Wrap the site's ASGI application, so that preview hosts are answered by their candidates."""
    return PreviewProxy(site, manager(), site_host=settings.SITE_HOST)


def numbers() -> Mapping[PreviewState, int]:
    """How many previews of this process are in each state."""
    return manager().numbers()


def stop_all(*, seconds: float = 20.0) -> None:
    """End every preview of this process and wait for their processes' end, at most `seconds`."""
    manager().stop_all(seconds=seconds)


def _waited_for(found: Preview | None) -> Preview | None:
    """Keep the place in the queue of a preview whose page asks how it is."""
    if found is None or found.state is not PreviewState.QUEUED:
        return found
    return manager().wait_for(found.host_key)


def _key(round_: Round, purpose: str) -> str:
    return f"{purpose}:{round_.pk}"
