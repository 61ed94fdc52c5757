"""Sets the stage of a site that runs elsewhere: calls of stage_set as JSON lines, answers likewise."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Answer `{"ready": true}`, then one line for each line that comes, until the input ends."""
    sys.path.insert(0, str(ROOT))
    os.environ["DJANGO_SETTINGS_MODULE"] = "proofroom.settings"
    import django

    django.setup()
    from django.contrib.auth.hashers import PBKDF2PasswordHasher
    from django.core.management import call_command

    # How slowly passwords are hashed in use is Django's own business; the site checks these all the same.
    PBKDF2PasswordHasher.iterations = 1

    call_command("migrate", verbosity=0)
    _say({"ready": True})
    for line in sys.stdin:
        order = json.loads(line)
        # "console_scenes.seed_set" is a scene of another file than scenes.py.
        module, _, scene = order["scene"].rpartition(".")
        _say(getattr(import_module(f"tests.browser.{module or 'scenes'}"), scene)(**order["values"]))


def _say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)  # noqa: T201 - the answer is what this program is for


if __name__ == "__main__":
    main()
