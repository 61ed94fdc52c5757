"""`proofroom pack`: a stored benchmark becomes a pack again, a folder or a zip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from benchmark.exporting import ExportRefused, export_pack
from benchmark.finding import BenchmarkUnknown, benchmark_named
from benchmark.management.door import Door


class Command(Door):
    """The command."""

    help = "Write a stored benchmark out as a pack: a folder, or a zip where the path ends in .zip."
    example = "proofroom pack asuka-mini -o asuka-mini.zip"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="key of a benchmark, or key@version; the newest if not given")
        parser.add_argument("-o", "--output", metavar="PATH", type=Path, required=True, help="where to write")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            benchmark = benchmark_named(options["benchmark"])
            files = export_pack(benchmark, options["output"])
        except (BenchmarkUnknown, ExportRefused) as refused:
            self.bad_input(str(refused))
        document = {
            "benchmark": benchmark.key,
            "version": benchmark.version,
            "hash": benchmark.content_hash,
            "path": str(options["output"]),
            "files": files,
        }
        self.answer(document, text=f"Wrote {benchmark} to {options['output']}: {files} files.")
