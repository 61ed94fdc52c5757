"""The `proofroom` command: the same as `python manage.py`."""

from __future__ import annotations

import io
import os
import sys
from difflib import get_close_matches

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import BaseCommand, ManagementUtility, get_commands

BAD_INPUT = 2
INTERRUPTED = 130


def main() -> None:
    """Run the command named on the command line; a bad setting is one sentence and exit 2."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proofroom.settings")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A character that the terminal lacks is shown by its number; it ends nothing.
            stream.reconfigure(errors="backslashreplace")
    try:
        _Commands(sys.argv).execute()
        sys.stdout.flush()
    except ImproperlyConfigured as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(BAD_INPUT)
    except BrokenPipeError:
        # `proofroom runs | head` closed the pipe: not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


class _Commands(ManagementUtility):
    """Django's commands and ours; an unknown one is bad input like any other."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        # Django puts a bad setting aside until here; without settings it would know no command of ours.
        _ = settings.INSTALLED_APPS
        known = get_commands()
        if subcommand not in known:
            ours = [name for name, app in known.items() if not str(app).startswith(("django.", "channels"))]
            near = get_close_matches(subcommand, ours, n=1)
            way_out = f"did you mean `proofroom {near[0]}`?" if near else "`proofroom help` lists them."
            sys.stderr.write(f"There is no command {subcommand!r}; {way_out}\n")
            sys.exit(BAD_INPUT)
        return super().fetch_command(subcommand)
