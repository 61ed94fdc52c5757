"""What goes on beside the pages: messages to other sites are delivered."""

from __future__ import annotations

import logging
import threading

from django.conf import settings
from django.db import DatabaseError, close_old_connections

from annotation import webhooks

log = logging.getLogger(__name__)


def deliver_until(stopping: threading.Event) -> None:
    """Deliver what is due, again and again; any number of processes may do so at once."""
    while True:
        try:
            close_old_connections()
            webhooks.deliver_due(stopping=stopping)
        except DatabaseError:
            log.warning("Deliveries could not be read and are tried again.", exc_info=True)
        finally:
            close_old_connections()
        if stopping.wait(settings.SWEEP_SECONDS):
            return
