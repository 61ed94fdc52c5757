"""End this process soon and in order: work is let go of, and behind it stands a deadline."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError, connection

from runs import engine, workers

_FOR_THE_CLAIMS = 1.5
_asked = 0


def begin() -> None:
    """Let go of what is at work and end by itself at the deadline; asked a second time, end at once.

    May be called from a signal handler: it only starts a thread.
    """
    global _asked  # noqa: PLW0603 - a process ends once
    _asked += 1
    target = _end_in_order if _asked == 1 else _leave
    threading.Thread(target=target, name="shutdown", daemon=True).start()


def on_signals(also: Callable[[], object]) -> None:
    """Begin on SIGTERM and Ctrl-C, and do something besides; from the main thread only."""

    def asked(*_: object) -> None:
        begin()
        also()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, asked)


def seconds_for(share: float) -> float:
    """Return a share of the time that this process has for its end."""
    return max(1.0, (settings.SHUTDOWN_SECONDS - _FOR_THE_CLAIMS) * share)


def _end_in_order() -> None:
    engine.stopping.set()
    time.sleep(max(0.5, settings.SHUTDOWN_SECONDS - _FOR_THE_CLAIMS))
    sys.stderr.write(
        f"Not everything ended within {settings.SHUTDOWN_SECONDS} seconds; it is let go of and goes on elsewhere.\n"
    )
    _leave()


def _leave() -> None:
    """Give the claims back, so that others take over before the lease ends, and be gone."""
    # A database that does not answer must not keep the process.
    giving = threading.Thread(target=_give_claims_back, daemon=True)
    giving.start()
    giving.join(_FOR_THE_CLAIMS)
    # Keepers end every process of ours that is left, as they do when we are killed.
    os._exit(1)


def _give_claims_back() -> None:
    engine.stopping.set()
    try:
        workers.release_own_claims()
    except DatabaseError as error:
        sys.stderr.write(f"Claims could not be given back ({error}); others wait for the lease.\n")
    finally:
        connection.close()
