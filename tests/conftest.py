"""What every test stands on: a data folder of its own and blobs that leave nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest


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
