"""Write a stored benchmark out as a pack again, as a folder or as a zip that is always the same."""

from __future__ import annotations

import stat
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmark import blobs, snapshots
from benchmark.models import Benchmark, RecordedWorkspace, Task, TaskFile
from benchmark.packs.specs import BenchmarkFacts
from benchmark.packs.writing import head_files, task_files

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can say: when it was packed is not content


class ExportRefused(ValueError):
    """The benchmark was not written; the message says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackMember:
    """One file of a pack: its bytes, or the digest of its blob. A folder has neither."""

    path: str
    content: bytes | None = None
    digest: str | None = None
    is_executable: bool = False

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes. Raises blobs.BlobMissing."""
        if self.content is not None:
            yield self.content
        elif self.digest is not None:
            yield from blobs.chunks_of(self.digest)


def export_pack(benchmark: Benchmark, target: Path) -> int:
    """Write a benchmark to a folder, or to a zip where the name ends so; return the number of files.

    The target appears whole or not at all. Raises ExportRefused where it is there already.
    """
    if target.exists():
        raise ExportRefused(f"{target} exists already; give a path that does not.")
    if not target.parent.is_dir():
        raise ExportRefused(f"The folder {target.parent} does not exist; make it first.")
    try:
        members = sorted(members_of(benchmark), key=lambda member: member.path)
        with tempfile.TemporaryDirectory(prefix=".pack-", dir=target.parent) as aside:
            written = Path(aside) / "pack"
            if target.suffix.lower() == ".zip":
                _write_zip(members, written)
            else:
                _write_folder(members, written)
            written.replace(target)
    except (blobs.BlobMissing, ValueError) as error:
        raise ExportRefused(f"{benchmark} was not exported: {error}") from None
    return sum(member.content is not None or member.digest is not None for member in members)


def members_of(benchmark: Benchmark) -> Iterator[PackMember]:
    """Yield every file of a benchmark's pack. Raises blobs.BlobMissing, or ValueError."""
    tasks = list(benchmark.tasks.all())
    facts = facts_of(benchmark)
    for path, content in head_files(facts, benchmark.version, [task.key for task in tasks]):
        yield PackMember(path=path, content=content)
    for task in tasks:
        yield from _members_of_task(task)


def facts_of(benchmark: Benchmark) -> BenchmarkFacts:
    """Return what a stored benchmark says of itself as a whole."""
    return BenchmarkFacts(
        key=benchmark.key,
        version=benchmark.version,
        title=benchmark.title,
        description=benchmark.description,
        protocol=benchmark.protocol,
        licence=benchmark.licence,
        source=benchmark.source,
        settings=benchmark.settings,
    )


def _members_of_task(task: Task) -> Iterator[PackMember]:
    for path, content in task_files(task.spec()):
        yield PackMember(path=path, content=content)
    for file in TaskFile.objects.filter(task=task):
        yield PackMember(path=f"tasks/{task.key}/{file.role}/{file.path}", digest=file.digest)
    for recorded in RecordedWorkspace.objects.filter(task=task):
        folder = f"candidates/{recorded.candidate}/{task.key}/round_{recorded.round_number}"
        files = snapshots.load(recorded.snapshot).files
        for kept in files:
            yield PackMember(path=f"{folder}/{kept.path}", digest=kept.digest, is_executable=kept.executable)
        if not files:
            yield PackMember(path=folder)


def _write_folder(members: list[PackMember], root: Path) -> None:
    root.mkdir()
    for member in members:
        target = root.joinpath(*member.path.split("/"))
        if member.content is None and member.digest is None:
            target.mkdir(parents=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as out:
            out.writelines(member.chunks())
        target.chmod(0o755 if member.is_executable else 0o644)


def _write_zip(members: list[PackMember], target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for member in members:
            is_folder = member.content is None and member.digest is None
            info = zipfile.ZipInfo(f"{member.path}/" if is_folder else member.path, EPOCH)
            mode = stat.S_IFDIR | 0o755 if is_folder else stat.S_IFREG | 0o644
            info.external_attr = (mode | (0o111 if member.is_executable else 0)) << 16
            info.create_system = 3  # Unix, on whatever machine: the same bytes everywhere
            info.compress_type = zipfile.ZIP_STORED if is_folder else zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=False) as out:
                for chunk in member.chunks():
                    out.write(chunk)
