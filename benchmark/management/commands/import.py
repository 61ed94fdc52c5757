"""`proofroom import`: files become tasks, verdicts or labels, all of it or nothing."""  # noqa: N999 - its name

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import CommandParser

from benchmark.importing import PACK, Imported, ImportOptions, import_path
from benchmark.management.door import Door
from benchmark.management.import_kinds import ImportKind, ImportMisused, all_kinds, all_options
from benchmark.packs.problems import ImportRefused, Problems
from benchmark.packs.published import all_formats, format_named
from benchmark.packs.texts import decoded, tidy
from benchmark.protocols import protocol

LATER = ("trajectory",)
BENCHMARK_ALONE = ("format", "strict", "protocol", "request", "scripts")


class Command(Door):
    """The command."""

    help = "Import a benchmark pack (a folder or a zip), a published set, or marks that were given elsewhere."
    example = (
        "proofroom import packs/asuka-mini\n"
        "  proofroom import test.jsonl --format webgen --json\n"
        "  proofroom import labels/ --as labels --run 12 --rater anna"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        formats = ", ".join([PACK, *sorted(all_formats())])
        parser.add_argument("path", type=Path, help="a folder, a zip or a file")
        parser.add_argument(
            "--format", metavar="NAME", help=f"one of {formats}; found by looking if not given"
        )
        parser.add_argument(
            "--strict", action="store_true", help="refuse a published set that needs a repair"
        )
        parser.add_argument("--protocol", metavar="NAME", help="protocol of a published set (default: asuka)")
        parser.add_argument("--request", metavar="FILE", type=Path, help="request of a set that has none")
        parser.add_argument(
            "--scripts",
            metavar="FILE",
            type=Path,
            help="JSON file with scripts for a published set's outcomes",
        )
        kinds = "; ".join(f"{kind.name}: {kind.words}" for kind in all_kinds().values())
        parser.add_argument("--as", dest="kind", metavar="KIND", help=f"something else ({kinds})")
        for name, option in all_options().items():
            of = ", ".join(kind.name for kind in all_kinds().values() if option in kind.options)
            words = f"with --as {of}: {option.help}"
            if option.metavar is None:
                parser.add_argument(option.flag, dest=name, action="store_true", help=words)
            else:
                parser.add_argument(option.flag, dest=name, metavar=option.metavar, help=words)

    def handle(self, *_: Any, **options: Any) -> None:
        self._refuse_what_is_not_there(options)
        if options["kind"] is not None:
            self._import_as(all_kinds()[options["kind"]], options)
            return
        request = None if options["request"] is None else self._request(options["request"])
        try:
            imported = import_path(
                options["path"],
                ImportOptions(
                    format_name=options["format"],
                    is_strict=options["strict"],
                    protocol=options["protocol"],
                    request=request,
                    scripts=options["scripts"],
                ),
            )
        except ImportRefused as refused:
            self._refuse(refused)
        except PermissionError as error:
            self.bad_input(f"{error.filename} cannot be read; give this user the right to read it.")
        self.answer(_document(imported), text=_text(imported))

    def _import_as(self, kind: ImportKind, options: dict[str, Any]) -> None:
        given = {option.name: options[option.name] for option in kind.options}
        try:
            answer = kind.read(options["path"], given)
        except ImportMisused as misused:
            self.bad_input(str(misused))
        except ImportRefused as refused:
            problems = [problem.as_json() for problem in refused.problems]
            if self._wants_json:
                document = {"kind": kind.name, "run": options["run"], "problems": problems, "repairs": []}
                self.answer(document, text="")
            self.bad_input(refused.sentence)
        except PermissionError as error:
            self.bad_input(f"{error.filename} cannot be read; give this user the right to read it.")
        self.answer(answer.document, text=answer.text)

    def _refuse_what_is_not_there(self, options: dict[str, Any]) -> None:
        self._refuse_kind(options)
        if options["kind"] is not None:
            return
        try:
            if options["format"] not in (None, PACK):
                format_named(options["format"])
            if options["protocol"] is not None:
                protocol(options["protocol"])
        except LookupError as error:
            self.bad_input(str(error.args[0]))
        for name in ("request", "scripts"):
            if options[name] is not None and not options[name].is_file():
                self.bad_input(f"--{name} {options[name]} is not a file; give the path of one.")

    def _refuse_kind(self, options: dict[str, Any]) -> None:
        name, kinds = options["kind"], all_kinds()
        known = ", ".join(kinds)
        if name is not None and name not in kinds:
            said = f"{name} is not there yet" if name in LATER else f"{name!r} is unknown"
            self.bad_input(f"--as {said}; known are {known}.")
        own = () if name is None else kinds[name].options
        for option in all_options().values():
            if options[option.name] and option not in own:
                of = " or ".join(kind.name for kind in kinds.values() if option in kind.options)
                self.bad_input(f"{option.flag} goes with --as {of}; leave it out otherwise.")
        alone = [] if name is None else [each for each in BENCHMARK_ALONE if options[each]]
        if alone:
            self.bad_input(f"--{alone[0]} goes with a benchmark; leave it out with --as {name}.")

    def _request(self, path: Path) -> str:
        problems = Problems()
        text = decoded(path.read_bytes(), path.name, problems)
        if text is None:
            self._refuse(ImportRefused(problems.found))
        if not tidy(text):
            self.bad_input(f"--request {path} is empty; say in it what is to be built.")
        return tidy(text)

    def _refuse(self, refused: ImportRefused) -> NoReturn:
        problems = [problem.as_json() for problem in refused.problems]
        counts = {"benchmark": None, "tasks": 0, "criteria": 0, "outcomes": 0}
        if self._wants_json:
            self.answer({**counts, "problems": problems, "repairs": []}, text="")
        self.bad_input(refused.sentence)


def _document(imported: Imported) -> dict[str, Any]:
    benchmark = imported.benchmark
    return {
        "benchmark": benchmark.key,
        "tasks": imported.tasks,
        "criteria": imported.criteria,
        "outcomes": imported.outcomes,
        "problems": [],
        "repairs": [repair.as_json() for repair in imported.repairs],
        "version": benchmark.version,
        "hash": benchmark.content_hash,
        "id": benchmark.pk,
        "is_new": imported.is_new,
        "notes": list(imported.notes),
    }


def _text(imported: Imported) -> str:
    benchmark = imported.benchmark
    verb = "Imported" if imported.is_new else "Found"
    counts = f"{imported.tasks} tasks, {imported.criteria} criteria, {imported.outcomes} expected outcomes"
    lines = [f"{verb} {benchmark} (content {benchmark.short_hash}): {counts}.", *imported.notes]
    for name, count in Counter(repair.name for repair in imported.repairs).items():
        lines.append(f"Repaired: {name}, {count}.")
        lines += [f"  {repair}" for repair in imported.repairs if repair.name == name]
    return "\n".join(lines)
