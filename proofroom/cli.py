"""The `proofroom` command: the same as `python manage.py`."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command named on the command line; a bad setting is one sentence and exit 2."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proofroom.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # `proofroom runs | head` closed the pipe: not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
