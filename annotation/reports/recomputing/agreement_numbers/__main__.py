"""Print every number of a report as recomputed, and say which of them the report has otherwise."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .data import BadRatings, data_in, people_in, settings_in
from .document import document

TOLERANCE = 1e-9
_GIVEN = frozenset({"seed", "resamples"})


def main(arguments: list[str]) -> int:
    """Return 0 where all numbers are the same, 1 where some differ, 2 where there is nothing to compare."""
    folder = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    if not ((folder / "ratings.csv").is_file() and (folder / "agreement.json").is_file()):
        sys.stderr.write(f"{folder} lacks ratings.csv or agreement.json; name the folder that holds both.\n")
        return 2
    report = json.loads((folder / "agreement.json").read_text(encoding="utf-8"))
    stored = dict(numbers_in({key: part for key, part in report.items() if key not in {*_GIVEN, "excluded"}}))
    try:
        data = data_in(folder, report)
        people = people_in(folder, report, data)
    except BadRatings as error:
        sys.stderr.write(f"{error}\n")
        return 2
    found = dict(numbers_in(document(data, settings_in(report), people=people)))
    differing = []
    for name in [*stored, *(name for name in found if name not in stored)]:
        here, there = found.get(name, "absent"), stored.get(name, "absent")
        sys.stdout.write(f"{name}\t{_text(here)}\n")
        if not is_same(here, there):
            differing.append(f"{name}: recomputed {_text(here)}, in agreement.json {_text(there)}\n")
    if differing:
        sys.stderr.write(f"{len(differing)} of {len(stored)} numbers differ:\n{''.join(differing)}")
        return 1
    sys.stderr.write(f"All {len(stored)} numbers are the same to {TOLERANCE:g}.\n")
    return 0


def numbers_in(part: Any, path: str = "") -> Iterator[tuple[str, float | None]]:
    """Yield every number, and every null where a number could be, with its place in a report."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield from numbers_in(value, f"{path}/{key}" if path else key)
    elif isinstance(part, list):
        for place, value in enumerate(part):
            yield from numbers_in(value, f"{path}/{place}")
    elif (part is None and path.rsplit("/", 1)[-1] in ("value", "low", "high")) or (
        isinstance(part, int | float) and not isinstance(part, bool)
    ):
        yield path, part


def is_same(here: float | str | None, there: float | str | None) -> bool:
    """Whether two numbers are the same to the tolerance, or both are undefined."""
    if isinstance(here, int | float) and isinstance(there, int | float):
        return abs(here - there) <= TOLERANCE * max(1.0, abs(there))
    return here is None and there is None


def _text(value: float | str | None) -> str:
    return "undefined" if value is None else str(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
