"""What every test stands on: a data folder of its own and blobs that leave nothing behind."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import pytest_django
from django.db import connection
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

# How long an example takes is the machine's business; what it finds is ours.
hypothesis_settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("unhurried")

ORDER = ("whole/test_demo.py", "annotation/", "browser/", "runs/adapters/", "whole/", "scale/")
"""Files by how their paths begin; what is named nowhere comes last."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest file and end with the short ones, so that no processor is idle at the end.

    Files that start many processes stand apart from each other: together they would wait for each other.
    """
    here = Path(__file__).parent
    items.sort(key=lambda item: _turn(item.path.relative_to(here).as_posix()))


def _turn(path: str) -> int:
    return next((turn for turn, start in enumerate(ORDER) if path.startswith(start)), len(ORDER))


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker) -> None:
    """Let tests that commit be cleared away: of a SQLite file that is done by DELETE, which the log refuses.

    That it does refuse is tested with the trigger put back (tests/people/test_audit.py).
    """
    with django_db_blocker.unblock():
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                cursor.execute("DROP TRIGGER IF EXISTS people_auditentry_no_delete")


@pytest.fixture(autouse=True)
def own_blobs(settings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Blobs of a test go into a folder of its own."""
    folder = tmp_path_factory.mktemp("blobs")
    settings.STORAGES = {
        **settings.STORAGES,
        "blobs": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(folder)},
        },
    }
    return folder


@pytest.fixture(autouse=True)
def some_sandbox(settings) -> None:
    """Where there is no bubblewrap, runs of tests are launched without a sandbox, as a person would choose."""
    if shutil.which("bwrap") is None:
        settings.SANDBOX = "none"


@pytest.fixture(autouse=True)
def quick_passwords(settings) -> None:
    """Hash passwords quickly: how slowly they are hashed in use is Django's own business."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
