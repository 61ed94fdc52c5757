"""A whole site in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from benchmark.management.door import Door
from people import audit
from runs import backups


class Command(Door):
    """`proofroom backup PATH`."""

    help = (
        "Write database and blobs into one file, while runs and people go on. "
        "It holds password hashes and everything that was hidden: keep it as you keep the site. "
        "Left out are sessions and PROOFROOM_SECRET_KEY."
    )
    example = "proofroom backup /backups/proofroom.tar"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", metavar="PATH", help="The file; one that is there is replaced.")
        parser.add_argument(
            "--verify", action="store_true", help="Write nothing; read the file and compare all its sums."
        )

    def execute(self, *args: Any, **options: Any) -> str | None:
        # A file can be verified where no site is.
        self.needs_database = not options["verify"]  # type: ignore[misc]  # of this call alone
        return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["path"])
        if options["verify"]:
            self._verify(path)
        else:
            self._make(path)

    def _make(self, path: Path) -> None:
        if path.is_dir() or not path.parent.is_dir():
            self.bad_input(f"{str(path)!r} must be the name of a file in a folder that is there.")
        try:
            made = backups.make(path, now=timezone.now())
        except OSError as error:
            self.failed_job(
                f"{str(path)!r} could not be written ({error.strerror or error}); no backup was made, "
                "and one that was there is as it was."
            )
        audit.note(None, "backup", "site", file=path.name, sha256=made.sha256)
        if made.missing:
            self.stderr.write(
                f"{len(made.missing)} blobs are on record but missing or damaged in the store, so the backup "
                f"cannot hold them; the first is {made.missing[0]}."
            )
        self.answer(
            {
                "path": str(path),
                "bytes": made.size,
                "sha256": made.sha256,
                "rows": made.rows,
                "blobs": made.blobs,
                "missing": list(made.missing),
            },
            text=f"{made.rows} rows and {made.blobs} blobs are in {path} "
            f"({made.size:,} bytes, SHA-256 {made.sha256}).",
        )

    def _verify(self, path: Path) -> None:
        try:
            checked = backups.check(path)
        except backups.BadArchive as bad:
            self.failed_job(f"{str(path)!r} is no sound backup: {bad}")
        except OSError as error:
            self.bad_input(f"{str(path)!r} cannot be read: {error.strerror}.")
        self.answer(
            {
                "path": str(path),
                "version": checked.version,
                "created_at": checked.created_at.isoformat(),
                "rows": checked.rows,
                "tables": {name: table.rows for name, table in checked.tables.items()},
                "blobs": checked.blobs,
                "missing": list(checked.missing),
            },
            text=f"{path} is sound: {checked.rows} rows and {checked.blobs} blobs of "
            f"{checked.created_at:%Y-%m-%d %H:%M} UTC, made by Proofroom {checked.version}.",
        )
