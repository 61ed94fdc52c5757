"""Put a task's files into a folder: its data, its attachments, or what the judge uploads."""

from __future__ import annotations

from pathlib import Path

from benchmark import blobs
from benchmark.models import Task
from benchmark.packs.names import path_problem
from benchmark.packs.specs import FileRole


def put_files(task: Task, role: FileRole, folder: Path) -> list[Path]:
    """Write the files of one role into a folder, which is made where there are any, and return their paths.

    Raises blobs.BlobMissing, or ValueError for a stored path that leads out of the folder.
    """
    written: list[Path] = []
    for file in task.files.filter(role=role):
        if text := path_problem(file.path):
            raise ValueError(f"The task {task.key} holds the file {file.path!r}: {text}")
        target = folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        blobs.copy_to(file.digest, target)
        written.append(target)
    return written
