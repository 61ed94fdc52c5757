"""Put a backup back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from benchmark.management.door import Door
from people import audit
from runs import backups


class Command(Door):
    """`proofroom restore PATH`."""

    help = (
        "Put a backup into this site, on whichever database it is; stop the site and its workers first. "
        "Everybody signs in anew. A run that was going on goes on once something works."
    )
    example = "proofroom restore /backups/proofroom.tar"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", metavar="PATH", help="A file that `proofroom backup` wrote.")
        parser.add_argument(
            "--replace", action="store_true", help="Put it in the place of all that this site holds."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["path"])
        try:
            restored = backups.restore(path, replace=options["replace"], now=timezone.now())
        except backups.NotEmpty as refused:
            self.bad_input(str(refused))
        except backups.BadArchive as bad:
            self.failed_job(f"{str(path)!r} was not restored, and nothing was changed. {bad}")
        except OSError as error:
            place = error.filename or str(path)
            self.failed_job(
                f"{str(place)!r} cannot be read or written: {error.strerror}. Nothing was changed."
            )
        checked = restored.checked
        audit.note(None, "restore", "site", file=path.name, made=checked.created_at.isoformat())
        if checked.missing:
            self.stderr.write(
                f"{len(checked.missing)} blobs were missing when the backup was made; the first is {checked.missing[0]}."
            )
        self.answer(
            {
                "path": str(path),
                "version": checked.version,
                "created_at": checked.created_at.isoformat(),
                "migrations": restored.migrated,
                "rows": restored.rows,
                "blobs": restored.blobs,
                "missing": list(checked.missing),
            },
            text=f"{restored.rows} rows and {restored.blobs} blobs of {checked.created_at:%Y-%m-%d %H:%M} UTC "
            f"are back, each counted and compared{_newer(restored.migrated)}.",
        )


def _newer(migrations: int) -> str:
    return f"; {migrations} migrations were made on the way" if migrations else ""
