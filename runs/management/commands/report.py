"""The tables of one or more runs."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from benchmark.management.door import Door
from runs.finding import RunUnknown, run_named
from runs.management.output import write_output
from runs.reporting import as_csv, as_html, as_latex
from runs.reporting.as_text import text_lines
from runs.reporting.reading import report_tables, scored
from runs.reporting.tables import Scored


class Command(Door):
    """`proofroom report RUN...`."""

    help = "Print the tables of one or more runs, as the papers print them."
    example = "proofroom report 12 13 --format latex -o tables.tex"
    speaks_json = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("runs", nargs="+", metavar="run", help="Numbers of runs.")
        parser.add_argument("--format", choices=["text", "json", "csv", "latex", "html"], default="text")
        parser.add_argument("--json", action="store_true", help="Same as --format json.")
        parser.add_argument(
            "--fragment", action="store_true", help="LaTeX: the tables alone, to be included."
        )
        parser.add_argument("-o", "--output", metavar="PATH", help="Write there instead.")

    def handle(self, *args: Any, **options: Any) -> None:
        runs: list[Scored] = []
        for number in dict.fromkeys(options["runs"]):
            try:
                runs.append(scored(run_named(number)))
            except RunUnknown as unknown:
                self.bad_input(str(unknown))
        wanted = "json" if options["json"] else options["format"]
        text = _written(runs, wanted, is_fragment=options["fragment"])
        write_output(self, text, path=options["output"])


def _written(runs: list[Scored], wanted: str, *, is_fragment: bool) -> str:
    if wanted == "json":
        documents = {str(run.run): run.scores.as_json() for run in runs}
        return json.dumps({"runs": documents}, ensure_ascii=False, indent=2, allow_nan=False)
    if wanted == "csv":
        return as_csv.csv_text(runs)
    tables = report_tables(runs)
    if wanted == "html":
        return as_html.page(runs, tables)
    notes = [note for run in runs for note in (*run.facts, *run.decisions)]
    if wanted == "latex":
        if is_fragment:
            return "\n\n".join(as_latex.fragment(table) for table in tables) + "\n"
        return as_latex.document(tables, list(dict.fromkeys(notes)))
    blocks = ["\n".join(run.facts) for run in runs] + ["\n".join(text_lines(t)) for t in tables]
    return "\n\n".join([*blocks, "\n".join(dict.fromkeys(d for run in runs for d in run.decisions))])
