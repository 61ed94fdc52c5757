"""A database of the first release is brought to today's tables, and back, without losing a number or a label."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from runs import backups
from runs.backups import schema
from runs.backups.restoring import load
from runs.backups.rows import tables
from runs.models import Run
from tests.first_release import SITE, expected, seen

ONE_WAY: frozenset[tuple[str, str]] = frozenset()
"""Migrations that cannot be taken back; each needs a line in docs/backup.md that says why."""


@pytest.mark.django_db(transaction=True)
def test_a_backup_of_the_first_release_is_restored_with_its_numbers_and_labels():
    backups.restore(SITE, replace=True, now=timezone.now())

    assert seen() == expected()
    for run in Run.objects.filter(state="finished"):
        call_command("rescore", str(run.pk), stdout=StringIO())
    assert seen() == expected()


@pytest.mark.django_db
def test_every_migration_since_the_first_release_can_be_made_and_taken_back():
    checked = backups.check(SITE)
    first = list(checked.migrations)
    newest = schema.known_migrations()

    with schema.scratch_database() as scratch:
        schema.migrate_to(first, using=scratch)
        then = tables(schema.models_at(first, using=scratch))
        with transaction.atomic(using=scratch), schema.without_triggers(using=scratch):
            load(SITE, then, using=scratch)
        schema.migrate_to(newest, using=scratch)
        upwards = {table.name: table.sums(using=scratch) for table in then if table.name == "runs.verdict"}
        if not ONE_WAY & set(newest):
            schema.take_back_to(first, using=scratch)
            backwards = {table.name: table.sums(using=scratch) for table in then}
            assert backwards == checked.tables
            schema.migrate_to(newest, using=scratch)

    assert upwards["runs.verdict"] == checked.tables["runs.verdict"]
