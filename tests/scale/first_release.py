"""A program: make the configured, empty database that of the first release, rows and all."""

from __future__ import annotations

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proofroom.settings")
django.setup()

from django.core.management.color import no_style  # noqa: E402
from django.db import DEFAULT_DB_ALIAS, connection, transaction  # noqa: E402

from runs import backups  # noqa: E402
from runs.backups import schema  # noqa: E402
from runs.backups.restoring import load  # noqa: E402
from runs.backups.rows import tables  # noqa: E402
from tests.first_release import SITE  # noqa: E402

if __name__ == "__main__":
    nodes = list(backups.check(SITE).migrations)
    schema.migrate_to(nodes, using=DEFAULT_DB_ALIAS)
    known = tables(schema.models_at(nodes))
    with transaction.atomic(), connection.cursor() as cursor:
        load(SITE, known, using=DEFAULT_DB_ALIAS)
        # The rows came with their keys; the database of the first release had counted them.
        for statement in connection.ops.sequence_reset_sql(no_style(), [table.model for table in known]):
            cursor.execute(statement)
