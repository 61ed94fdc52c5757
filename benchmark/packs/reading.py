"""Read a benchmark pack, a folder or a zip of one, into a plain value, or name all that is wrong with it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmark.packs.archive import Limits, unpacked
from benchmark.packs.head import FILE, Head, read_head
from benchmark.packs.listing import Listing, listing_of
from benchmark.packs.names import KEY_RULE, expected_instead, is_key
from benchmark.packs.problems import Problems
from benchmark.packs.specs import PackSpec, RecordedRound
from benchmark.packs.tasks import read_task

ALSO_ALLOWED = re.compile(
    r"(README|LICEN[CS]E|NOTICE|CHANGELOG|CITATION)(\..*)?|\.git(ignore|attributes)", re.IGNORECASE
)
TOP_LEVEL = (FILE, "tasks", "candidates", "README.md", "LICENSE")
ROUND = re.compile(r"round_([1-9][0-9]{0,3})")


@contextmanager
def opened_pack(path: Path, *, limits: Limits | None = None) -> Iterator[PackSpec]:
    """Yield the benchmark of a folder or zip; its files lie on disk until the block ends.

    Raises ImportRefused with every problem by file and line.
    """
    limits = limits or Limits()
    if path.is_dir():
        yield read_pack(path, limits=limits)
        return
    with unpacked(path, limits=limits) as folder:
        yield read_pack(_root_in(folder), limits=limits)


def read_pack(folder: Path, *, limits: Limits) -> PackSpec:
    """Return the benchmark of a folder. Raises ImportRefused with every problem by file and line."""
    problems = Problems()
    listing = listing_of(folder, limits=limits, problems=problems)
    _top_level_problems(listing, problems)
    head = None
    if FILE in listing.files:
        head = read_head((folder / FILE).read_bytes(), problems)
    else:
        problems.add(FILE, "the file is missing.")
    keys = head.tasks if head else tuple(listing.children("tasks"))
    protocol = head.protocol if head else None
    tasks = []
    for key in keys:
        if f"tasks/{key}" in listing.folders:
            tasks.append(read_task(listing, key, protocol=protocol, problems=problems))
        elif head:
            text = f"the task {key} has no folder tasks/{key}."
            head.document.problem(problems, ("tasks",), text)
    _unlisted_problems(listing, head, problems)
    recorded = tuple(_recorded(listing, keys, problems))
    problems.refuse_if_any()
    if head is None:
        raise AssertionError("a pack without a head has a problem")
    return PackSpec(facts=head.facts, tasks=tuple(task for task in tasks if task), recorded=recorded)


def _root_in(folder: Path) -> Path:
    """Return where the pack begins: many tools zip the folder itself, not what is in it."""
    inside = list(folder.iterdir())
    if len(inside) == 1 and inside[0].is_dir() and inside[0].name not in TOP_LEVEL:
        return inside[0]
    return folder


def _top_level_problems(listing: Listing, problems: Problems) -> None:
    for path in listing.files:
        first, _, rest = path.partition("/")
        if rest or first == FILE or ALSO_ALLOWED.fullmatch(first):
            continue
        problems.add(path, f"belongs nowhere; {expected_instead(first, TOP_LEVEL)}")
    for folder in listing.folders:
        if "/" not in folder and folder not in TOP_LEVEL:
            problems.add(folder, f"belongs nowhere; {expected_instead(folder, TOP_LEVEL)}")


def _unlisted_problems(listing: Listing, head: Head | None, problems: Problems) -> None:
    for path in listing.under("tasks"):
        if "/" not in path:
            problems.add(f"tasks/{path}", "belongs nowhere; tasks holds a folder for each task.")
    for key in listing.children("tasks"):
        if head and head.tasks and key not in head.tasks:
            text = f"the task is not among the tasks of {FILE}; {expected_instead(key, head.tasks)}"
            problems.add(f"tasks/{key}", text)


def _recorded(listing: Listing, keys: tuple[str, ...], problems: Problems) -> Iterator[RecordedRound]:
    top = "candidates/"
    rounds: defaultdict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    folders = [path.removeprefix(top) for path in listing.folders if path.startswith(top)]
    for path in folders:
        match path.split("/"):
            case [candidate] if not is_key(candidate):
                problems.add(top + path, f"the candidate's name {candidate!r} takes {KEY_RULE}.")
            case [_, task] if task not in keys:
                problems.add(top + path, f"there is no task {task}; {expected_instead(task, keys)}")
            case [candidate, task, name]:
                if match := ROUND.fullmatch(name):
                    rounds[candidate, task][int(match[1])] = path
                else:
                    problems.add(top + path, "belongs nowhere; rounds are round_1, round_2, ...")
            case _:
                pass
    for path in listing.files:
        if path.startswith(top) and path.removeprefix(top).count("/") < 3:
            text = f"belongs nowhere; a candidate's files lie in {top}<name>/<task>/round_<n>/."
            problems.add(path, text)
    for (candidate, task), by_number in rounds.items():
        missing = [number for number in range(1, max(by_number)) if number not in by_number]
        if missing:
            holes = " and ".join(f"round_{number}" for number in missing)
            text = f"{holes} is missing before round_{max(by_number)}; rounds go 1, 2, 3 without a hole."
            problems.add(f"{top}{candidate}/{task}", text)
        for number in sorted(by_number):
            yield RecordedRound(
                candidate=candidate,
                task=task,
                number=number,
                folder=listing.root / top / by_number[number],
            )
