"""Read one task of a pack: its texts, its rubric and its files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.packs.checks import rubric_findings
from benchmark.packs.deploy import deploy_problems
from benchmark.packs.listing import Listing
from benchmark.packs.located import read_json, read_toml
from benchmark.packs.names import expected_instead
from benchmark.packs.problems import Problems
from benchmark.packs.specs import FileRole, PackFile, PackTask
from benchmark.packs.texts import decoded, tidy
from benchmark.rules.protocol import Protocol
from benchmark.rules.records import CriterionSpec, OutcomeSpec, TaskSpec

TASK_FILES = ("task.toml", "request.md", "prd.md", "rubric.json")
NEEDED_FILES = ("task.toml", "request.md", "rubric.json")
TASK_FIELDS = ("title", "deploy", "facts")
LONGEST_TITLE = 300


def read_task(
    listing: Listing, key: str, *, protocol: Protocol | None, problems: Problems
) -> PackTask | None:
    """Return one task, or None after its problems were added."""
    folder = f"tasks/{key}"
    before = len(problems.found)
    _layout_problems(listing, folder, problems)
    texts = {name: _content(listing, f"{folder}/{name}") for name in TASK_FILES}
    files = [
        _file(listing, folder, role, path) for role in FileRole for path in listing.under(f"{folder}/{role}")
    ]
    head = _task_head(texts["task.toml"], f"{folder}/task.toml", problems)
    request = _prose(texts["request.md"], f"{folder}/request.md", problems)
    if texts["request.md"] is not None and request == "":
        problems.add(f"{folder}/request.md", "the request is empty; say what is to be built.")
    prd = _prose(texts["prd.md"], f"{folder}/prd.md", problems)
    rubric = _rubric(
        texts["rubric.json"],
        f"{folder}/rubric.json",
        protocol=protocol,
        uploads=[f"uploads/{file.path}" for file in files if file.role is FileRole.UPLOADS],
        problems=problems,
    )
    if len(problems.found) > before or rubric is None:
        return None
    spec = TaskSpec(
        key=key,
        title=head["title"],
        request=request,
        prd=prd,
        criteria=rubric,
        deploy=head.get("deploy", {}),
        facts=head.get("facts", {}),
    )
    return PackTask(spec=spec, files=tuple(files))


def criteria_from(rubric: Mapping[str, Any]) -> tuple[CriterionSpec, ...]:
    """Return the criteria of a rubric without findings."""
    return tuple(_criterion(criterion) for criterion in rubric["criteria"])


def _layout_problems(listing: Listing, folder: str, problems: Problems) -> None:
    present = listing.under(folder)
    for name in NEEDED_FILES:
        if name not in present:
            problems.add(f"{folder}/{name}", "the file is missing.")
    known = (*TASK_FILES, *FileRole)
    for path in present:
        first, _, rest = path.partition("/")
        if not rest and first in FileRole:
            problems.add(f"{folder}/{path}", f"is a file; {first} is a folder of files.")
        elif first not in (FileRole if rest else TASK_FILES):
            problems.add(f"{folder}/{path}", f"belongs nowhere; {expected_instead(first, known)}")
    for name in listing.children(folder):
        if name not in FileRole and not listing.under(f"{folder}/{name}"):
            problems.add(f"{folder}/{name}", f"belongs nowhere; {expected_instead(name, known)}")


def _content(listing: Listing, path: str) -> bytes | None:
    return (listing.root / path).read_bytes() if path in listing.files else None


def _file(listing: Listing, folder: str, role: FileRole, path: str) -> PackFile:
    source: Path = listing.root / folder / role / path
    with source.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return PackFile(role=role, path=path, digest=digest, size=source.stat().st_size, source=source)


def _task_head(content: bytes | None, file: str, problems: Problems) -> dict[str, Any]:
    document = None if content is None else read_toml(content, file, problems)
    if document is None:
        return {}
    value: dict[str, Any] = document.value
    for field in value:
        if field not in TASK_FIELDS:
            text = f"the field {field!r} is unknown; {expected_instead(field, TASK_FIELDS)}"
            document.problem(problems, (field,), text)
    title = value.get("title")
    if not isinstance(title, str) or not title.strip() or len(title) > LONGEST_TITLE:
        said = "is missing" if title is None else f"is {title!r:.60}"
        text = f"title {said}; it takes a text of 1 to {LONGEST_TITLE} characters."
        document.problem(problems, ("title",), text)
    for field in ("deploy", "facts"):
        if not isinstance(value.get(field, {}), dict):
            document.problem(problems, (field,), f"{field} is not a table; write [{field}].")
            return {}
    for field, text in deploy_problems(value.get("deploy", {})):
        document.problem(problems, ("deploy", field), text)
    return value


def _prose(content: bytes | None, file: str, problems: Problems) -> str:
    if content is None:
        return ""
    text = decoded(content, file, problems)
    return "" if text is None else tidy(text)


def _rubric(
    content: bytes | None,
    file: str,
    *,
    protocol: Protocol | None,
    uploads: Sequence[str],
    problems: Problems,
) -> tuple[CriterionSpec, ...] | None:
    document = None if content is None else read_json(content, file, problems)
    if document is None or protocol is None:
        return None
    findings = rubric_findings(document.value, protocol=protocol, uploads=uploads)
    for finding in findings:
        document.problem(problems, finding.place, finding.text)
    return None if findings else criteria_from(document.value)


def _criterion(criterion: Mapping[str, Any]) -> CriterionSpec:
    return CriterionSpec(
        key=criterion["key"],
        title=criterion.get("title", ""),
        kind=criterion["kind"],
        weight=criterion.get("weight", 1),
        needs=tuple(criterion.get("needs", ())),
        before=tuple(criterion.get("before", ())),
        tags=tuple(criterion.get("tags", ())),
        outcomes=tuple(
            OutcomeSpec(
                text=outcome["text"],
                script=None if outcome.get("script") is None else tuple(outcome["script"]),
            )
            for outcome in criterion["outcomes"]
        ),
    )
