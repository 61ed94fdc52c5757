"""Base of every command: one sentence for bad input, one JSON document on request, a ready database."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

FAILED_JOB = 1
BAD_INPUT = 2


class _Formatter(DjangoHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Common arguments last, and the example's lines left as they are."""


class Door(BaseCommand):
    """A command that outsiders call; a subclass writes `help`, `example` and `handle`.

    `handle` says things with `say`, answers once with `answer`, and ends early with
    `bad_input` (exit 2) or `failed_job` (exit 1). Any other exception propagates.
    """

    example: ClassVar[str] = ""
    speaks_json: ClassVar[bool] = True
    needs_database: ClassVar[bool] = True
    requires_system_checks = []  # `doctor` and `serve` run them
    suppressed_base_arguments = {"--version", "--settings", "--pythonpath", "--no-color", "--force-color"}

    _called_from_command_line = False
    _wants_json = False
    _has_answered = False

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        if self.example:
            kwargs.setdefault("epilog", f"example:\n  {self.example}")
        kwargs.setdefault("formatter_class", _Formatter)
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        if self.speaks_json:
            parser.add_argument(
                "--json",
                action="store_true",
                help="Print one JSON document on standard output and nothing else there.",
            )
        if self._called_from_command_line:
            # argparse would print its whole usage before the sentence.
            parser.error = self._misused  # type: ignore[method-assign]
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        self._wants_json = bool(options.get("json"))
        self._has_answered = False
        try:
            if self.needs_database:
                prepare_database()
            return super().execute(*args, **options)
        except CommandError as error:
            if self._wants_json and not self._has_answered:
                self.answer({"error": str(error)}, text="")
            if not self._called_from_command_line or options.get("traceback"):
                raise
            # Django would put the name of the exception before the sentence.
            self.stderr.write(str(error))
            sys.exit(error.returncode)

    def say(self, sentence: str) -> None:
        """Tell the person something on the way; with --json it goes to standard error."""
        (self.stderr if self._wants_json else self.stdout).write(sentence, str)

    def answer(self, document: Mapping[str, Any] | Sequence[Any], *, text: str) -> None:
        """Give the command's one answer: the document with --json, else the text."""
        self._has_answered = True
        if self._wants_json:
            self.stdout.write(self._json(document))
        elif text:
            self.stdout.write(text)

    def bad_input(self, sentence: str) -> NoReturn:
        """End with exit 2; the sentence names the value and the way out."""
        raise CommandError(sentence, returncode=BAD_INPUT)

    def failed_job(self, sentence: str) -> NoReturn:
        """End with exit 1; the sentence says what is safe and what to do."""
        raise CommandError(sentence, returncode=FAILED_JOB)

    def _json(self, document: Mapping[str, Any] | Sequence[Any]) -> str:
        text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
        try:
            text.encode(getattr(self.stdout, "encoding", None) or "utf-8")
        except UnicodeEncodeError:
            # A terminal of another encoding, or half a character that a file held.
            return json.dumps(document, indent=2, allow_nan=False)
        return text

    def _misused(self, message: str) -> NoReturn:
        name = type(self).__module__.rpartition(".")[2]
        sentence = f"{message[:1].upper()}{message[1:]}; `proofroom {name} --help` shows how it goes."
        if self.speaks_json and "--json" in sys.argv:
            self.stdout.write(self._json({"error": sentence}))
        self.stderr.write(sentence)
        sys.exit(BAD_INPUT)


def prepare_database() -> None:
    """Bring the embedded SQLite database up to date; ask for `proofroom migrate` on any other.

    Raises CommandError with exit 1.
    """
    try:
        pending = _pending_migrations()
    except DatabaseError as error:
        raise CommandError(
            f"The database cannot be used: {_first_line(error)}; "
            "check DATABASE_URL or PROOFROOM_DATA_DIR and that the server runs.",
            returncode=FAILED_JOB,
        ) from None
    if not pending:
        return
    if connection.vendor != "sqlite":
        raise CommandError(
            f"The database {connection.settings_dict['NAME']!r} lacks {pending} migrations; "
            "run `proofroom migrate` once, then this again.",
            returncode=FAILED_JOB,
        )
    with _one_at_a_time():
        # Whoever waited here finds nothing left to do.
        if _pending_migrations():
            call_command("migrate", interactive=False, verbosity=0, skip_checks=True)


def _pending_migrations() -> int:
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Hold a lock beside the database file, so that two first commands do not both make it."""
    name = str(connection.settings_dict["NAME"])
    database = Path(name)
    try:
        import fcntl
    except ImportError:  # Windows: SQLite's own lock is what is left
        yield
        return
    if ":memory:" in name or "mode=memory" in name or not database.parent.is_dir():
        yield
        return
    with database.with_name(f".{database.name}.migrate.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
