"""A program: works like `proofroom work` with a code agent that hears nothing, until it is told to end."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proofroom.settings")
django.setup()

from django.core.management import call_command  # noqa: E402

from runs import engine, shutdown, workers  # noqa: E402
from runs.adapters.scripted import ScriptedAgent  # noqa: E402
from runs.models import Trial  # noqa: E402
from tests import make  # noqa: E402


class Deaf(ScriptedAgent):
    """Works on for a minute whatever happens."""

    def work(self, *args, **named):
        sys.stdout.write("at work\n")
        sys.stdout.flush()
        time.sleep(60)
        return super().work(*args, **named)


def main() -> None:
    call_command("migrate", verbosity=0)
    trial: Trial = make.run().trials.get()
    shutdown.on_signals(lambda: None)
    tools = make.toolbox(Path(sys.argv[1]), agent=Deaf())
    working = threading.Thread(
        target=engine.advance, args=(trial.pk,), kwargs={"toolbox": tools, "worker": workers.worker_name()}
    )
    working.start()
    working.join()


if __name__ == "__main__":
    main()
