"""A program: make the configured, empty database that of the first release, rows and all."""

from __future__ import annotations

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proofroom.settings")
django.setup()

from django.db import DEFAULT_DB_ALIAS, transaction  # noqa: E402

from runs import backups  # noqa: E402
from runs.backups import schema  # noqa: E402
from runs.backups.restoring import load  # noqa: E402
from runs.backups.rows import tables  # noqa: E402
from tests.first_release import SITE  # noqa: E402

if __name__ == "__main__":
    nodes = list(backups.check(SITE).migrations)
    schema.migrate_to(nodes, using=DEFAULT_DB_ALIAS)
    with transaction.atomic():
        load(SITE, tables(schema.models_at(nodes)), using=DEFAULT_DB_ALIAS)
