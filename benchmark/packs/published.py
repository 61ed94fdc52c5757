"""Published sets: find the reader of a format, complete what a set lacks, check the result."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Protocol, cast

from benchmark import formats
from benchmark.packs.checks import rubric_as_json, rubric_findings
from benchmark.packs.names import KEY_RULE, is_key
from benchmark.packs.problems import ImportRefused, Problem, Problems
from benchmark.packs.scripts import with_scripts
from benchmark.packs.specs import PackSpec, PackTask, PublishedOptions, PublishedSet
from benchmark.protocols import protocol as protocol_named


class Format(Protocol):
    """One module of `benchmark.formats`: reads one kind of published set."""

    NAME: str

    def sniff(self, path: Path) -> bool:
        """Whether the path looks like this format; never raises for what can be opened."""
        ...

    def read(self, path: Path, options: PublishedOptions) -> PublishedSet:
        """Return the set. Raises ImportRefused with every problem by file and line."""
        ...


@cache
def all_formats() -> Mapping[str, Format]:
    """Return every format by name: a module in the folder `formats` is one."""
    modules = (
        importlib.import_module(f"{formats.__name__}.{found.name}")
        for found in pkgutil.iter_modules(formats.__path__)
    )
    return {module.NAME: cast("Format", module) for module in modules}


def format_named(name: str) -> Format:
    """Return a format. Raises LookupError with the known names."""
    try:
        return all_formats()[name]
    except KeyError:
        known = ", ".join(["pack", *sorted(all_formats())])
        raise LookupError(f"Unknown format {name!r}; known are {known}.") from None


def format_of(path: Path) -> Format | None:
    """Return the format that a path looks like, or None."""
    return next((known for known in all_formats().values() if known.sniff(path)), None)


def read_published(
    path: Path, known: Format, options: PublishedOptions, *, scripts: Path | None, is_strict: bool
) -> PackSpec:
    """Return a published set as a benchmark. Raises ImportRefused with every problem."""
    published = known.read(path, options)
    if options.request is not None and not published.used_request:
        text = f"the set {path.name} says its own requests; leave --request out."
        raise ImportRefused([Problem(file="", text=text)])
    if is_strict and published.repairs:
        raise ImportRefused(
            Problem(file=repair.file, line=repair.line, text=f"{repair.text} (--strict)")
            for repair in published.repairs
        )
    tasks = published.tasks
    if scripts is not None:
        tasks = with_scripts(tasks, scripts)
    problems = Problems()
    protocol = protocol_named(published.facts.protocol)
    for task in tasks:
        if not is_key(task.key):
            problems.add(path.name, f"the task {task.key!r} does not have a name of {KEY_RULE}.")
        for finding in rubric_findings(rubric_as_json(task.criteria), protocol=protocol, uploads=()):
            problems.add(path.name, f"task {task.key}: {finding.text}")
    problems.refuse_if_any()
    return PackSpec(
        facts=published.facts,
        tasks=tuple(PackTask(spec=task) for task in tasks),
        repairs=published.repairs,
    )
