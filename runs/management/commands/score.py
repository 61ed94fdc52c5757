"""Marks from a file to every metric of their protocol; no database is touched."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from benchmark.management.door import Door
from benchmark.protocols import all_protocols
from benchmark.protocols.scorefile import score_document
from benchmark.rules.marksfile import BadMarks


class Command(Door):
    """`proofroom score FILE --protocol NAME`."""

    help = "Compute every metric of a protocol from a file of marks."
    example = "proofroom score marks.json --protocol asuka --json"
    needs_database = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="A marks file (JSON), or - for standard input.")
        parser.add_argument("--protocol", required=True, help=f"One of: {', '.join(all_protocols())}.")
        parser.add_argument("--threshold", help="Overrides the file's setting.")
        parser.add_argument("--mode", help="Overrides the file's setting: dag or flat.")

    def handle(self, *args: Any, **options: Any) -> None:
        document = self._document(options["file"])
        overrides = {name: options[name] for name in ("threshold", "mode") if options[name] is not None}
        try:
            scores = score_document(document, protocol=options["protocol"], overrides=overrides)
        except (BadMarks, LookupError) as bad:
            self.bad_input(str(bad))
        printed = scores.as_json()
        lines = [f"{name}: {_shown(estimate)}" for name, estimate in printed["metrics"].items()]
        self.answer(printed, text="\n".join(lines))

    def _document(self, name: str) -> dict[str, Any]:
        if "\0" in name:
            self.bad_input(f"{name!r} cannot be read: no file has such a name.")
        try:
            content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
            document = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_once_each)
        except OSError as error:
            self.bad_input(f"{name!r} cannot be read: {error.strerror}.")
        except UnicodeDecodeError:
            self.bad_input(f"{name!r} is not UTF-8 text.")
        except RecursionError:
            self.bad_input(f"{name!r} is nested too deeply; a marks file needs six levels.")
        except json.JSONDecodeError as error:
            self.bad_input(f"{name!r} is not JSON: {error}.")
        except _GivenTwice as twice:
            self.bad_input(f"{name!r} gives {twice.key!r} twice in one object; keep one.")
        except ValueError:
            self.bad_input(f"{name!r} holds a number of thousands of digits; no mark needs one.")
        if not isinstance(document, dict):
            self.bad_input(f"{name!r} holds no object; see the marks file in docs/score.md.")
        return document


class _GivenTwice(ValueError):
    """A name that stands twice in one object; JSON would silently keep the last."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _GivenTwice(key)
        found[key] = value
    return found


def _shown(estimate: dict[str, Any]) -> str:
    if estimate["value"] is None:
        return f"– ({estimate['reason']})"
    width = estimate["half_width"]
    interval = f" ± {width:.4f}" if width is not None else ""
    return f"{estimate['value']:.4f}{interval} (n = {estimate['n']})"
